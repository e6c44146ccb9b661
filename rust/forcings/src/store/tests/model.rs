//! Random sequences of all operations against a plain model of a store, in memory and on a disk that fails: between the
//! steps that reach the array file and the catalog, and inside them. After a failure the store is what it was, or what
//! it was promised to be; after a simulated kill it is its last committed state, or that of the commit under way.
//!
//! `items` and `strategy` say what is drawn, `state` and `reading` what it leads to, `trial` and `failures` run both.

mod checks;
mod failures;
mod filters;
mod items;
mod reading;
mod state;
mod strategy;
mod trial;
mod walkers;

use super::*;
use crate::series::{FeatureValue, Features};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use trial::Trial;

/// PROPTEST_CASES raises it.
const CASES: u32 = 96;

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig { max_shrink_iters: 4096, ..asked },
        // The same cases in every run; whoever asks for more gets new ones.
        None => ProptestConfig { cases: CASES, rng_seed: RngSeed::Fixed(2030), max_shrink_iters: 4096, ..asked },
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn in_memory(steps in strategy::steps(40)) {
        Trial::new(None).run(steps);
    }

    #[test]
    fn on_disk(steps in strategy::steps(40), durable in any::<bool>()) {
        Trial::new(Some(durable)).run(steps);
    }

    #[test]
    fn on_a_disk_that_fails(steps in strategy::failing_steps(40)) {
        Trial::new(Some(false)).run(steps);
    }

    #[test]
    fn on_a_disk_that_fails_and_durable(steps in strategy::failing_steps(30)) {
        Trial::new(Some(true)).run(steps);
    }
}
