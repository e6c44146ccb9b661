//! The cache itself: a stored copy if one will do, else one download, whoever asks.

use super::credentials::{Credential, Credentials};
use super::digest::DigestMemo;
use super::key::CacheKey;
use super::layout::Layout;
use super::lock::Locks;
use super::manifest::Manifest;
use super::options::CacheOptions;
use super::permits::{Permit, Permits};
use super::request::{judge, Entry, Origin, Request, Verdict};
use super::staging::Staging;
use super::transport::{canonical_path, Ask, Failure, Reply, Transports, Validators};
use super::url::{authority, host, Url};
use crate::time::UnixMillis;
use crate::{Error, Result};
use std::io::{ErrorKind::NotFound, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A manifest is a few hundred bytes and a URL.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// A disk cache of remote files. A clone is the same cache; threads and processes share a root.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

pub(super) struct Inner {
    pub(super) layout: Layout,
    pub(super) offline: bool,
    pub(super) locks: Locks,
    pub(super) memo: DigestMemo,
    permits: Permits,
    direct_stores: bool,
    verify: bool,
    recheck_files: bool,
    max_file_bytes: u64,
    data_dir: Option<String>,
    credentials: Credentials,
    /// None offline.
    transports: Transports,
}

/// A blob and its manifest, which were checked against each other.
struct Stored {
    path: PathBuf,
    manifest: Manifest,
}

/// A checked request.
struct Asked<'a> {
    request: &'a Request,
    url: Url,
    mirrors: Vec<Url>,
    key: CacheKey,
}

impl<'a> Asked<'a> {
    fn new(request: &'a Request) -> Result<Self> {
        request.check()?;
        let url = Url::parse(&request.url)?;
        let mirrors = request.mirrors.iter().map(|m| Url::parse(m)).collect::<Result<_>>()?;
        Ok(Asked { request, key: CacheKey::of_url(&request.url), url, mirrors })
    }
}

impl Cache {
    /// Opens the cache in a folder; what is not given comes from the environment, see
    /// [`CacheOptions::from_environment`]. Nothing is made before something is stored.
    ///
    /// # Errors
    /// Those of [`CacheOptions::from_environment`] and [`with_options`](Self::with_options).
    pub fn open(dir: Option<&Path>, offline: Option<bool>) -> Result<Self> {
        Cache::with_options(CacheOptions::from_environment(dir, offline)?)
    }

    /// Opens the cache with all its options.
    ///
    /// # Errors
    /// `InvalidParameter` for a root that is not absolute and for a `fetch_concurrency` of 0, `Io` and `Format` for a
    /// file of certificate authorities that cannot be used.
    pub fn with_options(options: CacheOptions) -> Result<Self> {
        if !options.root.is_absolute() {
            let root = options.root.display();
            return Err(Error::invalid(format!("the cache root {root} is not an absolute path")));
        }
        if options.fetch_concurrency == 0 {
            return Err(Error::invalid("fetch_concurrency is 0; at least one object is fetched at a time"));
        }
        let transports = if options.offline { Transports::default() } else { Transports::new(&options)? };
        Ok(Cache(Arc::new(Inner {
            layout: Layout::new(options.root),
            offline: options.offline,
            locks: Locks::default(),
            memo: DigestMemo::default(),
            permits: Permits::new(options.fetch_concurrency),
            direct_stores: options.direct_stores,
            verify: options.verify,
            recheck_files: options.recheck_files,
            max_file_bytes: options.max_file_bytes,
            data_dir: options.data_dir,
            credentials: options.credentials,
            transports,
        })))
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        self.0.layout.root()
    }

    /// Whether nothing is fetched or written.
    pub fn is_offline(&self) -> bool {
        self.0.offline
    }

    /// How many objects of stores are fetched at a time.
    pub(crate) fn fetch_concurrency(&self) -> usize {
        self.0.permits.total()
    }

    /// The right to fetch one object of a store, once it is free. Offline nothing is fetched, and nobody waits.
    pub(crate) fn fetch_permit(&self) -> Option<Permit<'_>> {
        (!self.0.offline).then(|| self.0.permits.acquire())
    }

    /// Whether the environment asks for stores that are read past the cache.
    pub(crate) fn wants_direct_stores(&self) -> bool {
        self.0.direct_stores
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    /// The file of a URL, fetched if need be. Calls of many threads and processes for one URL download it once.
    ///
    /// # Errors
    /// `CacheMiss` offline, for a file that is not there; `InvalidParameter` for what is not a URL or names an unknown
    /// realm; `Integrity` for bytes that do not match their checksum or manifest, and for symbolic links in the root;
    /// `Format` for a damaged manifest; `NotFound` when every source says that there is no such file; `Transport` when
    /// that is not known; `Unsupported` for a scheme that nothing fetches and for files that are too large; `Io`.
    pub fn fetch(&self, request: &Request) -> Result<Entry> {
        let asked = Asked::new(request)?;
        if self.0.offline {
            return self.0.find_offline(&asked);
        }
        if let Some(entry) = self.0.find(&asked, self.0.verify)? {
            return Ok(entry);
        }
        let _lock = self.0.locks.acquire(&self.0.layout, &asked.key)?;
        // Another thread or process may have stored it meanwhile.
        match self.0.find(&asked, self.0.verify)? {
            Some(entry) => Ok(entry),
            None => self.0.download(&asked),
        }
    }

    /// Whether [`fetch`](Self::fetch) finds a stored copy that serves. Its bytes are not looked at.
    pub(crate) fn holds(&self, request: &Request) -> bool {
        Asked::new(request).and_then(|asked| self.0.find(&asked, false)).is_ok_and(|found| found.is_some())
    }

    /// The file of a URL that does not change.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn fetch_url(&self, url: &str) -> Result<Entry> {
        self.fetch(&Request::new(url))
    }
}

impl Inner {
    /// Offline every stored copy serves, old or not; a manifest must fit it.
    fn find_offline(&self, asked: &Asked<'_>) -> Result<Entry> {
        let hit = |path, manifest| Entry { key: asked.key.clone(), path, manifest, origin: Origin::Hit };
        if let Some(Stored { path, manifest }) = self.stored(asked, true)? {
            check_declared(asked.request, &manifest.sha256_content)?;
            return Ok(hit(path, Some(manifest)));
        }
        // A manifest alone is not worth a word: the file is missing.
        let Some(path) = self.layout.find_blob(&asked.key, &asked.url)? else {
            return Err(Error::CacheMiss { url: asked.request.url.clone(), key: asked.key.to_string() });
        };
        if asked.request.sha256.is_some() {
            let (_, found) = self.memo.digest(&path).map_err(|e| Error::io(&path, e))?;
            check_declared(asked.request, &found)?;
        }
        Ok(hit(path, None))
    }

    /// A stored copy that may be served without asking anybody.
    fn find(&self, asked: &Asked<'_>, verify: bool) -> Result<Option<Entry>> {
        let Some(Stored { path, manifest }) = self.stored(asked, verify)? else { return Ok(None) };
        let serves = judge(&manifest, asked.request, UnixMillis::now()) == Verdict::Serve;
        if !serves || self.was_replaced(asked, &manifest) {
            return Ok(None);
        }
        Ok(Some(Entry { key: asked.key.clone(), path, manifest: Some(manifest), origin: Origin::Hit }))
    }

    /// The blob and its manifest; `None` where one of them is missing.
    ///
    /// # Errors
    /// `Integrity` when the length differs, or with `verify` the hash; `Format` for a damaged manifest; `Io`.
    fn stored(&self, asked: &Asked<'_>, verify: bool) -> Result<Option<Stored>> {
        let mut tried = None;
        loop {
            let Some(manifest) = self.manifest(&asked.key)? else { return Ok(None) };
            let Some(path) = self.layout.find_blob(&asked.key, &asked.url)? else { return Ok(None) };
            match self.compare(&path, &manifest, verify) {
                Ok(()) => return Ok(Some(Stored { path, manifest })),
                // Another process may have replaced both between the two looks: then the manifest is another, too.
                Err(error) if tried.as_ref() == Some(&manifest) => return Err(error),
                Err(_) => tried = Some(manifest),
            }
        }
    }

    fn compare(&self, path: &Path, manifest: &Manifest, verify: bool) -> Result<()> {
        let (len, hash) = if verify {
            let (len, hash) = self.memo.digest(path).map_err(|e| Error::io(path, e))?;
            (len, Some(hash))
        } else {
            (std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len(), None)
        };
        let (expected, found) = match hash {
            _ if len != manifest.bytes => (format!("{} bytes", manifest.bytes), format!("{len} bytes")),
            Some(hash) if !manifest.has_hash(&hash) => (manifest.sha256_content.clone(), hash),
            _ => return Ok(()),
        };
        let (path, url) = (path.display(), &manifest.url);
        Err(Error::Integrity(format!(
            "{path}, the cached file of {url}, is not what was stored: expected {expected}, found {found}; remove it to \
             fetch it again"
        )))
    }

    pub(super) fn manifest(&self, key: &CacheKey) -> Result<Option<Manifest>> {
        let path = self.layout.manifest(key);
        if !self.layout.metadata(&path)?.is_some_and(|meta| meta.is_file()) {
            return Ok(None);
        }
        let open = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&path);
        let file = match open {
            Ok(file) => file,
            Err(e) if e.kind() == NotFound => return Ok(None),
            Err(e) => return Err(Error::io(&path, e)),
        };
        let mut bytes = Vec::new();
        file.take(MAX_MANIFEST_BYTES).read_to_end(&mut bytes).map_err(|e| Error::io(&path, e))?;
        Manifest::parse(&bytes, key, &path).map(Some)
    }

    /// Whether the local file that a `file://` copy was made from is another one now. What cannot be looked at says
    /// nothing: the copy is served.
    fn was_replaced(&self, asked: &Asked<'_>, manifest: &Manifest) -> bool {
        if !self.recheck_files || asked.url.scheme() != "file" {
            return false;
        }
        let Ok(source) = canonical_path(&asked.url, self.data_dir.as_deref()) else { return false };
        match std::fs::metadata(&source) {
            Ok(meta) if meta.is_file() => {
                meta.len() != manifest.bytes
                    || self.memo.digest(&source).is_ok_and(|(_, found)| !manifest.has_hash(&found))
            }
            // Asking again gives the real error, unless a mirror may have the file.
            Ok(_) => asked.mirrors.is_empty(),
            Err(e) => e.kind() == NotFound && asked.mirrors.is_empty(),
        }
    }

    /// Fetches from the first source that has the file. The key is locked.
    fn download(&self, asked: &Asked<'_>) -> Result<Entry> {
        if asked.url.is_byte_range() {
            let url = &asked.request.url;
            return Err(Error::Unsupported(format!("{url} is a part of a file; only whole files are fetched")));
        }
        let realm = asked.request.auth_realm.as_deref();
        let credential = realm.map(|realm| self.credentials.of_realm(realm)).transpose()?;
        let mut old = match self.stored(asked, self.verify) {
            Ok(stored) => stored.filter(|s| judge(&s.manifest, asked.request, UnixMillis::now()) == Verdict::AskServer),
            Err(error) => return Err(error),
        };
        let mut failures = Vec::new();
        for (i, url) in std::iter::once(&asked.url).chain(&asked.mirrors).enumerate() {
            loop {
                // Validators mean something to the server that gave them.
                let validators = old.as_ref().filter(|_| i == 0).map_or_else(Validators::default, |old| Validators {
                    etag: old.manifest.etag.clone(),
                    last_modified: old.manifest.last_modified.clone(),
                });
                let covered = |c: &&Credential| i == 0 || c.covers(&host(authority(url.rest())));
                let credential = credential.as_ref().filter(covered);
                let has_checksum = asked.request.sha256.is_some();
                let mut staging = Staging::create(&self.layout, &asked.key, self.max_file_bytes)?;
                let ask = Ask { url, validators, credential, has_checksum };
                match self.transports.download(&ask, &mut staging) {
                    Ok(Reply::Body(validators)) => return self.store(asked, url, staging, validators),
                    Ok(Reply::NotModified(validators)) => match old.take() {
                        Some(old) if old.path.is_file() => return self.renew(asked, old, validators),
                        // It was removed meanwhile: once more, for the whole file.
                        _ => continue,
                    },
                    Err(Failure::Here(error)) => return Err(error),
                    Err(failure) => failures.push(failure),
                }
                break;
            }
        }
        Err(all_failed(asked, failures))
    }

    /// Puts the staged bytes in place, then their manifest.
    fn store(&self, asked: &Asked<'_>, served_by: &Url, staging: Staging, validators: Validators) -> Result<Entry> {
        let (bytes, sha256) = (staging.len(), staging.sha256());
        check_declared(asked.request, &sha256)?;
        let key = &asked.key;
        let path = self.layout.blob(key, served_by.extension().as_deref());
        // Without its manifest an old blob is no hit, so that nobody takes the new one for it.
        remove(&self.layout.manifest(key))?;
        staging.publish(&self.layout, &path)?;
        for other in self.layout.blobs_named(key)?.into_iter().filter(|other| *other != path) {
            remove(&other)?;
        }
        let manifest = Manifest {
            auth_realm: asked.request.auth_realm.clone(),
            etag: validators.etag,
            last_modified: validators.last_modified,
            source_loader: asked.request.source.clone(),
            ..Manifest::new(&asked.request.url, bytes, sha256, UnixMillis::now())
        };
        self.write_manifest(key, &manifest)?;
        Ok(Entry { key: key.clone(), path, manifest: Some(manifest), origin: Origin::Downloaded })
    }

    fn renew(&self, asked: &Asked<'_>, old: Stored, validators: Validators) -> Result<Entry> {
        let Stored { path, mut manifest } = old;
        manifest.renew(UnixMillis::now());
        manifest.etag = validators.etag.or(manifest.etag);
        manifest.last_modified = validators.last_modified.or(manifest.last_modified);
        self.write_manifest(&asked.key, &manifest)?;
        Ok(Entry { key: asked.key.clone(), path, manifest: Some(manifest), origin: Origin::NotModified })
    }

    fn write_manifest(&self, key: &CacheKey, manifest: &Manifest) -> Result<()> {
        let mut staging = Staging::create(&self.layout, key, MAX_MANIFEST_BYTES)?;
        staging.write(&manifest.to_bytes())?;
        staging.publish(&self.layout, &self.layout.manifest(key))
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("root", &self.root()).field("offline", &self.0.offline).finish_non_exhaustive()
    }
}

/// # Errors
/// `Integrity` when the request declares another hash.
fn check_declared(request: &Request, found: &str) -> Result<()> {
    match &request.sha256 {
        Some(declared) if !declared.eq_ignore_ascii_case(found) => Err(Error::Integrity(format!(
            "{} does not have the declared checksum: expected SHA-256 {declared}, found {found}",
            request.url
        ))),
        _ => Ok(()),
    }
}

fn all_failed(asked: &Asked<'_>, failures: Vec<Failure>) -> Error {
    let only = failures.len() == 1;
    let absent = failures.iter().all(|f| matches!(f, Failure::Absent(_)));
    let no_transport = failures.iter().all(|f| matches!(f, Failure::NoTransport(_)));
    let text = |(url, failure): (&Url, Failure)| {
        let (Failure::Absent(text) | Failure::Unknown(text) | Failure::NoTransport(text)) = failure else {
            return String::new();
        };
        if only {
            text
        } else {
            format!("{}: {text}", url.as_str())
        }
    };
    let sources = std::iter::once(&asked.url).chain(&asked.mirrors);
    let causes: Vec<String> = sources.zip(failures).map(text).collect();
    let (url, detail) = (asked.request.url.clone(), causes.join("; "));
    let detail = if only { detail } else { format!("all sources failed: {detail}") };
    match (absent, no_transport) {
        (true, _) => Error::NotFound(format!("{url} is not there: {detail}")),
        (_, true) => Error::Unsupported(format!("{url} cannot be fetched: {detail}")),
        _ => Error::Transport { url, detail },
    }
}

pub(super) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != NotFound => Err(Error::io(path, e)),
        _ => Ok(()),
    }
}
