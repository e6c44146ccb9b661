//! One dataset: its extents, type, fill value and attributes, and where its elements lie.

use super::attribute::{attributes, until_nul, RawAttribute};
use super::chunk_table::{build, Chunking};
use super::dataspace::dataspace;
use super::datatype::{Datatype, Kind};
use super::header::{parse, ObjectHeader};
use super::heap::GlobalHeap;
use super::storage::FileBytes;
use super::Hdf5File;
use crate::chunks::{Filter, Layout, ScaleOffset};
use crate::formats::{Attribute, ElementType};
use crate::{Error, Result};
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use hdf5_reader::messages::layout::DataLayout;
use hdf5_reader::messages::{self, HdfMessage};
use hdf5_reader::Storage;

/// HDF5 counts filters with the bits of a 32-bit mask.
const MAX_FILTERS: usize = 32;

/// A dataset of an [`Hdf5File`]. Its header was read when it was opened; layouts are read when asked for.
pub(crate) struct Hdf5Dataset {
    file: Hdf5File,
    name: String,
    address: u64,
    header: ObjectHeader,
    shape: Vec<u64>,
    max_shape: Vec<Option<u64>>,
    datatype: Datatype,
    fill: Option<Vec<u8>>,
}

impl Hdf5Dataset {
    /// Reads the dataset at `address`; `name` is what error texts call it.
    pub(super) fn open(file: &Hdf5File, name: &str, address: u64, header: ObjectHeader) -> Result<Self> {
        let bytes = file.bytes();
        let damaged = |detail: &str| bytes.damaged(format!("variable {name}: {detail}"));
        let space = header.find(bytes, messages::MSG_DATASPACE)?.ok_or_else(|| damaged("it has no dataspace"))?;
        let datatype = header.find(bytes, messages::MSG_DATATYPE)?.ok_or_else(|| damaged("it has no datatype"))?;
        let datatype = Datatype::parse(&datatype).ok_or_else(|| damaged("its datatype is damaged"))?;
        let Some((shape, max_shape)) = dataspace(bytes, &space)? else {
            return Err(Error::Unsupported(format!(
                "{}: variable {name}: it has a null dataspace, so no elements and no shape",
                file.source().path().display()
            )));
        };
        if datatype.size == 0 || max_shape.iter().zip(&shape).any(|(max, now)| max.is_some_and(|max| max < *now)) {
            return Err(damaged("its extents exceed their limits, or its elements have no bytes"));
        }
        if datatype.kind == Kind::VarText && datatype.size != GlobalHeap::new(bytes).reference_size() {
            return Err(damaged("its strings are not references to the global heap"));
        }
        let fill = fill_value(bytes, &header, datatype.size)?;
        Ok(Hdf5Dataset {
            file: file.clone(),
            name: name.to_string(),
            address,
            header,
            shape,
            max_shape,
            datatype,
            fill,
        })
    }

    /// Its extents, slowest first.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The most its extents may become; `None` where there is no bound.
    pub(crate) fn max_shape(&self) -> &[Option<u64>] {
        &self.max_shape
    }

    /// The type of its elements.
    pub(crate) fn element(&self) -> ElementType {
        self.datatype.element()
    }

    /// Bytes per element in the file.
    pub(crate) fn element_width(&self) -> usize {
        self.datatype.size
    }

    /// One element as cells hold it that were never written, in file byte order.
    pub(crate) fn fill(&self) -> Option<&[u8]> {
        self.fill.as_deref()
    }

    /// The address of its object header, from which [`Hdf5File::dataset_at`] opens it again.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Its attributes, decoded; in creation order where the file tracks it.
    ///
    /// # Errors
    /// `Format` when what holds them is damaged.
    pub(crate) fn attributes(&self) -> Result<Vec<Attribute>> {
        let mut heap = self.file.heap();
        Ok(self.raw_attributes()?.iter().map(|a| a.decode(&mut heap)).collect())
    }

    /// Its attributes as stored.
    ///
    /// # Errors
    /// As [`Hdf5Dataset::attributes`].
    pub(crate) fn raw_attributes(&self) -> Result<Vec<RawAttribute>> {
        attributes(self.file.bytes(), &self.header)
    }

    /// Where its elements lie. Offsets count from the start of the source.
    ///
    /// # Errors
    /// `Format` when its chunk index or a place is damaged, `Unsupported` for external and virtual datasets.
    pub(crate) fn layout(&self) -> Result<Layout> {
        self.layout_in(&self.shape)
    }

    /// [`Hdf5Dataset::layout`] in a shape that may exceed its own along dimensions without a bound: there, cells that it
    /// does not have yet read as never written.
    ///
    /// # Errors
    /// As `layout`.
    pub(crate) fn layout_in(&self, shape: &[u64]) -> Result<Layout> {
        let file = self.file.bytes();
        if self.header.has(messages::MSG_EXTERNAL_FILES) {
            return Err(self.unsupported("its elements are kept in other files"));
        }
        let body = self.header.find(file, messages::MSG_DATA_LAYOUT)?;
        let body = body.ok_or_else(|| self.damaged("it has no layout"))?;
        let version = body.first().copied().unwrap_or(0);
        if version >= 3 && body.get(1) == Some(&3) {
            return Err(self.unsupported("it is a virtual dataset, made of others"));
        }
        let HdfMessage::DataLayout(message) = parse(file, messages::MSG_DATA_LAYOUT, &body)? else {
            return Err(self.damaged("its layout is damaged"));
        };
        let total = self.total_bytes(&self.shape)?;
        match message.layout {
            DataLayout::Compact { data } if (data.len() as u64) < total => {
                Err(self.damaged("its compact elements are cut short"))
            }
            DataLayout::Compact { data } => Ok(Layout::Compact(data)),
            DataLayout::Contiguous { address, .. } if total == 0 || file.is_undefined(address) => {
                Ok(Layout::Unallocated)
            }
            DataLayout::Contiguous { address, size } => {
                if version >= 3 && size < total {
                    return Err(self.damaged(&format!("{size} bytes are kept for {total} bytes of elements")));
                }
                let offset = file.absolute(address, total, &format!("variable {}", self.name))?;
                Ok(Layout::Contiguous { offset })
            }
            DataLayout::Chunked { address, dims, element_size, chunk_indexing } => {
                let rank = self.shape.len();
                // New layouts keep the element size behind the chunk's extents.
                let element_size = dims.get(rank).copied().unwrap_or(element_size);
                if element_size as usize != self.datatype.size {
                    return Err(self.damaged(&format!("its chunks hold elements of {element_size} bytes")));
                }
                let chunk_shape = dims.iter().take(rank).map(|d| u64::from(*d)).collect();
                let plain_edges = version >= 4 && body.get(2).is_some_and(|flags| flags & 1 != 0);
                let chunking = Chunking {
                    file,
                    name: &self.name,
                    shape,
                    stored_shape: &self.shape,
                    max_shape: &self.max_shape,
                    width: self.datatype.size,
                    chunk_shape,
                    filters: self.filters()?,
                    plain_edges,
                };
                build(&chunking, chunk_indexing.as_ref(), address).map(Layout::Chunked)
            }
        }
    }

    /// The strings of a dataset of type [`ElementType::String`], in row-major order, each up to its first NUL.
    ///
    /// # Errors
    /// `Format` when the heap or the layout is damaged, `Unsupported` for datasets of another type.
    pub(crate) fn strings(&self) -> Result<Vec<Vec<u8>>> {
        self.strings_in(&self.shape)
    }

    /// [`Hdf5Dataset::strings`] in a shape as [`Hdf5Dataset::layout_in`] takes it.
    ///
    /// # Errors
    /// As `strings`.
    pub(crate) fn strings_in(&self, shape: &[u64]) -> Result<Vec<Vec<u8>>> {
        if self.element() != ElementType::String {
            return Err(self.unsupported("its elements are not strings"));
        }
        let file = self.file.bytes();
        let width = self.datatype.size;
        let raw = super::raw::read(self, shape)?;
        let mut found = Vec::new();
        found.try_reserve_exact(raw.len() / width).map_err(|_| self.damaged("no memory for its strings"))?;
        if self.datatype.kind == Kind::Text {
            found.extend(raw.chunks_exact(width).map(|text| until_nul(text).to_vec()));
            return Ok(found);
        }
        let mut heap = GlobalHeap::new(file);
        for reference in raw.chunks_exact(width) {
            found.push(until_nul(heap.resolve(reference, 1)?).to_vec());
        }
        Ok(found)
    }

    /// Bytes of all elements of an array of this shape.
    pub(super) fn total_bytes(&self, shape: &[u64]) -> Result<u64> {
        shape
            .iter()
            .try_fold(self.datatype.size as u64, |n, extent| n.checked_mul(*extent))
            .ok_or_else(|| self.damaged(&format!("its shape {shape:?} overflows")))
    }

    pub(super) fn file(&self) -> &Hdf5File {
        &self.file
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn filters(&self) -> Result<Vec<Filter>> {
        let file = self.file.bytes();
        let Some(HdfMessage::FilterPipeline(pipeline)) = self.header.parsed(file, messages::MSG_FILTER_PIPELINE)?
        else {
            return Ok(Vec::new());
        };
        if pipeline.filters.len() > MAX_FILTERS {
            return Err(self.damaged("it has more than 32 filters"));
        }
        let filter = |f: FilterDescription| self.filter(f);
        pipeline.filters.into_iter().map(filter).collect()
    }

    fn filter(&self, description: FilterDescription) -> Result<Filter> {
        let FilterDescription { id, name, client_data: client } = description;
        Ok(match id {
            1 => Filter::Deflate,
            2 => match client.first().copied().unwrap_or(self.datatype.size as u32) {
                0 => return Err(self.damaged("its shuffle filter has elements of no bytes")),
                width => Filter::Shuffle(width as usize),
            },
            3 => Filter::Fletcher32,
            4 => match client.get(..4).and_then(|client| client.try_into().ok()) {
                Some(client) => Filter::Szip(client),
                None => return Err(self.damaged("its szip filter lacks parameters")),
            },
            // Of the numbers that are read, all bits count: there is nothing to pack.
            5 if client.get(1).is_some_and(|idle| *idle != 0) => Filter::Verbatim,
            6 => match ScaleOffset::parse(&client) {
                Some(parameters) => Filter::ScaleOffset(parameters),
                None => return Err(self.damaged("the parameters of its scale-offset filter contradict each other")),
            },
            32001 => Filter::Blosc,
            32004 => Filter::Lz4,
            32015 => Filter::Zstd,
            id => {
                let given = name.map(|n| n.trim_end_matches('\0').to_string()).filter(|n| !n.is_empty());
                Filter::Unknown { id, name: given.unwrap_or_else(|| registered_name(id).to_string()) }
            }
        })
    }

    pub(super) fn damaged(&self, detail: &str) -> Error {
        self.file.bytes().damaged(format!("variable {}: {detail}", self.name))
    }

    pub(super) fn unsupported(&self, detail: &str) -> Error {
        Error::Unsupported(format!("{}: variable {}: {detail}", self.file.source().path().display(), self.name))
    }

    /// The most elements that a dataset without stored bytes may be asked for.
    pub(super) fn plausible_bytes(&self) -> u64 {
        Storage::len(self.file.bytes()).saturating_mul(1032).max(64 << 20)
    }
}

fn fill_value(file: &FileBytes, header: &ObjectHeader, width: usize) -> Result<Option<Vec<u8>>> {
    for kind in [messages::MSG_FILL_VALUE, messages::MSG_FILL_VALUE_OLD] {
        if let Some(HdfMessage::FillValue(fill)) = header.parsed(file, kind)? {
            return match fill.value {
                Some(value) if value.len() != width => {
                    Err(file.damaged(format!("a fill value has {} bytes, its elements {width}", value.len())))
                }
                value => Ok(value),
            };
        }
    }
    Ok(None)
}

/// The names of registered filters, for pipelines that do not give one.
fn registered_name(id: u16) -> &'static str {
    match id {
        5 => "nbit",
        307 => "bzip2",
        32000 => "lzf",
        32008 => "bitshuffle",
        32013 => "zfp",
        32017 => "sz",
        32024 => "sz3",
        32026 => "blosc2",
        32028 => "sperr",
        _ => "unnamed filter",
    }
}
