//! Every file of the corpus goes through its target, and mutants of each for a moment.

use forcings_fuzz::mutate::{mutate, Random};
use forcings_fuzz::{corpus, targets};

#[test]
fn every_file_of_the_corpus_has_an_ending() {
    for target in &targets::ALL {
        let files = corpus::files(target.name).unwrap();
        let endings: Vec<String> = files.iter().map(|(_, bytes)| (target.run)(bytes)).collect();
        assert!(!files.is_empty(), "{} has no seeds", target.name);
        let good = |ending: &String| ending.starts_with("read") || ending.contains(";read;");
        assert!(endings.iter().any(good), "{}: {endings:?}", target.name);
    }
}

#[test]
fn a_hundred_mutants_of_each_file_have_endings() {
    for target in &targets::ALL {
        let files = corpus::files(target.name).unwrap();
        let mut random = Random::new(7);
        for (_, bytes) in &files {
            for _ in 0..100 {
                let mut input = bytes.clone();
                let other = random.below(files.len());
                mutate(&mut input, &files[other].1, target.words, &mut random);
                let _ = (target.run)(&input);
            }
        }
    }
}
