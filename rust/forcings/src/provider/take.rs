//! What one sample is read from: the file and the record of a time, or the two records of a bracket.

use super::files::Source;
use super::pool::OpenFile;
use super::remote::name_source;
use super::time_unit::TimeUnit;
use crate::dataset::resolve::Axes;
use crate::dataset::Values;
use crate::dataset::{decode_parts, Bracket, Dataset, DecodeOptions, Field, Part, Records, Request, Second, Selection};
use crate::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// The open files of one sample, with the records that it has of them.
pub(super) struct Take<'a> {
    source: &'a Source,
    /// One, or the second too where the successor lies in another file.
    files: Vec<TakenFile>,
    bracket: Option<Successor>,
}

struct TakenFile {
    open: Arc<OpenFile>,
    file: usize,
    tick: Option<usize>,
    records: Option<Records>,
}

/// The second record of a bracket.
struct Successor {
    place: SuccessorPlace,
    /// The coordinate of the two records.
    times: Field,
}

#[derive(PartialEq)]
enum SuccessorPlace {
    InTheSameFile,
    InAnotherFile,
    Nowhere,
}

/// The error about a file of which brackets are asked.
pub(super) fn no_time_dim(path: &Path) -> Error {
    Error::invalid(format!(
        "{}: a sample of two records needs a time dimension, and no dimension has CF time units; name it with time_dim, or \
         take records_per_sample = 1",
        path.display()
    ))
}

/// Where the record of one tick is.
struct Located {
    taken: TakenFile,
    /// The dimension of the records; `None` where the file is the sample.
    dim: Option<String>,
    time: f64,
    unit: TimeUnit,
}

impl<'a> Take<'a> {
    /// Opens what the sample of a tick needs; `None` stands for constant data.
    ///
    /// # Errors
    /// Those of opening the files and of finding the records in them; `InvalidParameter` for a bracket of a file without
    /// a time dimension, `Format` for one whose times do not have one unit.
    pub(super) fn open(source: &'a Source, tick: Option<usize>) -> Result<Self> {
        let Some(tick) = tick.filter(|_| source.bracket) else {
            let located = Located::find(source, tick)?;
            return Ok(Take { source, files: vec![located.taken.squeezed()], bracket: None });
        };
        let mut first = Located::find(source, Some(tick))?;
        let Some(dim) = first.dim.take() else {
            let file = first.taken.file;
            return Err(source.named(file, Some(tick), no_time_dim(source.pool.path(file))));
        };
        if tick + 1 == source.cadence.ticks.len() {
            let times = first.unit.coordinate(&dim, [first.time; 2]);
            let bracket = Successor { place: SuccessorPlace::Nowhere, times };
            return Ok(Take { source, files: vec![first.taken], bracket: Some(bracket) });
        }
        let second = Located::find(source, Some(tick + 1))?;
        if first.unit != second.unit {
            return Err(source.named(
                second.taken.file,
                second.taken.tick,
                first.unit.differs(
                    &second.unit,
                    source.pool.path(first.taken.file),
                    source.pool.path(second.taken.file),
                ),
            ));
        }
        let times = first.unit.coordinate(&dim, [first.time, second.time]);
        let mut files = vec![first.taken];
        let place = if files[0].file == second.taken.file {
            if let (Some(records), Some(more)) = (&mut files[0].records, second.taken.records) {
                records.indices.extend(more.indices);
            }
            SuccessorPlace::InTheSameFile
        } else {
            files.push(second.taken);
            SuccessorPlace::InAnotherFile
        };
        Ok(Take { source, files, bracket: Some(Successor { place, times }) })
    }

    /// The file whose dimensions and attributes the sample has.
    pub(super) fn file(&self) -> &OpenFile {
        &self.files[0].open
    }

    /// Checks a selection against every file: what is read along the dimensions of each.
    ///
    /// # Errors
    /// Those that come before any value is read.
    pub(super) fn check(&self, select: &Selection) -> Result<Vec<Axes>> {
        let check = |taken: &TakenFile| taken.open.schema.check(&self.request(taken, select));
        self.files.iter().map(|taken| check(taken).map_err(|e| self.named(taken, e))).collect()
    }

    /// The lengths of the dimensions of each file.
    pub(super) fn dimension_lens(&self) -> Vec<Vec<u64>> {
        self.files.iter().map(|taken| taken.open.schema.dimension_lens()).collect()
    }

    /// Reads along the axes, one list for each file.
    ///
    /// # Errors
    /// Those of reading.
    pub(super) fn decode(&self, axes: &[Axes], options: DecodeOptions) -> Result<Dataset> {
        let part = |k: usize| {
            let open = &self.files[k].open;
            Part { schema: &open.schema, container: &*open.container, axes: &axes[k] }
        };
        let bracket = self.bracket.as_ref().map(|b| Bracket {
            second: match b.place {
                SuccessorPlace::InTheSameFile => Second::Along,
                SuccessorPlace::InAnotherFile => Second::Part(part(1)),
                SuccessorPlace::Nowhere => Second::First,
            },
            times: &b.times,
        });
        let request = self.request(&self.files[0], &Selection::All);
        decode_parts(&part(0), &request, bracket, options)
            .map_err(|fault| self.named(&self.files[fault.part], fault.error))
    }

    /// Fetches what reading along the axes needs of stores. Returns the number of objects.
    ///
    /// # Errors
    /// Those of fetching.
    pub(super) fn fetch(&self, axes: &[Axes]) -> Result<usize> {
        self.files.iter().zip(axes).try_fold(0, |n, (taken, axes)| {
            let part = Part { schema: &taken.open.schema, container: &*taken.open.container, axes };
            let found = part.fetch(&self.request(taken, &Selection::All)).map_err(|e| self.named(taken, e))?;
            Ok(n + found)
        })
    }

    /// Checks that the files are still those that were opened.
    ///
    /// # Errors
    /// `Format` and `Io`.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        self.files.iter().try_for_each(|taken| self.source.pool.check_unchanged(taken.file))
    }

    fn request(&self, taken: &TakenFile, select: &Selection) -> Request {
        let variables = self.source.variables.clone();
        Request { variables, select: select.clone(), records: taken.records.clone() }
    }

    fn named(&self, taken: &TakenFile, error: Error) -> Error {
        self.source.named(taken.file, taken.tick, error)
    }
}

impl TakenFile {
    /// Without the dimension of its one record.
    fn squeezed(mut self) -> Self {
        if let Some(records) = &mut self.records {
            records.squeeze = true;
        }
        self
    }
}

impl Located {
    fn find(source: &Source, tick: Option<usize>) -> Result<Self> {
        let file = source.place(tick).file;
        Located::in_file(source, tick, file).map_err(|e| source.named(file, tick, e))
    }

    fn in_file(source: &Source, tick: Option<usize>, file: usize) -> Result<Self> {
        let (pool, cadence) = (&source.pool, &source.cadence);
        let open = pool.open(file)?;
        let (dim, record, time, unit) = match (&cadence.remote, tick) {
            (Some(remote), Some(tick)) => {
                let found = remote.of_tick(&open, pool.path(file), file, cadence.ticks[tick])?;
                (found.dim.map(str::to_string), found.record, found.time, found.unit)
            }
            (None, Some(tick)) => {
                (cadence.time_dim.clone(), source.place(Some(tick)).record, cadence.time(tick), cadence.unit.clone())
            }
            (_, None) => (None, None, 0.0, TimeUnit::Unknown),
        };
        // Without the dimension in any field, every record is the whole.
        let carried = dim.as_deref().filter(|dim| open.schema.is_carried(dim, &source.variables));
        let records =
            carried.zip(record).map(|(dim, index)| Records { dim: dim.into(), indices: vec![index], squeeze: false });
        Ok(Located { taken: TakenFile { open, file, tick, records }, dim, time, unit })
    }
}

impl Source {
    /// The error about a file of the sample of a tick: one about a URL names it and the time.
    fn named(&self, file: usize, tick: Option<usize>, error: Error) -> Error {
        match (self.pool.url(file), tick) {
            (Some(url), Some(tick)) => name_source(error, url, self.cadence.ticks[tick]),
            _ => error,
        }
    }
}

impl TimeUnit {
    /// The coordinate of two records at these times.
    fn coordinate(&self, dim: &str, times: [f64; 2]) -> Field {
        Field {
            name: dim.into(),
            dims: vec![dim.into()],
            shape: vec![2],
            values: Values::F64(times.to_vec()),
            attributes: self.attributes(),
        }
    }
}
