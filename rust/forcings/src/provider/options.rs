//! What a provider is made of, and the rules that need no file to be checked.

use crate::cache::{is_url, Cache};
use crate::dataset::{DecodeOptions, FloatType, Selection};
use crate::formats::zarr;
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// The parts of a [`Provider`](super::Provider) over files.
#[derive(Debug, Clone)]
pub struct ProviderOptions {
    /// The files. With a time axis of their own their order does not matter; without one, records are counted through
    /// them in this order.
    ///
    /// They may be URLs, which are fetched when a sample needs them: then there is one for each of `times` (the same for
    /// times that share a file), or one for all.
    pub files: Vec<PathBuf>,
    /// Where URLs are fetched into.
    pub cache: Option<Cache>,
    /// The realm whose credential the servers of the URLs want.
    pub auth_realm: Option<String>,
    /// The name of the source, by which the cache's files of it can be cleared.
    pub name: Option<String>,
    /// The format: `netcdf` (classic, 64-bit and NetCDF-4, told apart by content), or `zarr`. Then each of `files` is a
    /// store, a folder or a URL; `variables` names its arrays, since it is never listed; and a URL without `times` is of
    /// constant data.
    pub format: String,
    /// How the objects of a Zarr store are had: `cached`, or `direct`, which this build does not have.
    pub store_access: Option<String>,
    /// The group to read; the root group if there is none.
    pub group: Option<String>,
    /// The times of the records, strictly ascending, in a unit of the caller's own; it is never changed. Without them,
    /// the times are those of the files' CF time axis, in Unix seconds counted in the calendar of the data.
    pub times: Option<Vec<f64>>,
    /// The dimension along which records lie; the one with CF time units if there is none.
    pub time_dim: Option<String>,
    /// The data variables to decode; empty for all of them.
    pub variables: Vec<String>,
    /// A selection that every sample is read under.
    pub select: Option<Selection>,
    /// Records in one sample: 1, or 2 for a bracket of the record in force and the one of the next refresh time.
    pub records_per_sample: usize,
    /// The type of data variables that are floating-point numbers.
    pub eltype: FloatType,
    /// Threads that share the chunks of a large sample. The workers of a prefetch group already decode in
    /// parallel, so 1 is right there.
    pub threads: usize,
}

impl Default for ProviderOptions {
    fn default() -> Self {
        ProviderOptions {
            files: Vec::new(),
            cache: None,
            auth_realm: None,
            name: None,
            format: "netcdf".into(),
            store_access: None,
            group: None,
            times: None,
            time_dim: None,
            variables: Vec::new(),
            select: None,
            records_per_sample: 1,
            eltype: FloatType::F64,
            threads: 1,
        }
    }
}

impl ProviderOptions {
    /// All of these files, by their own time axis.
    pub fn of_files<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Self {
        ProviderOptions { files: files.into_iter().map(Into::into).collect(), ..ProviderOptions::default() }
    }

    /// How every sample is decoded.
    pub(super) fn decode_options(&self) -> DecodeOptions {
        DecodeOptions { threads: self.threads, eltype: self.eltype }
    }

    /// Whether any of the files is a URL.
    pub(super) fn is_remote(&self) -> bool {
        self.files.iter().any(|file| url_of(file).is_some())
    }

    fn is_zarr(&self) -> bool {
        self.format == "zarr"
    }

    /// The arrays to read, of a store.
    pub(super) fn arrays(&self) -> Option<Vec<String>> {
        self.is_zarr().then(|| self.variables.clone())
    }

    fn check_store(&self) -> Result<()> {
        zarr::check_names(&self.variables, self.is_remote())?;
        if self.group.is_some() {
            return Err(Error::invalid(
                "group is not for the format \"zarr\"; name the arrays by their paths, as group/array",
            ));
        }
        if self.times.is_none() && (self.time_dim.is_some() || self.records_per_sample == 2) {
            return Err(Error::invalid("the records of a Zarr store do not tell their times; give times"));
        }
        let direct = match self.store_access.as_deref() {
            None => self.is_remote() && self.cache.as_ref().is_some_and(Cache::wants_direct_stores),
            Some("cached") => false,
            Some("direct") => true,
            Some(other) => {
                return Err(Error::invalid(format!("unknown store_access \"{other}\"; \"cached\" is known")));
            }
        };
        if direct {
            return Err(Error::Unsupported(
                "direct access to stores is not built in; use the store access \"cached\"".into(),
            ));
        }
        Ok(())
    }

    /// Checks what can be checked without a file.
    pub(super) fn check(&self) -> Result<()> {
        if self.files.is_empty() {
            return Err(Error::invalid("a provider needs at least one file"));
        }
        match self.format.as_str() {
            "netcdf" if self.store_access.is_some() => {
                return Err(Error::invalid("store_access is for the format \"zarr\" alone"));
            }
            "netcdf" => {}
            "zarr" => self.check_store()?,
            other => {
                return Err(Error::invalid(format!("unknown format \"{other}\"; \"netcdf\" and \"zarr\" are known")))
            }
        }
        if !(1..=2).contains(&self.records_per_sample) {
            let asked = self.records_per_sample;
            return Err(Error::invalid(format!("records_per_sample is {asked}; a sample has 1 record, or 2")));
        }
        if self.threads == 0 {
            return Err(Error::invalid("threads is 0; at least one thread decodes"));
        }
        if let Some(url) = self.files.iter().find_map(|file| url_of(file)) {
            if self.cache.is_none() {
                return Err(Error::invalid(format!("{url} is a URL; give the provider a cache to fetch it into")));
            }
            if self.times.is_none() && !(self.is_zarr() && self.files.len() == 1) {
                return Err(Error::invalid(format!(
                    "{url} is a URL, and building a provider fetches nothing; give its times"
                )));
            }
        }
        let Some(times) = &self.times else { return Ok(()) };
        if times.is_empty() {
            return Err(Error::invalid("times is empty; leave it out to use the files' own time axis"));
        }
        if let Some(i) = times.iter().position(|t| !t.is_finite()) {
            return Err(Error::invalid(format!("times[{i}] (counted from 0) is {}, not a finite number", times[i])));
        }
        if let Some(i) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(Error::invalid(format!(
                "times must ascend strictly, but {} at position {} (counted from 0) follows {}",
                times[i + 1],
                i + 1,
                times[i]
            )));
        }
        Ok(())
    }
}

/// The URL that stands in the place of a path.
pub(super) fn url_of(file: &Path) -> Option<&str> {
    file.to_str().filter(|text| is_url(text))
}
