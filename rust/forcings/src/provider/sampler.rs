//! What a prefetch group needs of a member: its times, and the data at one of them.

use crate::dataset::{Dataset, Selection};
use crate::Result;

/// Anything that answers `sample_at(t)` on a known list of times.
///
/// An implementation is a function of time: the same `t` always gives the same anchor, and times with one anchor give
/// the same data, bit for bit. Calls come from many threads at once.
pub trait Sampler: Send + Sync {
    /// The times at which the data change, ascending and finite; empty if they never do.
    fn refresh_times(&self) -> &[f64];

    /// The entry of [`refresh_times`](Sampler::refresh_times) whose data are in force at `t`.
    ///
    /// # Errors
    /// `OffGrid` or another kind when there are no data at `t`, as before the first entry.
    fn anchor(&self, t: f64) -> Result<f64>;

    /// The data in force at `t`.
    ///
    /// # Errors
    /// Those of [`anchor`](Sampler::anchor), and whatever reading and decoding may raise.
    fn sample_at(&self, t: f64) -> Result<Dataset>;

    /// The name of the calendar in which the times are counted; `None` where they are numbers in the caller's own unit.
    fn calendar(&self) -> Option<&str>;

    /// Checks what can be checked of windows before anything is read.
    ///
    /// # Errors
    /// `Selection` for one that is not in the named form, or that can never be bound to these data.
    fn check_windows(&self, windows: &[Selection]) -> Result<()> {
        windows.iter().try_for_each(|window| window.named().map(|_| ()))
    }

    /// The data in force at `t` under each of the windows; without windows, nothing is read.
    ///
    /// # Errors
    /// Those of [`check_windows`](Sampler::check_windows) and of [`sample_at`](Sampler::sample_at), and `Selection` for the
    /// first window that does not fit the data.
    fn sample_windows_at(&self, t: f64, windows: &[Selection]) -> Result<Vec<Dataset>> {
        if windows.is_empty() {
            return Ok(Vec::new());
        }
        self.check_windows(windows)?;
        let whole = self.sample_at(t)?;
        windows.iter().map(|window| whole.cut(window)).collect()
    }

    /// The numbers of the files behind URLs that [`sample_at`](Sampler::sample_at) of `t` reads: what can be fetched
    /// ahead. Reads nothing; empty where there are no data at `t`.
    fn files_at(&self, t: f64) -> Vec<usize> {
        let _ = t;
        Vec::new()
    }

    /// Fetches a file that [`files_at`](Sampler::files_at) named into the cache, unless it is there.
    ///
    /// # Errors
    /// Those of fetching.
    fn fetch_file(&self, file: usize) -> Result<()> {
        let _ = file;
        Ok(())
    }
}
