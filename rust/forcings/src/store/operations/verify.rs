//! Looking for damage: every array is hashed again, and the two halves of the pair are held against each other.

use crate::array::{Array, ArrayHash};
use crate::series::{SeriesId, SeriesInfo};
use crate::store::arrays::{ArrayFile, Portion};
use crate::store::catalog::MetaKey;
use crate::store::pair::GENERATION;
use crate::store::session::Session;
use crate::store::{StaticGrid, Store};
use crate::{Error, Result};
use std::collections::HashSet;
use std::fmt;
use std::num::NonZero;

/// Bytes of arrays that are held at once.
const PORTION_BYTES: usize = 64 << 20;
/// Series that a finding about their array names.
const NAMED_SERIES: usize = 10;

/// What [`Store::verify`] looked at and found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Arrays that were read.
    pub arrays: u64,
    /// Rows that were examined.
    pub series: u64,
    /// Arrays of removed series that are still in the file: variables of their own stay until a physical compaction,
    /// others until the next flush. They take space, and harm nothing.
    pub unused_variables: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// One thing that is wrong with a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// An array is not the one that was stored.
    HashMismatch {
        /// The hash under which it is stored.
        hash: ArrayHash,
        /// The hash of what is there.
        found: ArrayHash,
        /// The first ten of the series that have it.
        series: Vec<SeriesId>,
    },
    /// An array cannot be read.
    UnreadableArray {
        /// Its hash.
        hash: ArrayHash,
        /// The first ten of the series that have it.
        series: Vec<SeriesId>,
        /// Why.
        why: String,
    },
    /// A series has no array.
    MissingArray {
        /// The series.
        id: SeriesId,
        /// The hash of the array that it should have.
        hash: ArrayHash,
    },
    /// An array belongs to no series.
    UnreferencedArray {
        /// Its hash.
        hash: ArrayHash,
    },
    /// A row cannot be read, or does not fit its array.
    DamagedRow {
        /// Which one, and what is wrong with it.
        why: String,
    },
    /// SQLite finds the catalog damaged.
    DamagedCatalog {
        /// What it says.
        why: String,
    },
    /// The two files are of one store, but of different times.
    Generations {
        /// How often the pair was committed, by the array file.
        arrays: Option<String>,
        /// The same, by the catalog.
        catalog: Option<String>,
    },
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Store {
    /// Reads every array, on all cores, and reports each that is not what its hash says, each row without its array, each
    /// array without a row, rows that cannot be read, and halves of different times. Other changes wait for its end.
    ///
    /// # Errors
    /// `Closed`, and `Catalog` when SQLite cannot read the catalog for another reason than damage, which is no error but
    /// a finding.
    pub fn verify(&self) -> Result<VerifyReport> {
        self.shared.look(|session| {
            // Asked for inside: while the session was awaited, another array file may have taken the place of this one.
            let arrays = self.shared.arrays()?;
            Check { arrays: &arrays, session, report: VerifyReport::default() }.run()
        })
    }

    /// The grids of the `SingleTimeSeries`, one for each resolution, in the order of the resolutions' ISO texts.
    ///
    /// # Errors
    /// `Integrity` when two series of one resolution differ in their start or length, naming both; `Closed`, `Catalog`.
    pub fn check_consistency(&self) -> Result<Vec<StaticGrid>> {
        self.shared.look(|session| session.catalog().static_grids())
    }
}

struct Check<'a> {
    arrays: &'a ArrayFile,
    session: &'a Session,
    report: VerifyReport,
}

impl Check<'_> {
    fn run(mut self) -> Result<VerifyReport> {
        // What cannot be written now is no part of the file, and is for the next flush to tell.
        let _ = self.arrays.settle();
        self.generations()?;
        let faults = self.session.catalog().faults()?;
        self.report.findings.extend(faults.into_iter().map(|why| Finding::DamagedCatalog { why }));
        let known = match self.rows() {
            Ok(mut known) => {
                // Rows that an open transaction has removed may come back: their arrays are still there.
                known.extend(self.session.pending_removals());
                Some(known)
            }
            // Which rows there are cannot be told; the arrays can still be examined.
            Err(_) if self.is_damaged() => None,
            Err(error) => return Err(error),
        };
        for portion in self.arrays.portions(PORTION_BYTES) {
            self.portion(&portion)?;
            let unused = |hash: &&ArrayHash| known.as_ref().is_some_and(|known| !known.contains(*hash));
            for hash in portion.hashes.iter().filter(unused) {
                match portion.standalone || self.session.has_unfreed() {
                    true => self.report.unused_variables += 1,
                    false => self.report.findings.push(Finding::UnreferencedArray { hash: *hash }),
                }
            }
        }
        Ok(self.report)
    }

    /// Whether SQLite has found the catalog damaged, so that what else it refuses is no news.
    fn is_damaged(&self) -> bool {
        self.report.findings.iter().any(|finding| matches!(finding, Finding::DamagedCatalog { .. }))
    }

    /// The first series that have an array.
    fn named(&self, hash: &ArrayHash) -> Result<Vec<SeriesId>> {
        match self.session.catalog().ids_of(hash, NAMED_SERIES) {
            Err(_) if self.is_damaged() => Ok(Vec::new()),
            ids => ids,
        }
    }

    fn generations(&mut self) -> Result<()> {
        let arrays = self.arrays.attribute(GENERATION);
        let catalog = self.session.catalog().meta(MetaKey::Generation)?;
        if arrays != catalog {
            self.report.findings.push(Finding::Generations { arrays, catalog });
        }
        Ok(())
    }

    /// Examines every row, and answers the hashes of the arrays that they refer to.
    fn rows(&mut self) -> Result<HashSet<ArrayHash>> {
        let (arrays, report) = (self.arrays, &mut self.report);
        let mut known = HashSet::new();
        self.session.catalog().visit_all(|found| {
            report.series += 1;
            known.extend(found.hash);
            report.findings.extend(match found.row {
                Ok(info) => examine(arrays, &info),
                Err(why) => Some(Finding::DamagedRow { why }),
            });
        })?;
        Ok(known)
    }

    fn portion(&mut self, portion: &Portion) -> Result<()> {
        let hashes = &portion.hashes;
        match self.arrays.read_many(hashes) {
            Ok(arrays) => {
                self.report.arrays += hashes.len() as u64;
                for (hash, found) in hashes.iter().zip(hash_all(&arrays)) {
                    if *hash != found {
                        let series = self.named(hash)?;
                        self.report.findings.push(Finding::HashMismatch { hash: *hash, found, series });
                    }
                }
            }
            Err(error) if portion.shared || hashes.len() == 1 => {
                self.report.arrays += hashes.len() as u64;
                for hash in hashes {
                    let series = self.named(hash)?;
                    self.report.findings.push(Finding::UnreadableArray { hash: *hash, series, why: error.to_string() });
                }
            }
            Err(_) => {
                for hash in hashes {
                    self.portion(&Portion { hashes: vec![*hash], ..*portion })?;
                }
            }
        }
        Ok(())
    }
}

/// Holds a row against what the array file says of its array.
fn examine(arrays: &ArrayFile, info: &SeriesInfo) -> Option<Finding> {
    let damaged = |why: String| Some(Finding::DamagedRow { why });
    let (dtype, shape) = match arrays.shape(&info.hash) {
        Ok(found) => found,
        Err(Error::NotFound(_)) => return Some(Finding::MissingArray { id: info.id, hash: info.hash }),
        Err(error) => return damaged(error.to_string()),
    };
    match info.array_shape() {
        Err(error) => damaged(error.to_string()),
        Ok(declared) if (info.dtype, &declared) == (dtype, &shape) => None,
        Ok(declared) => damaged(format!(
            "{info} has the type {} and the shape {declared:?}, its array has {} and {shape:?}",
            info.dtype.name(),
            dtype.name()
        )),
    }
}

/// The content hashes, computed on all cores.
fn hash_all(arrays: &[Array]) -> Vec<ArrayHash> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = arrays.len().div_ceil(cores).max(1);
    let hash = |part: &[Array]| part.iter().map(|array| array.view().hash()).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let mut parts = arrays.chunks(share);
        let own = parts.next().unwrap_or_default();
        // Where the system refuses another thread, this one does its work.
        let spawn = |part| std::thread::Builder::new().spawn_scoped(scope, move || hash(part)).map_err(|_| part);
        let workers: Vec<_> = parts.map(spawn).collect();
        let mut hashes = hash(own);
        for worker in workers {
            hashes.extend(match worker {
                Ok(worker) => worker.join().expect("hashing does not panic"),
                Err(part) => hash(part),
            });
        }
        hashes
    })
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |series: &[SeriesId]| {
            let ids: Vec<String> = series.iter().map(SeriesId::to_string).collect();
            if ids.is_empty() {
                "no series".to_string()
            } else {
                format!("series {}", ids.join(", "))
            }
        };
        match self {
            Finding::HashMismatch { hash, found, series } => {
                write!(f, "the array {hash:?} of {} has other values: their hash is {found:?}", of(series))
            }
            Finding::UnreadableArray { hash, series, why } => {
                write!(f, "the array {hash:?} of {} cannot be read: {why}", of(series))
            }
            Finding::MissingArray { id, hash } => write!(f, "the array {hash:?} of series {id} is missing"),
            Finding::UnreferencedArray { hash } => write!(f, "the array {hash:?} belongs to no series"),
            Finding::DamagedRow { why } => f.write_str(why),
            Finding::DamagedCatalog { why } => write!(f, "the catalog is damaged: {why}"),
            Finding::Generations { arrays, catalog } => {
                let shown = |generation: &Option<String>| generation.clone().unwrap_or_else(|| "none".into());
                let (arrays, catalog) = (shown(arrays), shown(catalog));
                write!(
                    f,
                    "the array file is of generation {arrays}, the catalog of generation {catalog}: \
                           one of the two files was replaced by an older or newer one"
                )
            }
        }
    }
}
