//! A depth that follows the waits of the consumer.

use super::fake::Fake;
use crate::dataset::Dataset;
use crate::prefetch::{Order, PrefetchGroup, PrefetchGroupBuilder, Stats};
use crate::provider::Sampler;
use crate::{ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;

const EPOCHS: u32 = 64;
const SWEEP: usize = 32;

/// A decode in eight takes 64 ms, the others 2 ms: on average less than the 14 ms that the consumer computes.
struct Uneven(Fake);

impl Sampler for Uneven {
    fn refresh_times(&self) -> &[f64] {
        self.0.refresh_times()
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        self.0.anchor(t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        std::thread::sleep(Duration::from_millis(if t % 8.0 == 7.0 { 64 } else { 2 }));
        self.0.sample_at(t)
    }

    fn calendar(&self) -> Option<&str> {
        None
    }
}

/// Sweeps over all epochs; the seconds waited in the latter half, and the statistics.
fn sweep(change: impl FnOnce(PrefetchGroupBuilder) -> PrefetchGroupBuilder) -> (f64, Stats) {
    let member = Arc::new(Uneven(Fake::new(0, 0, 1, EPOCHS)));
    let group = change(PrefetchGroup::builder().member("m", member)).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    let mut before = 0.0;
    for k in 0..EPOCHS as usize {
        if k == SWEEP {
            before = group.stats().waited_s;
        }
        group.take(k).unwrap();
        std::thread::sleep(Duration::from_millis(14));
    }
    (group.stats().waited_s - before, group.stats())
}

#[test]
fn it_grows_until_slow_decodes_are_hidden() {
    let size = Fake::new(0, 0, 1, 1).bytes();
    let (fixed, (auto, stats)) = (sweep(|builder| builder.depth(2)).0, sweep(|b| b.auto_depth().max_bytes(100 * size)));
    assert!(auto < fixed / 3.0, "{auto} s against {fixed} s");
    assert!(stats.depth > 2, "{stats:?}");
    let (_, bounded) = sweep(|builder| builder.auto_depth().max_bytes(3 * size));
    assert!(bounded.peak_bytes <= 3 * size, "{bounded:?}");
}

#[test]
fn it_needs_a_budget_and_begins_with_two() {
    let builder = || PrefetchGroup::builder().member("m", Arc::new(Fake::new(0, 0, 1, 4)));
    let error = builder().auto_depth().build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.to_string().contains("set max_bytes too"), "{error}");
    assert_eq!(builder().auto_depth().max_bytes(1 << 20).build().unwrap().stats().depth, 2);
    assert_eq!(builder().auto_depth().depth(5).build().unwrap().stats().depth, 5, "what is said last counts");
}
