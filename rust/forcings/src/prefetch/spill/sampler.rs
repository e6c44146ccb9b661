//! A member whose samples are spilled once they are decoded.

use super::{Key, Spill};
use crate::dataset::{Dataset, Selection};
use crate::provider::Sampler;
use crate::Result;
use std::sync::Arc;

/// Answers as the sampler within does, from the file where the sample is there. It is asked either for whole samples or
/// for those under one list of windows, as a group does.
pub(in super::super) struct SpillingSampler {
    inner: Arc<dyn Sampler>,
    member: usize,
    spill: Arc<Spill>,
}

impl SpillingSampler {
    /// The sampler of the member with this number.
    pub(in super::super) fn new(inner: Arc<dyn Sampler>, member: usize, spill: Arc<Spill>) -> Self {
        SpillingSampler { inner, member, spill }
    }

    fn key(&self, t: f64) -> Result<Key> {
        Ok(Key::new(self.member, self.inner.anchor(t)?))
    }

    /// The `count` datasets of the sample at `t`: read back, or decoded and spilled.
    fn sample(&self, t: f64, count: usize, decode: impl FnOnce() -> Result<Vec<Dataset>>) -> Result<Vec<Dataset>> {
        let Ok(key) = self.key(t) else { return decode() };
        if let Some(data) = self.spill.restore(key).filter(|data| data.len() == count) {
            return Ok(data);
        }
        let data = decode()?;
        self.spill.keep(key, &data);
        Ok(data)
    }
}

impl Sampler for SpillingSampler {
    fn refresh_times(&self) -> &[f64] {
        self.inner.refresh_times()
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        self.inner.anchor(t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        let mut data = self.sample(t, 1, || Ok(vec![self.inner.sample_at(t)?]))?;
        Ok(data.pop().expect("it was asked for one dataset"))
    }

    fn calendar(&self) -> Option<&str> {
        self.inner.calendar()
    }

    fn check_windows(&self, windows: &[Selection]) -> Result<()> {
        self.inner.check_windows(windows)
    }

    fn sample_windows_at(&self, t: f64, windows: &[Selection]) -> Result<Vec<Dataset>> {
        self.sample(t, windows.len(), || self.inner.sample_windows_at(t, windows))
    }

    /// None where the sample is read back.
    fn files_at(&self, t: f64) -> Vec<usize> {
        match self.key(t) {
            Ok(key) if self.spill.holds(key) => Vec::new(),
            _ => self.inner.files_at(t),
        }
    }

    fn fetch_file(&self, file: usize) -> Result<()> {
        self.inner.fetch_file(file)
    }
}
