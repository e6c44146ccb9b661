//! The process that runs a target: under limits, with every input written down before it is tried.

use crate::limits::{computed, limit};
use crate::mutate::{mutate, Random};
use crate::targets::Target;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of address space; seconds of computing, and of waiting, for a seed or a batch of inputs.
const MAX_MEMORY: u64 = 2 << 30;
const MAX_COMPUTE: u64 = 20;
const MAX_WAIT: u32 = 200;
const BATCH: usize = 64;

/// Seeds that are kept at a time.
const MAX_SEEDS: usize = 512;

/// Runs a target for so long; returns the number of inputs tried, and of those kept as seeds. `trace` receives the input
/// that is being tried: its length in four bytes, then its bytes.
///
/// # Errors
/// What the system says when the trace cannot be written.
pub fn run(target: &Target, seeds: Vec<Vec<u8>>, seed: u64, time: Duration, trace: &Path) -> io::Result<(u64, usize)> {
    limit(libc::RLIMIT_CORE, 0);
    limit(libc::RLIMIT_AS, MAX_MEMORY);
    let trace = File::create(trace)?;
    let (mut seeds, mut random) = (if seeds.is_empty() { vec![Vec::new()] } else { seeds }, Random::new(seed));
    let given = seeds.len();
    let (mut endings, mut tried) = (HashSet::new(), 0);
    let mut attempt = |input: &[u8]| -> io::Result<bool> {
        trace.write_all_at(&[&(input.len() as u32).to_le_bytes(), input].concat(), 0)?;
        Ok(endings.insert(ending(&(target.run)(input))))
    };
    for input in &seeds {
        arm();
        attempt(input)?;
    }
    let start = Instant::now();
    while start.elapsed() < time {
        arm();
        for _ in 0..BATCH {
            // Half of the time from what was given: what was found may be damaged beyond reach.
            let reach = if random.below(2) == 0 { given } else { seeds.len() };
            let mut input = seeds[random.below(reach)].clone();
            let other = random.below(seeds.len());
            mutate(&mut input, &seeds[other], target.words, &mut random);
            tried += 1;
            if attempt(&input)? {
                if seeds.len() < MAX_SEEDS {
                    seeds.push(input);
                } else {
                    let place = given + random.below(seeds.len() - given);
                    seeds[place] = input;
                }
            }
        }
    }
    Ok((tried, seeds.len() - given))
}

/// An outcome without what it quotes of the input: only words of small letters, so that two errors of one kind are the
/// same ending.
fn ending(outcome: &str) -> String {
    let outside = outcome.split('"').step_by(2).flat_map(str::split_whitespace);
    let plain = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b";,.:".contains(&b));
    outside.filter(plain).take(60).collect::<Vec<_>>().join(" ")
}

/// The input in a trace.
///
/// # Errors
/// What the system says.
pub fn traced(trace: &Path) -> io::Result<Vec<u8>> {
    let bytes = std::fs::read(trace)?;
    let (len, rest) = bytes.split_first_chunk::<4>().ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(rest[..rest.len().min(u32::from_le_bytes(*len) as usize)].to_vec())
}

/// Starts the time of the next seed or batch.
fn arm() {
    limit(libc::RLIMIT_CPU, computed() + MAX_COMPUTE);
    // SAFETY: it only sets a timer of this process, whose signal ends it.
    unsafe { libc::alarm(MAX_WAIT) };
}
