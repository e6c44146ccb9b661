//! Examining the catalog as a whole: rows that cannot be read, sets of features that are not what their hash says, and
//! series that do not agree on one grid.

use super::Catalog;
use crate::array::ArrayHash;
use crate::series::{SeriesInfo, SeriesType};
use crate::time::{Period, UnixMillis};
use crate::{Error, Result};
use rusqlite::{ErrorCode, Row};
use std::collections::HashMap;

/// Faults of the file that SQLite lists at most.
const MAX_FAULTS: u32 = 100;

/// The grid that all `SingleTimeSeries` of one resolution share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaticGrid {
    /// The step.
    pub resolution: Period,
    /// The first instant.
    pub initial: UnixMillis,
    /// The number of steps.
    pub length: u64,
    /// How many series have it.
    pub series: u64,
}

/// One row as it was found.
#[derive(Debug)]
pub(crate) struct Audited {
    /// The array that it refers to, if that can be read.
    pub(crate) hash: Option<ArrayHash>,
    /// The series, or why the row is none.
    pub(crate) row: std::result::Result<SeriesInfo, String>,
}

impl Catalog {
    /// What SQLite finds wrong with the file: damaged pages, indexes that miss rows.
    ///
    /// # Errors
    /// `Catalog` when SQLite cannot look for another reason than damage.
    pub(crate) fn faults(&self) -> Result<Vec<String>> {
        let check = self.connection.prepare(&format!("PRAGMA integrity_check({MAX_FAULTS})"));
        let lines: rusqlite::Result<Vec<String>> = check.and_then(|mut s| s.query_map([], |row| row.get(0))?.collect());
        match lines {
            Ok(lines) if lines == ["ok"] => Ok(Vec::new()),
            Ok(lines) => Ok(lines),
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(vec![e.to_string()]),
            Err(e) => Err(self.failure(e)),
        }
    }

    /// Hands every row to `visit`.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn visit_all(&self, mut visit: impl FnMut(Audited)) -> Result<()> {
        let sql = self.ordered("1");
        let mut statement = self.connection.prepare(&sql).map_err(|e| self.failure(e))?;
        let mut rows = statement.query([]).map_err(|e| self.failure(e))?;
        let mut sets = HashMap::new();
        while let Some(row) = rows.next().map_err(|e| self.failure(e))? {
            visit(match self.decode(row) {
                Ok((mut info, hash)) => {
                    let set =
                        sets.entry(hash).or_insert_with_key(|hash| self.features(hash).map_err(|e| e.to_string()));
                    match set {
                        Ok(features) => {
                            info.features = features.clone();
                            Audited { hash: Some(info.hash), row: Ok(info) }
                        }
                        Err(why) => Audited { hash: Some(info.hash), row: Err(format!("{info}: {why}")) },
                    }
                }
                Err(error) => {
                    let hash = row.get("data_hash").ok().map(ArrayHash::from_bytes);
                    Audited { hash, row: Err(error.to_string()) }
                }
            });
        }
        Ok(())
    }

    /// The grid of the `SingleTimeSeries` of each resolution, in the order of the resolutions' texts.
    ///
    /// # Errors
    /// `Integrity` when two series of one resolution have different grids, naming both, or a grid cannot be read;
    /// `Catalog` when SQLite refuses.
    pub(crate) fn static_grids(&self) -> Result<Vec<StaticGrid>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT resolution, initial_timestamp, length, MIN(id), COUNT(*) FROM time_series_associations
                 WHERE time_series_type = ?1 GROUP BY 1, 2, 3 ORDER BY 1, 4",
            )
            .map_err(|e| self.failure(e))?;
        let mut rows = statement.query([SeriesType::SingleTimeSeries.name()]).map_err(|e| self.failure(e))?;
        let mut grids: Vec<StaticGrid> = Vec::new();
        let mut first = 0;
        while let Some(row) = rows.next().map_err(|e| self.failure(e))? {
            let id: i64 = row.get(3).map_err(|e| self.failure(e))?;
            let grid = grid(row).ok_or_else(|| {
                self.damage(format_args!("series {id} has no readable resolution, initial timestamp or length"))
            })?;
            let StaticGrid { resolution, initial, length, .. } = grid;
            match grids.last_mut() {
                Some(other) if other.resolution == resolution && (other.initial, other.length) == (initial, length) => {
                    other.series += grid.series;
                }
                Some(other) if other.resolution == resolution => {
                    return Err(Error::Integrity(format!(
                        "the series of the resolution {resolution} do not share one grid: series {first} has {} steps \
                         from {}, series {id} has {length} from {initial}",
                        other.length, other.initial
                    )));
                }
                _ => {
                    first = id;
                    grids.push(grid);
                }
            }
        }
        Ok(grids)
    }
}

/// The grid of a row of the statement in [`Catalog::static_grids`].
fn grid(row: &Row<'_>) -> Option<StaticGrid> {
    let (resolution, initial): (String, String) = (row.get(0).ok()?, row.get(1).ok()?);
    let (length, series): (i64, i64) = (row.get(2).ok()?, row.get(4).ok()?);
    Some(StaticGrid {
        resolution: resolution.parse().ok()?,
        initial: UnixMillis::from_rfc3339(&initial).ok()?,
        length: u64::try_from(length).ok()?,
        series: series.unsigned_abs(),
    })
}
