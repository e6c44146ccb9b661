//! Decoding runs beside a consumer that computes.

use super::fake::{group_of, Fake, Latency};
use crate::prefetch::{Order, Stats};
use std::time::Duration;

const DECODE: Duration = Duration::from_millis(30);

/// Six epochs of 30 ms each, with `work` by the consumer between the takes.
fn sweep(work: Duration) -> Stats {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 6).with(|fake| fake.latency = Latency::Fixed(DECODE)));
    let group = builder.build().unwrap();
    group.start(Order::Forward, None).unwrap();
    group.wait(0, Duration::from_secs(60));
    for k in 0..6 {
        group.take(k).unwrap();
        std::thread::sleep(work);
    }
    group.stats()
}

#[test]
fn row_109_a_consumer_that_computes_longer_than_a_decode_waits_for_nothing() {
    let (idle, busy) = (sweep(Duration::ZERO), sweep(3 * DECODE));
    assert!(busy.waited_s < idle.waited_s / 3.0, "{busy:?} against {idle:?}");
    assert!(idle.decode_s >= 6.0 * DECODE.as_secs_f64() && busy.decode_s >= 6.0 * DECODE.as_secs_f64());
}
