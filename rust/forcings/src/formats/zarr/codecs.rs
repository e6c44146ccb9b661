//! The codecs of an array, from metadata: in version 3 a list of steps, in version 2 a compressor. What comes out is how
//! a chunk lies in its object.

use super::chain::{Chain, Compressor};
use super::element::Kind;
use super::json::{extents, list, member, object, short, text, Fault, Part};
use super::shard::{IndexFormat, IndexPlace, ShardFormat};
use crate::formats::ByteOrder;
use serde_json::{Map, Value};

/// Each is a pass over the bytes.
const MAX_CHECKSUMS: usize = 8;

/// Chunks of a shard; the index of so many has 256 MiB.
const MAX_PER_SHARD: u64 = 1 << 24;

/// How the chunks of an array are encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pipeline {
    /// The axes of the array in the order in which a chunk runs through them, slowest first.
    pub(super) order: Vec<usize>,
    pub(super) bytes: ByteOrder,
    pub(super) chain: Chain,
    /// Extents of one chunk in array order, and how an object holds them, where objects are shards.
    pub(super) shards: Option<(Vec<u64>, ShardFormat)>,
}

/// One step of version 3: its name, and its settings.
type Step<'a> = (&'a str, Option<&'a Map<String, Value>>);

impl Pipeline {
    /// The compressor and the filters of version 2, for elements in this order of bytes.
    ///
    /// # Errors
    /// `Unsupported` for any filter and for a compressor that is not read, by name; `Damaged` for what is neither.
    pub(super) fn of_v2(map: &Map<String, Value>, rank: usize, bytes: ByteOrder) -> Part<Self> {
        let order = match text(member(map, "order")?, "order")? {
            "C" => (0..rank).collect(),
            "F" => (0..rank).rev().collect(),
            other => return Err(Fault::damaged(format!("\"order\" is {other:?}, neither \"C\" nor \"F\""))),
        };
        if let Some(filters) = map.get("filters").filter(|f| !f.is_null()) {
            if let Some(filter) = list(filters, "filters")?.first() {
                return Err(unread("filter", id(filter)?));
            }
        }
        let compressor = match member(map, "compressor")? {
            Value::Null => None,
            compressor => {
                let id = id(compressor)?;
                Some(Compressor::of_name(id).ok_or_else(|| unread("compressor", id))?)
            }
        };
        Ok(Pipeline { order, bytes, chain: Chain { compressor, ..Chain::default() }, shards: None })
    }

    /// The steps of version 3, for objects of this shape.
    ///
    /// # Errors
    /// `Unsupported` for a step that is not read, by name, and for two compressors; `Damaged` for steps that do not
    /// follow each other.
    pub(super) fn of_v3(codecs: &Value, kind: Kind, object_shape: &[u64]) -> Part<Self> {
        let steps = steps(codecs)?;
        let (mut order, rest) = transposed(&steps, object_shape.len())?;
        match rest.first() {
            Some(("sharding_indexed", settings)) => {
                if let Some((name, _)) = rest.get(1) {
                    return Err(Fault::unsupported(format!("a codec \"{name}\" is applied to whole shards")));
                }
                let settings = settings.ok_or_else(|| Fault::damaged("\"sharding_indexed\" has no configuration"))?;
                let given = extents(member(settings, "chunk_shape")?, "chunk_shape")?;
                let mut chunk_shape = vec![0; order.len()];
                let mut counts = vec![0; order.len()];
                if given.len() != order.len() {
                    return Err(Fault::damaged("the chunks of its shards have another number of dimensions"));
                }
                for ((axis, extent), count) in order.iter().zip(&given).zip(&mut counts) {
                    if *extent == 0 || object_shape[*axis] % extent != 0 {
                        let shard = &object_shape;
                        return Err(Fault::damaged(format!("chunks of {given:?} do not fill a shard of {shard:?}")));
                    }
                    chunk_shape[*axis] = *extent;
                    *count = object_shape[*axis] / extent;
                }
                if counts.iter().fold(1u64, |n, count| n.saturating_mul(*count)) > MAX_PER_SHARD {
                    return Err(Fault::unsupported(format!("its shards hold more than {MAX_PER_SHARD} chunks")));
                }
                let format = ShardFormat { order: order.clone(), counts, index: index_format(settings)? };
                let inner = member(settings, "codecs")?;
                let steps = self::steps(inner)?;
                let (inner_order, rest) = transposed(&steps, order.len())?;
                order = inner_order.into_iter().map(|axis| order[axis]).collect();
                let (bytes, chain) = to_bytes(rest, kind)?;
                Ok(Pipeline { order, bytes, chain, shards: Some((chunk_shape, format)) })
            }
            _ => {
                let (bytes, chain) = to_bytes(rest, kind)?;
                Ok(Pipeline { order, bytes, chain, shards: None })
            }
        }
    }
}

fn id(codec: &Value) -> Part<&str> {
    text(member(object(codec, "codec")?, "id")?, "id")
}

fn unread(what: &str, name: &str) -> Fault {
    Fault::unsupported(format!("it is stored with the {what} \"{name}\""))
}

/// The steps of a list. Those that come from version 2 go by their name there.
fn steps(codecs: &Value) -> Part<Vec<Step<'_>>> {
    list(codecs, "codecs")?.iter().map(read_step).collect()
}

fn read_step(codec: &Value) -> Part<Step<'_>> {
    let (name, settings) = match codec {
        Value::String(name) => (name.as_str(), None),
        codec => {
            let map = object(codec, "codec")?;
            let settings = map.get("configuration").map(|c| object(c, "configuration")).transpose()?;
            (text(member(map, "name")?, "name")?, settings)
        }
    };
    Ok((name.strip_prefix("numcodecs.").unwrap_or(name), settings))
}

/// The order of the axes behind the transpositions that a list begins with, and the steps behind them.
fn transposed<'s, 'v>(steps: &'s [Step<'v>], rank: usize) -> Part<(Vec<usize>, &'s [Step<'v>])> {
    let mut order: Vec<usize> = (0..rank).collect();
    let count = steps.iter().take_while(|(name, _)| *name == "transpose").count();
    for (_, settings) in &steps[..count] {
        let given =
            settings.and_then(|s| s.get("order")).ok_or_else(|| Fault::damaged("\"transpose\" has no order"))?;
        let axes: Vec<usize> = match given.as_str() {
            Some("C") => (0..rank).collect(),
            Some("F") => (0..rank).rev().collect(),
            _ => extents(given, "order")?.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect(),
        };
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..rank) {
            return Err(Fault::damaged(format!("\"transpose\" by {} is no order of {rank} axes", short(given))));
        }
        order = axes.into_iter().map(|axis| order[axis]).collect();
    }
    Ok((order, &steps[count..]))
}

/// The step that turns elements into bytes, and those behind it.
fn to_bytes(steps: &[Step<'_>], kind: Kind) -> Part<(ByteOrder, Chain)> {
    let Some(((name, settings), rest)) = steps.split_first() else {
        return Err(Fault::damaged("no codec turns its elements into bytes"));
    };
    if *name != "bytes" {
        return Err(unread("codec", name));
    }
    let order = match settings.and_then(|s| s.get("endian")).filter(|e| !e.is_null()) {
        None if kind.stored_width() == 1 => ByteOrder::Little,
        None => return Err(Fault::damaged("its codec \"bytes\" says nothing of their order")),
        Some(endian) => byte_order(endian)?,
    };
    let mut chain = Chain { halves: (kind == Kind::Half).then_some(order), ..Chain::default() };
    for (name, _) in rest {
        match (*name, Compressor::of_name(name)) {
            ("crc32c", _) if chain.compressor.is_none() => chain.inner_checksums += 1,
            ("crc32c", _) => chain.outer_checksums += 1,
            (_, None) => return Err(unread("codec", name)),
            // The length between two compressors is written nowhere.
            (_, Some(_)) if chain.compressor.is_some() => {
                return Err(Fault::unsupported("its chunks are compressed twice"))
            }
            (_, compressor) => chain.compressor = compressor,
        }
    }
    if chain.inner_checksums + chain.outer_checksums > MAX_CHECKSUMS {
        return Err(Fault::unsupported(format!("its chunks have more than {MAX_CHECKSUMS} checksums")));
    }
    Ok((order, chain))
}

fn byte_order(endian: &Value) -> Part<ByteOrder> {
    match endian.as_str() {
        Some("little") => Ok(ByteOrder::Little),
        Some("big") => Ok(ByteOrder::Big),
        _ => Err(Fault::damaged(format!("\"endian\" is {}, neither \"little\" nor \"big\"", short(endian)))),
    }
}

fn index_format(settings: &Map<String, Value>) -> Part<IndexFormat> {
    let place = match settings.get("index_location").map(|place| text(place, "index_location")).transpose()? {
        None | Some("end") => IndexPlace::End,
        Some("start") => IndexPlace::Start,
        Some(other) => return Err(Fault::damaged(format!("\"index_location\" is {other:?}, neither start nor end"))),
    };
    let steps = steps(member(settings, "index_codecs")?)?;
    let (order, chain) = to_bytes(&steps, Kind::Number(crate::formats::NumericType::U64))?;
    if chain.compressor.is_some() {
        return Err(Fault::unsupported("the index of its shards is compressed"));
    }
    Ok(IndexFormat { place, order, checksums: chain.inner_checksums })
}
