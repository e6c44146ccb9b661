//! The other readers of the same files, each in a process of its own.

use crate::epochs::{Window, VARIABLES};
use crate::support::{peer, Answer};
use serde_json::{json, Map, Value};
use std::path::{Path, PathBuf};

/// How `earthsciio` reads epochs: one after the other, by the faster of its two ways, or through its prefetch group.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    OneByOne,
    Group { workers: usize },
}

/// Every epoch through the crate `earthsciio`, whose copies of the files are kept beside them.
pub(crate) fn earthsciio(
    folder: &Path,
    records: usize,
    records_per_file: usize,
    window: Window,
    way: Way,
) -> Option<Answer> {
    // `sample_at` decodes the whole file, `refresh` only for its first record, but it copies.
    let operation = if records_per_file == 1 { "sample_at" } else { "refresh" };
    let mut request = json!({
        "operation": operation, "folder": folder, "cache": folder.with_extension("earthsciio"), "records": records,
        "records_per_file": records_per_file, "variables": VARIABLES, "window": ranges(window),
    });
    if let Way::Group { workers } = way {
        request["operation"] = "group".into();
        request["workers"] = workers.into();
        // Only taken, as ours are: two threads are busy without a consumer.
        request["checksum"] = false.into();
    }
    peer("earthsciio", &request)
}

/// Every epoch through netCDF4-python, or zarr-python for a store.
pub(crate) fn python(files: &[PathBuf], window: Window) -> Option<Answer> {
    peer("epochs", &json!({"files": files, "variables": VARIABLES, "window": ranges(window)}))
}

/// The name of a peer, with its version.
pub(crate) fn title(answer: &Answer) -> String {
    let text = |key: &str| answer.all[key].as_str().expect("a peer names itself").to_string();
    format!("{} {}", text("peer"), text("version"))
}

fn ranges(window: Window) -> Value {
    window.iter().map(|&(dim, start, stop)| (dim.to_string(), json!([start, stop]))).collect::<Map<_, _>>().into()
}
