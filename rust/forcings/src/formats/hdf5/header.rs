//! Object headers split into their messages, which stay raw: a message that cannot be understood harms only what asks for
//! it. Follows continuations and shared (committed) messages.

use super::cursor::Fields;
use super::storage::FileBytes;
use crate::Result;
use hdf5_reader::checksum::jenkins_lookup3;
use hdf5_reader::messages::{self, HdfMessage};
use std::collections::HashSet;

const CONTINUATION: u16 = 0x0010;
const SHARED: u8 = 0x02;

/// The most bytes of one header, and the most blocks.
const MAX_HEADER_BYTES: u64 = 64 << 20;
const MAX_BLOCKS: usize = 1024;
/// One read that holds the whole of nearly every header.
const FIRST_READ: u64 = 512;

/// One message as stored.
pub(super) struct RawMessage {
    /// Its type number.
    pub(super) kind: u16,
    flags: u8,
    /// The creation index, where the header tracks it.
    pub(super) order: Option<u16>,
    /// Its body.
    pub(super) data: Vec<u8>,
}

/// All messages of one object.
pub(super) struct ObjectHeader {
    pub(super) messages: Vec<RawMessage>,
}

impl ObjectHeader {
    /// Reads the header at `address`.
    ///
    /// # Errors
    /// `Format` when there is no header, its checksum is wrong, or its blocks run in a circle or out of the file.
    pub(super) fn read(file: &FileBytes, address: u64) -> Result<Self> {
        let what = format!("object header at {address}");
        let start = file.read_up_to(address, FIRST_READ, &what)?;
        let mut reader = HeaderReader { file, what, messages: Vec::new(), blocks: Vec::new() };
        if start.starts_with(b"OHDR") {
            reader.version_2(address, &start)?;
        } else {
            reader.version_1(address, &start)?;
        }
        Ok(ObjectHeader { messages: reader.messages })
    }

    /// The body of the first message of this type, from where it is shared if it is; `None` if there is none.
    ///
    /// # Errors
    /// `Format` or `Unsupported` when a shared body cannot be had.
    pub(super) fn find(&self, file: &FileBytes, kind: u16) -> Result<Option<Vec<u8>>> {
        match self.messages.iter().find(|m| m.kind == kind) {
            None => Ok(None),
            Some(message) => message.body(file).map(Some),
        }
    }

    /// [`ObjectHeader::find`], parsed.
    ///
    /// # Errors
    /// As `find`, and when the body is damaged.
    pub(super) fn parsed(&self, file: &FileBytes, kind: u16) -> Result<Option<HdfMessage>> {
        self.find(file, kind)?.map(|body| parse(file, kind, &body)).transpose()
    }

    /// Whether a message of this type is there.
    pub(super) fn has(&self, kind: u16) -> bool {
        self.messages.iter().any(|m| m.kind == kind)
    }
}

impl RawMessage {
    /// The body, from where it is shared if it is.
    ///
    /// # Errors
    /// As [`ObjectHeader::find`].
    pub(super) fn body(&self, file: &FileBytes) -> Result<Vec<u8>> {
        if self.flags & SHARED == 0 {
            return Ok(self.data.clone());
        }
        shared_body(file, self.kind, &self.data)
    }
}

/// The body of a message that `reference` says is kept elsewhere.
///
/// # Errors
/// `Format` when it is not there, `Unsupported` when it is in a shared message heap.
pub(super) fn shared_body(file: &FileBytes, kind: u16, reference: &[u8]) -> Result<Vec<u8>> {
    let address = shared_address(file, kind, reference)?;
    let target = ObjectHeader::read(file, address)?;
    match target.messages.into_iter().find(|m| m.kind == kind && m.flags & SHARED == 0) {
        Some(message) => Ok(message.data),
        None => Err(file.damaged(format!("the object at {address} has no shared message of type {kind}"))),
    }
}

fn shared_address(file: &FileBytes, kind: u16, reference: &[u8]) -> Result<u64> {
    let mut fields = Fields(reference);
    let (version, class) = (fields.u8(), fields.u8());
    if version == Some(1) {
        fields.take(6);
    }
    if version == Some(3) && class == Some(1) {
        return Err(crate::Error::Unsupported(format!(
            "{}: a message of type {kind} is kept in a shared message heap; rewrite the file with h5repack",
            file.source().path().display()
        )));
    }
    match (version, fields.uint(file.offset_size.into())) {
        (Some(1..=3), Some(address)) => Ok(address),
        _ => Err(file.damaged(format!("a reference to a shared message of type {kind} is damaged"))),
    }
}

/// A body parsed by `hdf5-reader`.
///
/// # Errors
/// `Format` or `Unsupported` as the parser says.
pub(super) fn parse(file: &FileBytes, kind: u16, body: &[u8]) -> Result<HdfMessage> {
    let mut cursor = hdf5_reader::io::Cursor::new(body);
    messages::parse_message(kind, body.len(), &mut cursor, file.offset_size, file.length_size)
        .map_err(|e| file.error(&format!("header message {}", messages::message_type_name(kind)), e))
}

struct HeaderReader<'a> {
    file: &'a FileBytes,
    what: String,
    messages: Vec<RawMessage>,
    blocks: Vec<(u64, u64)>,
}

impl HeaderReader<'_> {
    fn version_1(&mut self, address: u64, start: &[u8]) -> Result<()> {
        let mut fields = Fields(start);
        let prefix = (|| Some((fields.u8()?, fields.take(7)?, fields.u32()?)))();
        let Some((1, _, size)) = prefix else {
            return Err(self.damaged("it has no known version"));
        };
        self.blocks.push((address.saturating_add(16), size.into()));
        self.each_block(address, start, |reader, block, _| reader.split(block, Encoding::V1))
    }

    fn version_2(&mut self, address: u64, start: &[u8]) -> Result<()> {
        let mut fields = Fields(&start[4..]);
        let prefix = (|| {
            let (version, flags) = (fields.u8()?, fields.u8()?);
            fields.take(if flags & 0x20 != 0 { 16 } else { 0 })?;
            fields.take(if flags & 0x10 != 0 { 4 } else { 0 })?;
            Some((version, flags, fields.uint(1 << (flags & 3))?))
        })();
        let Some((2, flags, size)) = prefix else {
            return Err(self.damaged("it has no known version"));
        };
        let prefix_len = start.len() - fields.0.len();
        let total = size.checked_add(prefix_len as u64 + 4).ok_or_else(|| self.damaged("its size overflows"))?;
        self.blocks.push((address, total));
        let encoding = Encoding::V2 { ordered: flags & 0x04 != 0 };
        self.each_block(address, start, |reader, block, first| {
            let head = if first { prefix_len } else { 4 };
            if block.len() < head + 4 || (!first && !block.starts_with(b"OCHK")) {
                return Err(reader.damaged("a continuation block is not one"));
            }
            let (body, checksum) = block.split_at(block.len() - 4);
            if jenkins_lookup3(body).to_le_bytes() != checksum {
                return Err(reader.damaged("its checksum does not match"));
            }
            reader.split(&body[head..], encoding)
        })
    }

    /// Hands every block to `split`, the first one and those that continuations add.
    fn each_block(
        &mut self,
        address: u64,
        start: &[u8],
        split: impl Fn(&mut Self, &[u8], bool) -> Result<()>,
    ) -> Result<()> {
        let (mut seen, mut total, mut next) = (HashSet::new(), 0_u64, 0);
        while let Some(&(at, size)) = self.blocks.get(next) {
            total = total.saturating_add(size);
            if !seen.insert(at) || next >= MAX_BLOCKS || total > MAX_HEADER_BYTES {
                return Err(self.damaged("its blocks repeat, or are too many or too large"));
            }
            let held = at.checked_sub(address).and_then(|skip| {
                let end = skip.checked_add(size)?;
                start.get(usize::try_from(skip).ok()?..usize::try_from(end).ok()?)
            });
            match held {
                Some(block) => split(self, block, next == 0)?,
                None => {
                    let block = self.file.read(at, size, &self.what)?;
                    split(self, &block, next == 0)?;
                }
            }
            next += 1;
        }
        Ok(())
    }

    fn split(&mut self, block: &[u8], encoding: Encoding) -> Result<()> {
        let mut fields = Fields(block);
        while fields.0.len() >= encoding.prefix() {
            let (message, size) = match encoding.message(&mut fields) {
                Some(found) => found,
                None => return Err(self.damaged("a message prefix is damaged")),
            };
            let Some(data) = fields.take(size) else {
                return Err(self.damaged("a message is longer than its block"));
            };
            match message.kind {
                0 => {}
                CONTINUATION => {
                    let mut target = Fields(data);
                    let at = target.uint(self.file.offset_size.into());
                    let size = target.uint(self.file.length_size.into());
                    match (at, size) {
                        (Some(at), Some(size)) => self.blocks.push((at, size)),
                        _ => return Err(self.damaged("a continuation is damaged")),
                    }
                }
                _ => self.messages.push(RawMessage { data: data.to_vec(), ..message }),
            }
        }
        Ok(())
    }

    fn damaged(&self, detail: &str) -> crate::Error {
        self.file.damaged(format!("{}: {detail}", self.what))
    }
}

#[derive(Clone, Copy)]
enum Encoding {
    V1,
    V2 { ordered: bool },
}

impl Encoding {
    /// Bytes before the body of a message.
    fn prefix(self) -> usize {
        match self {
            Encoding::V1 => 8,
            Encoding::V2 { ordered: false } => 4,
            Encoding::V2 { ordered: true } => 6,
        }
    }

    /// The next message without its body, and the length of the body.
    fn message(self, fields: &mut Fields) -> Option<(RawMessage, usize)> {
        let data = Vec::new();
        match self {
            Encoding::V1 => {
                let (kind, size, flags) = (fields.u16()?, fields.u16()?, fields.u8()?);
                fields.take(3)?;
                Some((RawMessage { kind, flags, order: None, data }, size.into()))
            }
            Encoding::V2 { ordered } => {
                let (kind, size, flags) = (fields.u8()?, fields.u16()?, fields.u8()?);
                let order = if ordered { Some(fields.u16()?) } else { None };
                Some((RawMessage { kind: kind.into(), flags, order, data }, size.into()))
            }
        }
    }
}
