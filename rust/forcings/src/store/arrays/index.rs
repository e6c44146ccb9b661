//! What the array file holds, by content hash and by pool.

use super::packed::{Column, PackedDataset};
use super::pool::PoolKey;
use crate::array::{ArrayHash, DType};
use crate::chunks::Layout;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// An array that is a variable of its own.
#[derive(Debug)]
pub(crate) struct Standalone {
    /// Its name in the array file.
    pub(crate) name: String,
    /// The type of the elements.
    pub(crate) dtype: DType,
    /// The extents.
    pub(crate) shape: Vec<u64>,
    /// Where the elements lie.
    pub(crate) layout: Layout,
    pub(super) fill: Option<Vec<u8>>,
}

/// Where an array is.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// As a column of a dataset.
    Packed(Column),
    /// As a variable of its own.
    Standalone(Arc<Standalone>),
}

/// Every array and every dataset of the file. Each hash has one place.
#[derive(Debug)]
pub(super) struct Index {
    /// Another number whenever an array may have left its place; no two indexes ever have the same.
    stamp: u64,
    places: HashMap<ArrayHash, Place>,
    /// Every array that is a variable of its own, removed ones included: the variable stays in the file.
    standalone: HashMap<ArrayHash, Arc<Standalone>>,
    pools: HashMap<PoolKey, Vec<Arc<PackedDataset>>>,
}

/// The number of the next stamp.
static NEXT_STAMP: AtomicU64 = AtomicU64::new(0);

fn next_stamp() -> u64 {
    NEXT_STAMP.fetch_add(1, Ordering::Relaxed)
}

impl Default for Index {
    fn default() -> Self {
        Index { stamp: next_stamp(), places: HashMap::new(), standalone: HashMap::new(), pools: HashMap::new() }
    }
}

impl Index {
    /// Changes when an array may have left its place, and when another index takes the place of this one.
    pub(super) fn stamp(&self) -> u64 {
        self.stamp
    }

    pub(super) fn place(&self, hash: &ArrayHash) -> Option<&Place> {
        self.places.get(hash)
    }

    #[cfg(test)]
    pub(super) fn hashes(&self) -> impl Iterator<Item = &ArrayHash> {
        self.places.keys()
    }

    /// The datasets of a pool, by name.
    pub(super) fn pool(&self, pool: &PoolKey) -> &[Arc<PackedDataset>] {
        self.pools.get(pool).map_or(&[], Vec::as_slice)
    }

    /// Every array and its place.
    pub(super) fn places(&self) -> impl Iterator<Item = (&ArrayHash, &Place)> {
        self.places.iter()
    }

    /// Every packed dataset.
    pub(super) fn datasets(&self) -> impl Iterator<Item = &Arc<PackedDataset>> {
        self.pools.values().flatten()
    }

    /// Enters a place; a hash that has one already keeps it.
    pub(super) fn insert(&mut self, hash: ArrayHash, place: Place) {
        self.places.entry(hash).or_insert(place);
    }

    /// Enters an array that is a variable of its own.
    pub(super) fn add_standalone(&mut self, hash: ArrayHash, array: Arc<Standalone>) {
        self.standalone.insert(hash, array.clone());
        self.insert(hash, Place::Standalone(array));
    }

    /// Finds an array again that was forgotten, if the file still has its variable.
    pub(super) fn restore(&mut self, hash: &ArrayHash) -> bool {
        let Some(array) = self.standalone.get(hash).cloned() else { return false };
        self.insert(*hash, Place::Standalone(array));
        true
    }

    pub(super) fn forget(&mut self, hash: &ArrayHash) {
        self.places.remove(hash);
        self.stamp = next_stamp();
    }

    /// Enters a dataset and the arrays that it holds now.
    pub(super) fn add(&mut self, dataset: Arc<PackedDataset>) {
        for (column, hash) in dataset.state.read().hashes.iter().enumerate() {
            if let Some(hash) = hash {
                self.insert(*hash, Place::Packed(Column { dataset: dataset.clone(), column }));
            }
        }
        let pool = self.pools.entry(dataset.pool.clone()).or_default();
        let at = pool.partition_point(|other| other.name < dataset.name);
        pool.insert(at, dataset);
    }

    /// A name for the next dataset of a pool: that of the pool, or with the number of its datasets behind it. `planned`
    /// are the names of those that are not entered yet.
    pub(super) fn next_name(&self, pool: &PoolKey, planned: &[String]) -> String {
        let base = pool.base_name();
        let present = self.pool(pool);
        match present.len() + planned.len() {
            0 => base,
            count => (count..)
                .map(|k| format!("{base}__{k}"))
                .find(|name| present.iter().all(|dataset| dataset.name != *name) && !planned.contains(name))
                .expect("names are finite, numbers are not"),
        }
    }
}
