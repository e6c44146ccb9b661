//! Reading the array file's own index: version, compression, datasets, hashes. No C library is involved.

use super::index::{Index, Standalone};
use super::packed::{DatasetState, PackedDataset};
use super::pool::{fill, PoolKey};
use super::{GROUP, PARENT_GROUP};
use crate::array::{ArrayHash, DType};
use crate::chunks::ByteSource;
use crate::formats::hdf5::{Hdf5Dataset, Hdf5File, Object};
use crate::formats::{Attribute, AttributeValue, ByteOrder, ElementType, NumericType};
use crate::{Error, ErrorKind, Result};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The versions that are read. The first is written, and the second as soon as the catalog has a type of series that
/// readers of the first do not know.
pub(super) const VERSIONS: [&str; 2] = ["0.11.0", "0.11.1"];
/// The root attribute that holds the version.
pub(super) const VERSION_ATTRIBUTE: &str = "data_format_version";

/// The root attributes that are text of a fixed length. One of variable length counts as absent, as it does for others.
pub(super) fn text_attributes(file: &Hdf5File) -> Result<BTreeMap<String, String>> {
    let text = |Attribute { name, value, .. }: Attribute| match value {
        AttributeValue::Text(bytes) => {
            let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
            Some((name, String::from_utf8(bytes[..end].to_vec()).ok()?))
        }
        _ => None,
    };
    Ok(file.root_attributes()?.into_iter().filter_map(text).collect())
}

/// Refuses other versions of the format.
pub(super) fn check_version(attributes: &BTreeMap<String, String>) -> Result<()> {
    match attributes.get(VERSION_ATTRIBUTE) {
        Some(found) if VERSIONS.contains(&found.as_str()) => Ok(()),
        found => Err(Error::IncompatibleFormat {
            found: found.map_or("unspecified", String::as_str).into(),
            expected: VERSIONS.join(" and "),
        }),
    }
}

/// Lists every array of the file.
pub(super) fn index(file: &Hdf5File) -> Result<Index> {
    for group in [PARENT_GROUP, GROUP] {
        match file.object(group) {
            Ok(Object::Group(_)) => {}
            Ok(_) => return Err(broken(file.source(), format!("{group} is not a group"))),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(broken(file.source(), format!("the group {group} is missing")))
            }
            Err(e) => return Err(e),
        }
    }
    let mut index = Index::default();
    for name in file.member_names(GROUP)? {
        if name.ends_with("_h") {
            continue;
        }
        let Object::Dataset(dataset) = file.object(&format!("{GROUP}/{name}"))? else { continue };
        if is_dimension(&dataset)? {
            continue;
        }
        if let Some(hex) = name.strip_prefix("arr_") {
            let hash = ArrayHash::from_hex(hex)
                .ok_or_else(|| broken(file.source(), format!("the variable {name} is not named by a hash")))?;
            index.add_standalone(hash, Arc::new(standalone(file, &name, &dataset)?));
        } else {
            let pool = PoolKey::from_name(&name)
                .ok_or_else(|| broken(file.source(), format!("{GROUP} holds {name}, which is no array of a store")))?;
            index.add(Arc::new(packed(file, &name, pool, &dataset, &companion(file, &name)?)?));
        }
    }
    Ok(index)
}

/// The dataset `name`, whose header and whose hashes' header lie at these addresses, as it is in the file now. Looking its
/// name up would cost more with every variable of the file.
pub(super) fn load(file: &Hdf5File, name: &str, pool: &PoolKey, addresses: (u64, u64)) -> Result<PackedDataset> {
    packed(file, name, pool.clone(), &file.dataset_at(addresses.0)?, &file.dataset_at(addresses.1)?)
}

fn packed(
    file: &Hdf5File,
    name: &str,
    pool: PoolKey,
    dataset: &Hdf5Dataset,
    companion: &Hdf5Dataset,
) -> Result<PackedDataset> {
    let cols = dataset.shape().get(1).and_then(|&cols| usize::try_from(cols).ok()).unwrap_or(0);
    if dataset.shape() != pool.dataset_shape(cols) || cols.checked_mul(pool.block()).is_none() {
        let found = dataset.shape();
        return Err(broken(file.source(), format!("the variable {name} has the shape {found:?}, against its name")));
    }
    if element_type(dataset) != Some(pool.dtype) {
        let found = dataset.element();
        return Err(broken(file.source(), format!("the variable {name} has elements {found:?}, against its name")));
    }
    let hashes = hashes(file, name, cols, companion)?;
    let fill = dataset.fill().map_or_else(|| fill(pool.dtype), <[u8]>::to_vec);
    let state = DatasetState { generation: 0, hashes, layout: Ok(Arc::new(dataset.layout()?)) };
    let (name, address) = (name.to_string(), dataset.address());
    Ok(PackedDataset { name, pool, cols, fill, address, state: RwLock::new(state) })
}

fn companion(file: &Hdf5File, name: &str) -> Result<Hdf5Dataset> {
    file.dataset(&format!("{GROUP}/{name}_h")).map_err(|e| match e.kind() {
        ErrorKind::NotFound => broken(file.source(), format!("the variable {name} has no hashes: {name}_h is missing")),
        _ => e,
    })
}

fn hashes(file: &Hdf5File, name: &str, cols: usize, companion: &Hdf5Dataset) -> Result<Vec<Option<ArrayHash>>> {
    if companion.shape() != [cols as u64] {
        let found = companion.shape();
        return Err(broken(file.source(), format!("{name}_h has the shape {found:?}, its dataset {cols} columns")));
    }
    let slot = |(column, text): (usize, Vec<u8>)| match std::str::from_utf8(&text) {
        Ok("") => Ok(None),
        text => text.ok().and_then(ArrayHash::from_hex).map(Some).ok_or_else(|| {
            broken(file.source(), format!("slot {column} of {name}_h holds neither a hash nor nothing"))
        }),
    };
    companion.strings()?.into_iter().enumerate().map(slot).collect()
}

/// The array `name`, a variable of its own whose header lies at `address`, as it is in the file now. Looking its name up
/// would cost more with every variable of the file.
pub(super) fn load_standalone(file: &Hdf5File, name: &str, address: u64) -> Result<Standalone> {
    standalone(file, name, &file.dataset_at(address)?)
}

fn standalone(file: &Hdf5File, name: &str, dataset: &Hdf5Dataset) -> Result<Standalone> {
    let dtype = element_type(dataset).ok_or_else(|| {
        broken(file.source(), format!("the variable {name} has elements of an unknown type, {:?}", dataset.element()))
    })?;
    let (shape, fill) = (dataset.shape().to_vec(), dataset.fill().map(<[u8]>::to_vec));
    Ok(Standalone { name: name.into(), dtype, shape, layout: dataset.layout()?, fill })
}

/// The element type of stored arrays that these elements are.
fn element_type(dataset: &Hdf5Dataset) -> Option<DType> {
    match dataset.element() {
        ElementType::Number(NumericType::U8, _) => Some(DType::Bool),
        ElementType::Number(number, ByteOrder::Little) => match number {
            NumericType::F64 => Some(DType::F64),
            NumericType::F32 => Some(DType::F32),
            NumericType::I64 => Some(DType::I64),
            NumericType::I32 => Some(DType::I32),
            NumericType::U64 => Some(DType::U64),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the dataset only stands for a named dimension.
fn is_dimension(dataset: &Hdf5Dataset) -> Result<bool> {
    let attributes = dataset.attributes()?;
    let starts = |name: &str, with: &[u8]| {
        let value = attributes.iter().find(|a| a.name == name).map(|a| &a.value);
        matches!(value, Some(AttributeValue::Text(text)) if text.starts_with(with))
    };
    let hidden = b"This is a netCDF dimension but not a netCDF variable";
    Ok(starts("CLASS", b"DIMENSION_SCALE") && starts("NAME", hidden))
}

fn broken(source: &Arc<dyn ByteSource>, what: String) -> Error {
    Error::Integrity(format!("{}: {what}", source.path().display()))
}
