//! The links of a group: kept in its header, in a fractal heap, or in an old-style symbol table.

use super::cursor::Fields;
use super::header::ObjectHeader;
use super::storage::FileBytes;
use crate::Result;
use hdf5_reader::btree_v2::{self, BTreeV2Record};
use hdf5_reader::fractal_heap::{FractalHeap, FractalHeapDirectBlockCache};
use hdf5_reader::local_heap::LocalHeap;
use hdf5_reader::messages::link_info::LinkInfoMessage;
use hdf5_reader::messages::symbol_table_msg::SymbolTableMessage;
use hdf5_reader::messages::{self, HdfMessage};
use hdf5_reader::symbol_table::SymbolTableNode;
use hdf5_reader::{btree_v1, io};

/// A name in a group.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// The name; bytes that are not UTF-8 are replaced, and then the target is `Broken`.
    pub(super) name: String,
    pub(super) target: Target,
    order: Option<u64>,
}

/// What a name leads to.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// The object at this address.
    Object(u64),
    /// The object at this path.
    Path(String),
    /// Nothing that can be opened; the text says why.
    Broken(String),
}

/// The links of the group whose header this is, in creation order where it is tracked, else by name.
///
/// # Errors
/// `Format` when the structure that holds them is damaged.
pub(super) fn links(file: &FileBytes, header: &ObjectHeader) -> Result<Vec<Link>> {
    let mut found = Vec::new();
    for message in header.messages.iter().filter(|m| m.kind == messages::MSG_LINK) {
        found.push(link(file, &message.body(file)?)?);
    }
    if let Some(HdfMessage::LinkInfo(info)) = header.parsed(file, messages::MSG_LINK_INFO)? {
        if !file.is_undefined(info.fractal_heap_address) {
            dense(file, &info, &mut found)?;
        }
    }
    if let Some(HdfMessage::SymbolTable(table)) = header.parsed(file, messages::MSG_SYMBOL_TABLE)? {
        symbols(file, &table, &mut found)?;
    }
    if found.iter().all(|l| l.order.is_some()) {
        found.sort_by_key(|l| l.order);
    } else {
        found.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(found)
}

fn link(file: &FileBytes, body: &[u8]) -> Result<Link> {
    let mut fields = Fields(body);
    let parsed = (|| {
        let (version, flags) = (fields.u8()?, fields.u8()?);
        let kind = if flags & 0x08 != 0 { fields.u8()? } else { 0 };
        let order = if flags & 0x04 != 0 { Some(fields.uint(8)?) } else { None };
        fields.take(if flags & 0x10 != 0 { 1 } else { 0 })?;
        let length = usize::try_from(fields.uint(1 << (flags & 3))?).ok()?;
        let name = fields.take(length)?;
        let target = match kind {
            0 => Target::Object(fields.uint(file.offset_size.into())?),
            1 => {
                let length = fields.u16()?;
                soft(fields.take(length.into())?)
            }
            64 => Target::Broken("it is a link to another file".into()),
            other => Target::Broken(format!("it is a link of the unknown kind {other}")),
        };
        (version == 1).then(|| named(name, target, order))
    })();
    parsed.ok_or_else(|| file.damaged("a link of a group is damaged"))
}

fn soft(path: &[u8]) -> Target {
    match std::str::from_utf8(path) {
        Ok(path) => Target::Path(path.trim_end_matches('\0').to_string()),
        Err(_) => Target::Broken("the path of its link is not UTF-8".into()),
    }
}

fn named(name: &[u8], target: Target, order: Option<u64>) -> Link {
    match std::str::from_utf8(name) {
        Ok(name) => Link { name: name.to_string(), target, order },
        Err(_) => Link {
            name: String::from_utf8_lossy(name).into_owned(),
            target: Target::Broken("its name is not UTF-8".into()),
            order,
        },
    }
}

fn dense(file: &FileBytes, info: &LinkInfoMessage, found: &mut Vec<Link>) -> Result<()> {
    for object in dense_objects(file, info.fractal_heap_address, info.btree_name_index_address, "links of a group")? {
        found.push(link(file, &object.body)?);
    }
    Ok(())
}

/// One message kept outside a header.
pub(super) struct DenseObject {
    /// The creation index, where the index gives one.
    pub(super) order: Option<u32>,
    /// The body of the message.
    pub(super) body: Vec<u8>,
}

/// The messages of a fractal heap that the B-tree at `index` lists.
///
/// # Errors
/// `Format` when either is damaged, `Unsupported` when a message is kept in a shared message heap.
pub(super) fn dense_objects(file: &FileBytes, heap: u64, index: u64, what: &str) -> Result<Vec<DenseObject>> {
    let (o, l) = (file.offset_size, file.length_size);
    let failed = |e| file.error(what, e);
    let heap = FractalHeap::parse_at_storage(file, heap, o, l).map_err(failed)?;
    let header = btree_v2::BTreeV2Header::parse_at_storage(file, index, o, l).map_err(failed)?;
    let records = btree_v2::collect_btree_v2_records_storage(file, &header, o, l, None, &[], None).map_err(failed)?;
    let mut blocks = FractalHeapDirectBlockCache::default();
    let mut found = Vec::new();
    for record in &records {
        let (id, order) = match record {
            BTreeV2Record::LinkNameHash { heap_id, .. } => (heap_id, None),
            BTreeV2Record::AttributeNameHash { heap_id, flags, creation_order, .. } if flags & 0x02 == 0 => {
                (heap_id, Some(*creation_order))
            }
            BTreeV2Record::AttributeNameHash { .. } => {
                return Err(crate::Error::Unsupported(format!(
                    "{}: {what}: one is kept in a shared message heap; rewrite the file with h5repack",
                    file.source().path().display()
                )))
            }
            _ => return Err(file.damaged(format!("{what}: their index holds other records"))),
        };
        let body = heap.get_object_storage_cached(id, file, o, l, &mut blocks).map_err(failed)?;
        found.push(DenseObject { order, body });
    }
    Ok(found)
}

fn symbols(file: &FileBytes, table: &SymbolTableMessage, found: &mut Vec<Link>) -> Result<()> {
    let what = "symbol table of a group";
    let (o, l) = (file.offset_size, file.length_size);
    let failed = |e| file.error(what, e);
    let heap = LocalHeap::parse_at_storage(file, table.heap_address, o, l).map_err(failed)?;
    let names = file.read(heap.data_segment_address, heap.data_segment_size, what)?;
    let text = |offset: u64| {
        let rest = usize::try_from(offset).ok().and_then(|at| names.get(at..))?;
        rest.iter().position(|b| *b == 0).map(|end| &rest[..end])
    };
    let nodes =
        btree_v1::collect_btree_v1_leaves_storage(file, table.btree_address, o, l, None, &[], None).map_err(failed)?;
    for (_, address) in nodes {
        let head = file.read(address, 8, what)?;
        let entries = u64::from(u16::from_le_bytes([head[6], head[7]]));
        let node = file.read(address, 8 + entries * (2 * u64::from(o) + 24), what)?;
        let node = SymbolTableNode::parse(&mut io::Cursor::new(&node), o, l).map_err(failed)?;
        for entry in node.entries {
            let target = match entry.cache_type {
                2 => {
                    let at = u32::from_le_bytes([0, 1, 2, 3].map(|i| entry.scratch[i]));
                    text(at.into()).map(soft)
                }
                _ => Some(Target::Object(entry.object_header_address)),
            };
            match (text(entry.link_name_offset), target) {
                (Some(name), Some(target)) => found.push(named(name, target, None)),
                _ => return Err(file.damaged(format!("{what}: a name lies outside its heap"))),
            }
        }
    }
    Ok(())
}

/// Whether the header is that of a group.
pub(super) fn is_group(header: &ObjectHeader) -> bool {
    header.has(messages::MSG_SYMBOL_TABLE) || header.has(messages::MSG_LINK_INFO) || header.has(messages::MSG_LINK)
}
