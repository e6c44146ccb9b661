//! The ledger of bytes held and in flight, and whether more fits under the limit.

/// Bytes of samples that are ready, and estimates for those queued or being decoded.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Budget {
    limit: Option<u64>,
    ready: u64,
    expected: u64,
    /// How many of the queued or running samples have no estimate.
    unknown: usize,
    peak: u64,
}

impl Budget {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Budget { limit, ready: 0, expected: 0, unknown: 0, peak: 0 }
    }

    pub(super) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// The most bytes that were ready at one moment.
    pub(super) fn peak(&self) -> u64 {
        self.peak
    }

    /// The bytes that are ready.
    pub(super) fn ready(&self) -> u64 {
        self.ready
    }

    /// Books a sample that will be decoded.
    pub(super) fn expect(&mut self, estimate: Option<u64>) {
        match estimate {
            Some(bytes) => self.expected += bytes,
            None => self.unknown += 1,
        }
    }

    /// Takes back what [`expect`](Self::expect) booked: the sample is there, failed, or no longer wanted.
    pub(super) fn settle(&mut self, estimate: Option<u64>) {
        match estimate {
            Some(bytes) => self.expected -= bytes,
            None => self.unknown -= 1,
        }
    }

    /// Books a sample that is ready.
    pub(super) fn hold(&mut self, bytes: u64) {
        self.ready += bytes;
        self.peak = self.peak.max(self.ready);
    }

    /// Takes back what [`hold`](Self::hold) booked.
    pub(super) fn release(&mut self, bytes: u64) {
        self.ready -= bytes;
    }

    /// Whether `more` bytes fit; never, while a size is unknown.
    pub(super) fn fits(&self, more: Option<u64>) -> bool {
        let Some(limit) = self.limit else { return true };
        match more {
            Some(more) if self.unknown == 0 => self.ready.saturating_add(self.expected).saturating_add(more) <= limit,
            _ => false,
        }
    }
}
