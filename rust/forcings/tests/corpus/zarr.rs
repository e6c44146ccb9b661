//! What one read of a Zarr store gives; in some, only what the selection touches is sound.

use crate::files::*;
use crate::sockets::without_sockets;
use forcings::cache::Cache;
use forcings::dataset::Selection;
use forcings::provider::{Provider, ProviderOptions};

#[test]
fn cases_of_zarr_decode_to_what_they_hold() {
    let cases = cases_of("zarr");
    assert!(cases.len() >= 12, "{}", cases.len());
    without_sockets(|| {
        let cache = cache();
        for (_, case) in &cases {
            check_store(case, &cache);
        }
    });
}

fn check_store(case: &Case, cache: &Cache) {
    let options = ProviderOptions {
        format: case.format.clone(),
        cache: Some(cache.clone()),
        variables: case.variables.clone(),
        select: case.select.as_ref().map(|select| Selection::from_value(select).unwrap()),
        ..ProviderOptions::of_files([&case.resolved_url])
    };
    let sample = Provider::open(options).and_then(|provider| provider.sample_at(0.0));
    case.expected.check(&case.id, &sample.unwrap_or_else(|e| panic!("{}: {e}", case.id)));
}
