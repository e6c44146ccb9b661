//! Credentials by realm: which hosts get which header. No text of this crate ever holds their values.

use super::url::{authority, host, split_scheme};
use crate::{Error, Result};
use std::fmt;
use std::path::PathBuf;

/// Where the Climate Data Store is unless `CDSAPI_URL` says otherwise.
const CDS_URL: &str = "https://cds.climate.copernicus.eu/api";

/// A header for the servers of one realm. Its value is sent to the realm's hosts only, over TLS (or to this machine), and
/// shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    realm: String,
    header: String,
    value: String,
    hosts: Vec<String>,
}

impl Credential {
    /// A bearer token for the given hosts.
    ///
    /// # Errors
    /// `InvalidParameter` as [`header`](Self::header).
    pub fn bearer(realm: impl Into<String>, token: &str, hosts: &[&str]) -> Result<Self> {
        Credential::header(realm, "Authorization", format!("Bearer {token}"), hosts)
    }

    /// Any header for the given hosts.
    ///
    /// # Errors
    /// `InvalidParameter` for a name or value that no header can have, and without a host. The value is not in the text.
    pub fn header(
        realm: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<String>,
        hosts: &[&str],
    ) -> Result<Self> {
        let (realm, header, value) = (realm.into(), name.into(), value.into());
        if header.is_empty() || !header.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(Error::invalid(format!("\"{header}\" is not the name of a header (realm \"{realm}\")")));
        }
        if value.is_empty() || !value.bytes().all(|b| (b' '..=b'~').contains(&b)) {
            return Err(Error::invalid(format!(
                "the credential of realm \"{realm}\" is empty or holds bytes that a header cannot"
            )));
        }
        if hosts.is_empty() {
            return Err(Error::invalid(format!("realm \"{realm}\" has no host to send its credential to")));
        }
        let hosts = hosts.iter().map(|h| h.to_ascii_lowercase()).collect();
        Ok(Credential { realm, header, value, hosts })
    }

    /// The name of the realm, which manifests hold.
    pub fn realm(&self) -> &str {
        &self.realm
    }

    /// Whether a host belongs to the realm.
    pub(super) fn covers(&self, host: &str) -> bool {
        self.hosts.iter().any(|h| h == host)
    }

    pub(super) fn hosts(&self) -> String {
        self.hosts.join(", ")
    }

    pub(super) fn header_name(&self) -> &str {
        &self.header
    }

    /// For the request alone.
    pub(super) fn reveal(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("realm", &self.realm)
            .field("header", &self.header)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// The credentials that a cache knows: those given to it, and the realm `cds` from the environment.
#[derive(Debug, Clone, Default)]
pub(super) struct Credentials {
    pub(super) given: Vec<Credential>,
    pub(super) cds: CdsSettings,
}

/// Where the key of the Climate Data Store is.
#[derive(Clone, Default)]
pub(super) struct CdsSettings {
    pub(super) key: Option<String>,
    pub(super) url: Option<String>,
    /// `~/.cdsapirc`, read when the realm is first asked for and the environment has no key.
    pub(super) file: Option<PathBuf>,
}

impl fmt::Debug for CdsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CdsSettings").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Credentials {
    /// # Errors
    /// `InvalidParameter` for a realm that is not known, or has no credential.
    pub(super) fn of_realm(&self, realm: &str) -> Result<Credential> {
        if let Some(given) = self.given.iter().find(|c| c.realm == realm) {
            return Ok(given.clone());
        }
        if realm == "cds" {
            return self.cds.credential();
        }
        let mut known: Vec<&str> = self.given.iter().map(Credential::realm).collect();
        known.push("cds");
        Err(Error::invalid(format!("there is no realm \"{realm}\"; known are {}", known.join(", "))))
    }
}

impl CdsSettings {
    fn credential(&self) -> Result<Credential> {
        let text = match (&self.key, &self.file) {
            (None, Some(file)) => std::fs::read_to_string(file).unwrap_or_default(),
            _ => String::new(),
        };
        // Lines like `key: value`.
        let setting = |name: &str| {
            let value =
                |line: &str| Some(line.trim().strip_prefix(name)?.trim_start().strip_prefix(':')?.trim().to_string());
            text.lines().find_map(value).filter(|v| !v.is_empty())
        };
        let Some(key) = self.key.clone().or_else(|| setting("key")) else {
            return Err(Error::invalid("the realm \"cds\" has no key; set CDSAPI_KEY, or write one to ~/.cdsapirc"));
        };
        let url = self.url.clone().or_else(|| setting("url")).unwrap_or_else(|| CDS_URL.into());
        let host = host(authority(split_scheme(&url).map_or("", |(_, rest)| rest)));
        Credential::header("cds", "PRIVATE-TOKEN", key, &[&host])
    }
}
