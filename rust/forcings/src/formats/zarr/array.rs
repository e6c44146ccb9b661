//! The chunks of one array, as the chunk path asks for them.

use super::chain::Chain;
use super::keys::KeyEncoding;
use super::metadata::Metadata;
use super::objects::{Found, Objects};
use super::shard::{Index, ShardFormat};
use crate::chunks::{
    ByteSource, ChunkObject, ChunkObjects, ChunkSite, Fetched, FileSource, ObjectScratch, Part, StoredChunks,
};
use crate::Result;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An array, as far as its objects go.
pub(super) struct Array {
    objects: Arc<Objects>,
    name: String,
    keys: KeyEncoding,
    chunks_per_object: Vec<u64>,
    encoding: Arc<Encoding>,
}

/// How an object holds chunks.
struct Encoding {
    chain: Chain,
    shards: Option<ShardFormat>,
}

/// One object. Only its place is kept, so that a read of many does not hold as many files open.
struct Object {
    name: PathBuf,
    file: Found,
    encoding: Arc<Encoding>,
    /// Of a shard, once it was read.
    index: Mutex<Option<Arc<Index>>>,
}

impl Array {
    /// The chunks of the array of this name.
    pub(super) fn chunks(objects: Arc<Objects>, name: &str, metadata: Metadata) -> StoredChunks {
        let Metadata { chunk_shape, order, keys, chain, shards, .. } = metadata;
        let chunks_per_object = shards.as_ref().map_or(vec![1; order.len()], ShardFormat::chunks_per_object);
        let encoding = Arc::new(Encoding { chain, shards });
        let array = Array { objects, name: name.into(), keys, chunks_per_object, encoding };
        StoredChunks { chunk_shape, order, objects: Arc::new(array) }
    }

    fn key(&self, object: &[u64]) -> String {
        format!("{}/{}", self.name, self.keys.key(object))
    }
}

impl ChunkObjects for Array {
    fn chunks_per_object(&self) -> &[u64] {
        &self.chunks_per_object
    }

    fn fetchers(&self) -> usize {
        self.objects.fetchers()
    }

    fn is_at_hand(&self, object: &[u64]) -> bool {
        self.objects.is_at_hand(&self.key(object))
    }

    fn fetch(&self, object: &[u64]) -> Result<Fetched> {
        let key = self.key(object);
        let Some(file) = self.objects.find(&key)? else { return Ok(None) };
        let (name, encoding) = (self.objects.name(&key), self.encoding.clone());
        Ok(Some(Arc::new(Object { name, file, encoding, index: Mutex::new(None) })))
    }
}

impl Object {
    /// The file, if it is as long as when it was found.
    fn open(&self, site: &ChunkSite) -> Result<FileSource> {
        let source = FileSource::open(&self.file.path)?;
        if source.len() != self.file.len {
            return Err(site.damaged("the object changed while it was read"));
        }
        Ok(source)
    }
}

impl ChunkObject for Object {
    fn name(&self) -> &Path {
        &self.name
    }

    fn find(&self, within: &[u64], len: usize, site: &ChunkSite) -> Result<Option<Part>> {
        let Encoding { chain, shards } = &*self.encoding;
        let part = match shards {
            None => Some(Part { offset: 0, len: self.file.len }),
            Some(shards) => {
                let mut known = self.index.lock();
                let index = match &*known {
                    Some(index) => index.clone(),
                    None => known.insert(Arc::new(shards.read_index(&self.open(site)?, site)?)).clone(),
                };
                drop(known);
                shards.find(&index, within, site)?
            }
        };
        part.map(|part| chain.check(part.len, len, site).map(|()| part)).transpose()
    }

    fn decode(&self, part: Part, out: &mut [u8], scratch: &mut ObjectScratch, site: &ChunkSite) -> Result<()> {
        self.encoding.chain.decode(&self.open(site)?, part, out, scratch, site)
    }
}
