//! A lane under real threads, over bands that are made up.

use super::pool::Pool;
use super::*;
use crate::{Error, Result};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{mpsc, Arc, Mutex};

/// What became of the bands of a fake.
#[derive(Default)]
struct Counts {
    /// By band.
    decoded: Vec<AtomicU64>,
    failing: Option<u64>,
    panicking: Option<u64>,
    stale: Option<u64>,
}

struct Fake {
    bytes: usize,
    counts: Arc<Counts>,
}

fn content(band: u64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|k| (band as usize * 31 + k) as u8).collect()
}

impl Decode for Fake {
    fn bands(&self) -> u64 {
        self.counts.decoded.len() as u64
    }

    fn band_bytes(&self) -> usize {
        self.bytes
    }

    fn decode(&self, band: u64, out: &mut [u8], _: &mut Bench) -> Result<Option<u64>> {
        assert_ne!(self.counts.panicking, Some(band), "told to");
        if self.counts.failing == Some(band) {
            return Err(Error::invalid("told to"));
        }
        if self.counts.stale == Some(band) {
            return Ok(None);
        }
        self.counts.decoded[band as usize].fetch_add(1, SeqCst);
        out.copy_from_slice(&content(band, self.bytes));
        Ok(Some(1))
    }
}

/// A reader of a fake, and its threads.
struct Sweeper {
    ahead: Ahead,
    counts: Arc<Counts>,
    bytes: usize,
    bench: Bench,
    /// Bands that it decoded by itself.
    own: u64,
}

impl Sweeper {
    fn new(counts: Counts, bytes: usize, budget: usize, threads: usize) -> Self {
        let counts = Arc::new(counts);
        let fake = Fake { bytes, counts: counts.clone() };
        let ahead = Ahead::with_pool(Box::new(fake), budget, || Pool::new(threads)).unwrap();
        Sweeper { ahead, counts, bytes, bench: Bench::default(), own: 0 }
    }

    fn read(&mut self, band: u64) {
        let mut out = vec![0xcd; self.bytes];
        if self.ahead.take(band, &mut out, &mut self.bench) {
            assert_eq!(out, content(band, self.bytes), "band {band}");
        } else {
            self.own += 1;
        }
        let all = 0..self.counts.decoded.len() as u64;
        self.ahead.moved(band, all);
    }
}

fn counts(bands: usize) -> Counts {
    Counts { decoded: (0..bands).map(|_| AtomicU64::new(0)).collect(), ..Counts::default() }
}

fn decoded(sweeper: &Sweeper) -> u64 {
    sweeper.counts.decoded.iter().map(|n| n.load(SeqCst)).sum()
}

#[test]
fn a_sweep_in_either_direction_decodes_every_band_once() {
    for (bands, bytes, budget) in [(500, 1000, 1 << 20), (40, 100_000, 1 << 20), (40, 300_000, 700_000), (7, 8, 9)] {
        for backward in [false, true] {
            let mut sweeper = Sweeper::new(counts(bands), bytes, budget, 2);
            for k in 0..bands as u64 {
                sweeper.read(if backward { bands as u64 - 1 - k } else { k });
            }
            let ahead = sweeper.ahead.chunks_inflated();
            assert_eq!((sweeper.own + ahead, ahead), (bands as u64, decoded(&sweeper)));
            // The bands before the direction is known, and no others.
            assert_eq!(sweeper.own, 3);
            assert!(sweeper.counts.decoded.iter().all(|n| n.load(SeqCst) <= 1));
        }
    }
}

#[test]
fn bands_in_no_order_are_not_decoded_ahead() {
    let mut sweeper = Sweeper::new(counts(50), 1000, 1 << 20, 2);
    for band in [0, 7, 8, 3, 49, 48, 20, 20, 21, 0] {
        sweeper.read(band);
    }
    assert_eq!((sweeper.own, decoded(&sweeper)), (10, 0));
}

#[test]
fn what_fails_panics_or_is_stale_is_left_to_the_reader() {
    for which in 0..3 {
        let mut counts = counts(300);
        match which {
            0 => counts.failing = Some(100),
            1 => counts.panicking = Some(100),
            _ => counts.stale = Some(100),
        }
        let mut sweeper = Sweeper::new(counts, 4000, 1 << 20, 2);
        (0..300).for_each(|band| sweeper.read(band));
        // The rest of that run too; what comes behind is taken again.
        assert!(sweeper.own > 3 && sweeper.own <= 3 + 65, "{}", sweeper.own);
        let before = sweeper.own;
        (0..300).rev().for_each(|band| sweeper.read(band));
        assert!(sweeper.own > before);
    }
}

#[test]
fn a_budget_below_a_band_and_a_single_band_are_of_no_use() {
    let lane = |bands: usize, bytes: usize, budget: usize| {
        Ahead::with_pool(Box::new(Fake { bytes, counts: Arc::new(counts(bands)) }), budget, || Pool::new(1)).is_some()
    };
    assert!(lane(2, 1000, 1000));
    assert!(!lane(2, 1000, 999));
    assert!(!lane(1, 1000, 1 << 20));
    assert!(!lane(2, 0, 1 << 20));
    assert!(Ahead::new(Box::new(Fake { bytes: 8, counts: Arc::new(counts(9)) }), 0).is_none());
}

/// Holds the thread that decodes it until it is told to go on.
struct Held {
    started: Mutex<mpsc::Sender<()>>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Decode for Held {
    fn bands(&self) -> u64 {
        100
    }

    fn band_bytes(&self) -> usize {
        300_000
    }

    fn decode(&self, _: u64, _: &mut [u8], _: &mut Bench) -> Result<Option<u64>> {
        self.started.lock().unwrap().send(()).unwrap();
        self.go.lock().unwrap().recv().unwrap();
        Ok(Some(1))
    }
}

#[test]
fn dropping_a_reader_waits_for_no_thread() {
    let ((started, has_started), (go, may_go)) = (mpsc::channel(), mpsc::channel());
    let held = Held { started: Mutex::new(started), go: Mutex::new(may_go) };
    let pool = Pool::new(1);
    let mut ahead = Ahead::with_pool(Box::new(held), 1 << 20, || pool.clone()).unwrap();
    (0..3).for_each(|band| ahead.moved(band, 0..100));
    has_started.recv().unwrap();
    drop(ahead);
    go.send(()).unwrap();
    // Nothing else was begun: the thread lets go of the lane, and so of both channels.
    assert!(has_started.recv().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn bands_are_right_in_any_order(
        bytes in prop_oneof![Just(8usize), Just(60_000), Just(200_000)],
        budget in 200_000usize..2_000_000,
        threads in 1usize..4,
        legs in proptest::collection::vec((0u64..40, 0u64..40), 1..6),
    ) {
        let mut sweeper = Sweeper::new(counts(40), bytes, budget, threads);
        for (from, to) in legs {
            match from <= to {
                true => (from..=to).for_each(|band| sweeper.read(band)),
                false => (to..=from).rev().for_each(|band| sweeper.read(band)),
            }
        }
    }
}
