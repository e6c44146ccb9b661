//! The files that fuzzing starts from: `corpus/TARGET/` holds seeds, and the inputs that once ended a run.

use std::fs;
use std::io;
use std::path::PathBuf;

/// The folder of a target's files.
pub fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The files of a target, by name.
///
/// # Errors
/// What the system says when a file cannot be read; a target without a folder has no files.
pub fn files(target: &str) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let entries = match fs::read_dir(folder(target)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let bytes = fs::read(&path)?;
        found.push((path, bytes));
    }
    found.sort();
    Ok(found)
}
