//! Parts of many arrays: those of one dataset that take the same rows are read together, so that each chunk is inflated
//! once for all of them.

use super::Wanted;
use crate::array::{Array, ArrayHash};
use crate::store::arrays::index::Place;
use crate::store::arrays::packed::{Column, PackedDataset};
use crate::store::arrays::ArrayFile;
use crate::Result;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What of one array lies in `range` along `axis`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Slab {
    pub(crate) hash: ArrayHash,
    pub(crate) axis: usize,
    pub(crate) range: Range<usize>,
}

impl ArrayFile {
    /// Parts of arrays, in the order of `slabs`, which may repeat.
    ///
    /// # Errors
    /// As [`ArrayFile::read_slab`].
    pub(crate) fn read_slabs(&self, slabs: &[Slab]) -> Result<Vec<Array>> {
        let mut groups: HashMap<(*const PackedDataset, Range<usize>), Wanted> = HashMap::new();
        let mut uses: HashMap<&Slab, usize> = HashMap::new();
        for slab in slabs {
            let known = uses.entry(slab).or_default();
            *known += 1;
            if *known > 1 || slab.axis != 0 {
                continue;
            }
            if let Place::Packed(Column { dataset, column }) = self.place(&slab.hash)? {
                let key = (Arc::as_ptr(&dataset), slab.range.clone());
                let group = groups.entry(key).or_insert_with(|| Wanted { dataset, columns: Vec::new() });
                group.columns.push((column, slab.hash));
            }
        }
        let mut found: HashMap<Slab, Array> = HashMap::new();
        for ((_, range), Wanted { dataset, mut columns }) in groups {
            let state = dataset.state.read();
            columns.retain(|(column, hash)| state.hashes[*column] == Some(*hash));
            columns.sort_unstable_by_key(|(column, _)| *column);
            let arrays = self.read_columns(&dataset, &state, &columns, range.clone())?;
            let slab = |(_, hash): &(usize, ArrayHash)| Slab { hash: *hash, axis: 0, range: range.clone() };
            found.extend(columns.iter().map(slab).zip(arrays));
        }
        let mut take = |slab: &Slab| -> Result<Array> {
            let left = uses.get_mut(slab).expect("counted above");
            *left -= 1;
            if !found.contains_key(slab) {
                // No column, or one that moved between the look-up and the lock.
                found.insert(slab.clone(), self.read_slab(&slab.hash, slab.axis, slab.range.clone())?);
            }
            let array = if *left == 0 { found.remove(slab) } else { found.get(slab).cloned() };
            Ok(array.expect("it was put there"))
        };
        slabs.iter().map(&mut take).collect()
    }
}
