//! Row 101 and row 146: versions of the format, and what one reader takes.

use super::*;
use crate::store::pair::catalog_path;

#[test]
pub(in crate::store) fn row_101_another_version_is_refused_with_what_was_found() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |path: &Path, found: &str| {
        let before = (std::fs::read(path).unwrap(), std::fs::read(catalog_path(path)).unwrap());
        for options in [reading(), writable()] {
            let error = Store::open(path, &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::IncompatibleFormat);
            assert!(error.to_string().contains(&format!("version {found},")), "{error}");
            assert!(error.to_string().contains("0.11.0"), "{error}");
        }
        assert!(before == (std::fs::read(path).unwrap(), std::fs::read(catalog_path(path)).unwrap()), "{found}");
    };
    for version in ["0.9.0", "0.10.9", "0.11", "0.12.0", "1", ""] {
        let path = dir.path().join(format!("v{version}.nc"));
        let store = Store::create(&path, &CreateOptions::default()).unwrap();
        add(&store, 1, "load", &ramp(0));
        store.shared().arrays().unwrap().set_attribute("data_format_version", version).unwrap();
        store.close().unwrap();
        refused(&path, version);
    }
    // Without the attribute, and with one of variable length, which others do not see either.
    for as_string in [false, true] {
        let path = dir.path().join(format!("{as_string}.nc"));
        drop(Store::create(&path, &CreateOptions::default()).unwrap());
        std::fs::remove_file(&path).unwrap();
        let mut nc = netcdf::create(&path).unwrap();
        if as_string {
            nc.add_attribute("data_format_version", netcdf::AttributeValue::Strs(vec!["0.11.0".into()])).unwrap();
        }
        nc.add_group("time_series/single").unwrap();
        drop(nc);
        refused(&path, "unspecified");
    }
}

#[test]
pub(in crate::store) fn row_146_any_references_but_zoneless_make_one_reader() {
    each(
        |store| {
            let values = [ramp(0), ramp(10), ramp(20), ramp(30)];
            let references = [Some("utc"), Some("America/Denver"), Some("-07:00"), None];
            let items = values.iter().zip(references).zip(1..);
            let item = |((values, text), owner): ((_, Option<&str>), i64)| NewSeries {
                time_reference: text.map(|text| text.parse().unwrap()),
                ..series(owner, "load", values)
            };
            store.add_bulk(&items.map(item).collect::<Vec<_>>()).unwrap()
        },
        |store, ids| {
            let hourly = Filter { resolution: Some(Period::hours(1)), ..Filter::default() };
            let mut reader = crate::readers::StaticReader::build(store, &hourly).unwrap();
            reader.read_step(2).unwrap();
            assert_eq!(reader.groups()[0].columns().len(), ids.len());
        },
    );
}
