//! `file://`: a copy of a local file.

use super::{Ask, Failure, Reply, Transport, Validators};
use crate::cache::staging::Staging;
use crate::cache::url::Url;
use crate::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Local files.
pub(in crate::cache) struct Local {
    data_dir: Option<String>,
}

impl Local {
    pub(in crate::cache) fn new(data_dir: Option<String>) -> Self {
        Local { data_dir }
    }
}

/// The path of a `file://` URL: the host is ignored, nothing is percent-decoded, and `$EARTHSCIDATADIR` (with or without
/// braces) is expanded.
///
/// # Errors
/// A text that says that the variable is not set, or that the path is not absolute.
pub(in crate::cache) fn canonical_path(url: &Url, data_dir: Option<&str>) -> Result<PathBuf, String> {
    let mut rest = url.rest().to_string();
    if rest.contains("$EARTHSCIDATADIR") || rest.contains("${EARTHSCIDATADIR}") {
        let Some(dir) = data_dir else {
            return Err("EARTHSCIDATADIR is not set, and the URL needs it".into());
        };
        rest = rest.replace("${EARTHSCIDATADIR}", dir).replace("$EARTHSCIDATADIR", dir);
    }
    match rest.find('/') {
        Some(slash) => Ok(rest[slash..].into()),
        None => Err("the URL has no path; write file:///path".into()),
    }
}

impl Transport for Local {
    fn download(&self, ask: &Ask<'_>, staging: &mut Staging) -> Result<Reply, Failure> {
        let path = canonical_path(ask.url, self.data_dir.as_deref()).map_err(Failure::Unknown)?;
        let fault = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => Failure::Absent(format!("there is no file {}", path.display())),
            _ => Failure::Unknown(Error::io(&path, e).to_string()),
        };
        // Asked before the file is opened: opening a pipe would wait for someone to write into it.
        let before = std::fs::metadata(&path).map_err(fault)?;
        if !before.is_file() {
            return Err(Failure::Absent(format!("{} is not a regular file", path.display())));
        }
        let mut file = File::open(&path).map_err(fault)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => staging.write(&buffer[..n])?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(fault(e)),
            }
        }
        let after = file.metadata().map_err(fault)?;
        let stamp = |meta: &std::fs::Metadata| (meta.len(), meta.modified().ok());
        if staging.len() != before.len() || stamp(&before) != stamp(&after) {
            return Err(Failure::Unknown(format!("{} changed while it was copied; ask again", path.display())));
        }
        Ok(Reply::Body(Validators::default()))
    }
}
