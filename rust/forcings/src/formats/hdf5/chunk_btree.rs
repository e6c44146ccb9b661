//! Version 1 B-trees of chunks: the index of nearly every file, walked once into the table.

use super::chunk_table::TableBuilder;
use super::cursor::Fields;
use crate::Result;
use hdf5_reader::Storage;
use std::collections::HashSet;

/// Children of a node that one read should hold: libraries write nodes of 64.
const USUAL_CHILDREN: usize = 64;

/// Enters every chunk of the tree whose root is at `root`.
///
/// # Errors
/// `Format` when the tree is damaged or one of its entries is refused.
pub(super) fn collect(table: &mut TableBuilder, root: u64) -> Result<()> {
    let chunking = table.chunking;
    let file = chunking.file;
    let rank = chunking.shape.len();
    let address_size = usize::from(file.offset_size);
    let head_size = 8 + 2 * address_size;
    // A key: stored bytes, filter mask, the first element of the chunk, and a zero for the bytes inside an element.
    let key_size = 8 + 8 * (rank + 1);
    let child_size = key_size + address_size;
    let node_size = |children: usize| (head_size + children * child_size + key_size) as u64;

    // No file holds more keys than this; crafted nodes that overlap could.
    let mut budget = Storage::len(file) / child_size as u64 + 1;
    let mut seen = HashSet::new();
    let mut pending: Vec<(u64, Option<u8>)> = vec![(root, None)];
    let mut offsets = vec![0; rank];
    while let Some((address, expected)) = pending.pop() {
        let damaged = |detail: &str| chunking.damaged(format!("node at {address} of its chunk index: {detail}"));
        if !seen.insert(address) {
            return Err(damaged("it is reached twice"));
        }
        let mut node = file.read_up_to(address, node_size(USUAL_CHILDREN), "chunk index")?;
        let head = (|| {
            let mut fields = Fields(node.strip_prefix(b"TREE")?);
            let head = (fields.u8()?, fields.u8()?, fields.u16()?);
            fields.take(2 * address_size).map(|_| head)
        })();
        let Some((1, level, children)) = head else {
            return Err(damaged("it is no node of a chunk index"));
        };
        if expected.is_some_and(|expected| expected != level) {
            return Err(damaged("its level does not follow from its parent's"));
        }
        budget = budget.checked_sub(children.into()).ok_or_else(|| damaged("nodes overlap"))?;
        let size = node_size(children.into());
        if (node.len() as u64) < size {
            node = file.read(address, size, "chunk index")?;
        }
        let mut fields = Fields(&node[head_size..]);
        for _ in 0..children {
            let key = (|| {
                let key = (fields.u32()?, fields.u32()?);
                for offset in &mut offsets {
                    *offset = fields.uint(8)?;
                }
                fields.take(8)?;
                Some((key, fields.uint(address_size)?))
            })();
            let Some(((stored, filter_mask), child)) = key else {
                return Err(damaged("it is cut short"));
            };
            match level.checked_sub(1) {
                Some(below) => pending.push((child, Some(below))),
                None => table.put(&offsets, child, stored.into(), filter_mask)?,
            }
        }
    }
    Ok(())
}
