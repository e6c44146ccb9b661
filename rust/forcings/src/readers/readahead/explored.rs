//! A lane whose threads run under shuttle, which tries many interleavings and reports deadlocks and lost wake-ups.

use super::pool::Pool;
use super::*;
use shuttle::thread;

const RUNS: usize = 2_000;
const BANDS: u64 = 12;
const BYTES: usize = 100_000;

/// Twelve bands, two in a run; decoding lets others run.
struct Fake {
    failing: Option<u64>,
}

impl Decode for Fake {
    fn bands(&self) -> u64 {
        BANDS
    }

    fn band_bytes(&self) -> usize {
        BYTES
    }

    fn decode(&self, band: u64, out: &mut [u8], _: &mut Bench) -> Result<Option<u64>> {
        thread::yield_now();
        if self.failing == Some(band) {
            return Ok(None);
        }
        (out[0], out[BYTES - 1]) = (band as u8, band as u8);
        Ok(Some(1))
    }
}

fn ahead(pool: &Pool, failing: Option<u64>) -> Ahead {
    Ahead::with_pool(Box::new(Fake { failing }), 3 * 2 * BYTES, || pool.clone()).unwrap()
}

/// Reads these bands, and answers how many were not decoded ahead.
fn sweep(ahead: &mut Ahead, bands: impl Iterator<Item = u64>) -> u64 {
    let (mut own, mut out, mut bench) = (0, vec![0xff; BYTES], Bench::default());
    for band in bands {
        match ahead.take(band, &mut out, &mut bench) {
            true => assert_eq!((out[0], out[BYTES - 1]), (band as u8, band as u8)),
            false => own += 1,
        }
        ahead.moved(band, 0..BANDS);
    }
    own
}

/// Runs `test` under two ways of choosing who runs next.
fn explore(test: fn()) {
    shuttle::check_random(test, RUNS);
    shuttle::check_pct(test, RUNS, 3);
}

#[test]
fn sweeps_end_and_take_every_band() {
    explore(|| {
        let pool = Pool::new(2);
        let mut ahead = ahead(&pool, None);
        assert_eq!(sweep(&mut ahead, 0..BANDS), 3);
        assert_eq!(ahead.chunks_inflated(), BANDS - 3);
        sweep(&mut ahead, (0..BANDS - 1).rev());
    });
}

#[test]
fn turning_round_and_jumping_take_nothing_wrong() {
    explore(|| {
        let pool = Pool::new(2);
        let mut ahead = ahead(&pool, Some(6));
        sweep(&mut ahead, (0..5).chain((1..4).rev()).chain(8..11).chain((2..10).rev()));
    });
}

#[test]
fn readers_share_the_threads_and_may_go_at_any_time() {
    explore(|| {
        let pool = Pool::new(2);
        let (mut a, mut b) = (ahead(&pool, None), ahead(&pool, None));
        let other = thread::spawn(move || {
            sweep(&mut b, 0..5);
            drop(b);
        });
        sweep(&mut a, 0..7);
        drop(a);
        drop(pool);
        other.join().unwrap();
    });
}
