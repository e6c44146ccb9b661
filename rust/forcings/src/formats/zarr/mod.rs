//! Zarr, versions 2 and 3: a store of many objects, of which only those are touched that a read needs. A store is never
//! listed, so the arrays to read are named when it is opened. Numbers are read as they are stored: no attribute changes
//! them, no array is another's coordinate, and cells that were never written hold the fill value.

mod array;
mod attributes;
mod chain;
mod checksum;
mod codecs;
mod element;
mod half;
mod json;
mod keys;
mod metadata;
mod objects;
mod shard;

pub(crate) use keys::check_names;
pub use objects::Objects;

use super::{Attribute, Container, Conventions, Dimension, Variable};
use crate::chunks::{ByteSource, Layout, MemorySource};
use crate::{Error, Result};
use array::Array;
use std::sync::Arc;

/// Some arrays of a store.
pub struct ZarrStore {
    objects: Arc<Objects>,
    /// One for each axis of each array: arrays share names, not dimensions.
    dimensions: Vec<Dimension>,
    variables: Vec<Variable>,
    layouts: Vec<Arc<Layout>>,
    documents: Vec<metadata::Document>,
    /// No bytes; it lends its name to error texts.
    source: Arc<dyn ByteSource>,
}

impl ZarrStore {
    /// Reads the metadata of these arrays of a store, and nothing else. A name may be a path, as `group/array`.
    ///
    /// # Errors
    /// `InvalidParameter` for no names or one that leads out of the store, `NotFound` for an array that is not there (or
    /// `CacheMiss` offline), `Format` for damaged metadata, `Unsupported` for a type or a codec that is not read; those
    /// of fetching.
    pub fn open(objects: Objects, arrays: &[String]) -> Result<Self> {
        keys::check_names(arrays, !objects.are_local())?;
        let objects = Arc::new(objects);
        let mut store = ZarrStore {
            source: Arc::new(MemorySource::new(objects.root(), Vec::new())),
            objects: objects.clone(),
            dimensions: Vec::new(),
            variables: Vec::new(),
            layouts: Vec::new(),
            documents: Vec::new(),
        };
        for name in arrays {
            if store.variables.iter().all(|v| v.name != *name) {
                let (metadata, documents) = metadata::read(&objects, name)?;
                store.documents.extend(documents);
                store.add(name, metadata);
            }
        }
        Ok(store)
    }

    fn add(&mut self, name: &str, metadata: metadata::Metadata) {
        let first = self.dimensions.len();
        let dimension = |(name, len): (&String, &u64)| Dimension { name: name.clone(), len: *len, unlimited: false };
        self.dimensions.extend(metadata.dims.iter().zip(&metadata.shape).map(dimension));
        self.variables.push(Variable {
            name: name.into(),
            dimensions: (first..self.dimensions.len()).collect(),
            shape: metadata.shape.clone(),
            element: metadata.element.kind(),
            attributes: metadata.attributes.clone(),
            fill: Some(metadata.fill.clone()),
            problem: None,
        });
        self.layouts.push(Arc::new(Layout::Stored(Array::chunks(self.objects.clone(), name, metadata))));
    }
}

/// Checks the text of a `.zarray` or a `zarr.json` by the rules by which an array is opened.
///
/// # Errors
/// `Format` when it is damaged, `Unsupported` for a type or a codec that is not read.
pub fn check_metadata(text: &[u8]) -> Result<()> {
    metadata::check(text).map_err(|fault| match fault {
        json::Fault::Damaged(detail) => Error::format("metadata", detail),
        json::Fault::Unsupported(detail) => Error::Unsupported(format!("metadata: {detail}")),
    })
}

impl Container for ZarrStore {
    fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn attributes(&self) -> &[Attribute] {
        &[]
    }

    fn layout(&self, variable: usize) -> Result<Arc<Layout>> {
        let layout = self.layouts.get(variable).cloned();
        layout.ok_or_else(|| Error::invalid(format!("there is no variable number {variable}")))
    }

    fn strings(&self, variable: usize) -> Result<Vec<Vec<u8>>> {
        Err(Error::Unsupported(format!("{}: array number {variable} has no strings", self.source.path().display())))
    }

    fn source(&self) -> &Arc<dyn ByteSource> {
        &self.source
    }

    fn conventions(&self) -> Conventions {
        Conventions::Plain
    }

    /// Only local metadata is looked at; what a cache holds of a URL stays as it is.
    fn check_unchanged(&self) -> Result<()> {
        self.documents.iter().try_for_each(|document| document.check_unchanged(&self.objects))
    }
}
