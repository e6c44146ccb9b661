//! The metadata of one array: found in either version, read, and checked.

use super::attributes;
use super::chain::Chain;
use super::codecs::Pipeline;
use super::element::{Element, Kind};
use super::json::{self, extents, list, member, object, short, text, Fault, Part};
use super::keys::KeyEncoding;
use super::objects::Objects;
use super::shard::ShardFormat;
use crate::formats::Attribute;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::io::Read;

/// How an array becomes one that is read, for error texts.
pub(super) const REWRITE: &str = "rewrite the array with blosc, zlib, gzip, zstd or no compressor, and without filters";

/// No metadata is longer.
const MAX_BYTES: u64 = 16 << 20;

/// No array has more dimensions.
const MAX_RANK: usize = 64;

/// What decoding has to know of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metadata {
    pub(super) shape: Vec<u64>,
    /// Extents of a chunk; of those in a shard where objects are shards.
    pub(super) chunk_shape: Vec<u64>,
    /// The axes in the order in which a chunk runs through them, slowest first.
    pub(super) order: Vec<usize>,
    pub(super) element: Element,
    /// One element as it is read.
    pub(super) fill: Vec<u8>,
    pub(super) dims: Vec<String>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) keys: KeyEncoding,
    pub(super) chain: Chain,
    pub(super) shards: Option<ShardFormat>,
}

/// A metadata object as it was read; `None` for one that was not there.
pub(super) struct Document {
    key: String,
    bytes: Option<Vec<u8>>,
}

impl Document {
    /// Checks that a local document still holds the same.
    ///
    /// # Errors
    /// `Format` when it does not, `Io`.
    pub(super) fn check_unchanged(&self, objects: &Objects) -> Result<()> {
        if objects.are_local() && load(objects, &self.key)? != self.bytes {
            let detail = "the array was changed after the provider opened it; make a new provider";
            return Err(Error::format(objects.name(&self.key), detail));
        }
        Ok(())
    }
}

/// Reads the metadata of an array, in the version that is there: version 3 is looked for first.
///
/// # Errors
/// `NotFound` or `CacheMiss` when there is neither, `Format` for damaged ones, `Unsupported` for what is not read.
pub(super) fn read(objects: &Objects, name: &str) -> Result<(Metadata, Vec<Document>)> {
    let key = |document: &str| format!("{name}/{document}");
    let fault = |key: &str, fault: Fault| match fault {
        Fault::Damaged(detail) => Error::format(objects.name(key), format!("the metadata is damaged: {detail}")),
        Fault::Unsupported(detail) => Error::Unsupported(format!(
            "{}: array \"{name}\" cannot be read: {detail}, which this library does not read; {REWRITE}",
            objects.name(key).display()
        )),
    };
    let (v3, v2, attributes) = (key("zarr.json"), key(".zarray"), key(".zattrs"));
    if let Some(bytes) = load(objects, &v3)? {
        let metadata = json::parse(&bytes).and_then(|map| of_v3(&map)).map_err(|f| fault(&v3, f))?;
        return Ok((metadata, vec![Document { key: v3, bytes: Some(bytes) }]));
    }
    let Some(bytes) = load(objects, &v2)? else { return Err(absent(objects, name, &v3)) };
    let map = json::parse(&bytes).map_err(|f| fault(&v2, f))?;
    let given = load(objects, &attributes)?;
    let own = given.as_deref().map_or(Ok(Map::new()), json::parse).map_err(|f| fault(&attributes, f))?;
    let metadata = of_v2(&map, &own).map_err(|f| fault(&v2, f))?;
    let document = |(key, bytes)| Document { key, bytes };
    Ok((metadata, [(v3, None), (v2, Some(bytes)), (attributes, given)].map(document).into()))
}

/// Reads a document of either version that is on no disk.
///
/// # Errors
/// As for one that is.
pub(super) fn check(bytes: &[u8]) -> Part<()> {
    let map = json::parse(bytes)?;
    let is_v3 = map.contains_key("node_type");
    if is_v3 { of_v3(&map) } else { of_v2(&map, &Map::new()) }.map(drop)
}

/// The bytes of a metadata object; `None` where there is none.
fn load(objects: &Objects, key: &str) -> Result<Option<Vec<u8>>> {
    let Some(found) = objects.find(key)? else { return Ok(None) };
    if found.len > MAX_BYTES {
        return Err(Error::format(objects.name(key), format!("{} bytes are too many for metadata", found.len)));
    }
    let file = std::fs::File::open(&found.path).map_err(|e| Error::io(&found.path, e))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|e| Error::io(&found.path, e))?;
    Ok(Some(bytes))
}

/// Offline a miss is told as one.
fn absent(objects: &Objects, name: &str, key: &str) -> Error {
    match objects.get(key) {
        Err(miss @ Error::CacheMiss { .. }) => miss,
        _ => Error::NotFound(format!(
            "{}: there is no array \"{name}\": neither its zarr.json nor its .zarray is there",
            objects.root().display()
        )),
    }
}

fn of_v2(map: &Map<String, Value>, own: &Map<String, Value>) -> Part<Metadata> {
    check_number(map, 2)?;
    let (shape, chunk_shape) = (extents(member(map, "shape")?, "shape")?, extents(member(map, "chunks")?, "chunks")?);
    check_shapes(&shape, &chunk_shape)?;
    let element = Element::of_v2(member(map, "dtype")?)?;
    let separator = map.get("dimension_separator").filter(|s| !s.is_null() && **s != *"").map(separator);
    let separator = separator.transpose()?.unwrap_or('.');
    let Pipeline { order, chain, .. } = Pipeline::of_v2(map, shape.len(), element.order)?;
    let halves = (element.kind == Kind::Half).then_some(element.order);
    Ok(Metadata {
        dims: named(own, shape.len()).unwrap_or_else(|| numbered(shape.len())),
        fill: element.fill(member(map, "fill_value")?)?,
        attributes: attributes::of(own),
        keys: KeyEncoding { prefixed: false, separator },
        chain: Chain { halves, ..chain },
        shards: None,
        shape,
        chunk_shape,
        order,
        element,
    })
}

/// Members of version 3 that are read, or that say nothing about values.
const KNOWN: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "dimension_names",
    "storage_transformers",
];

fn of_v3(map: &Map<String, Value>) -> Part<Metadata> {
    check_number(map, 3)?;
    let node = text(member(map, "node_type")?, "node_type")?;
    if node != "array" {
        return Err(Fault::damaged(format!("it is of a {node}, not of an array")));
    }
    let optional = |value: &Value| value.get("must_understand") == Some(&Value::Bool(false));
    if let Some((name, _)) = map.iter().find(|(name, value)| !KNOWN.contains(&name.as_str()) && !optional(value)) {
        return Err(Fault::unsupported(format!("its metadata has a member \"{name}\"")));
    }
    if let Some(transformers) = map.get("storage_transformers") {
        if !list(transformers, "storage_transformers")?.is_empty() {
            return Err(Fault::unsupported("it is stored through a storage transformer"));
        }
    }
    let shape = extents(member(map, "shape")?, "shape")?;
    let (grid, settings) = named_settings(member(map, "chunk_grid")?, "chunk_grid")?;
    if grid != "regular" {
        return Err(Fault::unsupported(format!("its chunks form a grid of the kind \"{grid}\"")));
    }
    let object_shape = settings.ok_or_else(|| Fault::damaged("its \"chunk_grid\" has no configuration"))?;
    let object_shape = extents(member(object_shape, "chunk_shape")?, "chunk_shape")?;
    check_shapes(&shape, &object_shape)?;
    let kind = Kind::of_v3(member(map, "data_type")?)?;
    let Pipeline { order, bytes, chain, shards } = Pipeline::of_v3(member(map, "codecs")?, kind, &object_shape)?;
    let (chunk_shape, shards) = match shards {
        Some((chunk_shape, format)) => (chunk_shape, Some(format)),
        None => (object_shape, None),
    };
    let own = match map.get("attributes") {
        Some(own) => object(own, "attributes")?.clone(),
        None => Map::new(),
    };
    let element = Element { kind, order: bytes };
    Ok(Metadata {
        dims: dimension_names(map, shape.len())?
            .or_else(|| named(&own, shape.len()))
            .unwrap_or_else(|| numbered(shape.len())),
        fill: element.fill(member(map, "fill_value")?)?,
        attributes: attributes::of(&own),
        keys: key_encoding(member(map, "chunk_key_encoding")?)?,
        shape,
        chunk_shape,
        order,
        element,
        chain,
        shards,
    })
}

fn check_number(map: &Map<String, Value>, expected: u64) -> Part<()> {
    match member(map, "zarr_format")? {
        found if found.as_u64() == Some(expected) => Ok(()),
        found => Err(Fault::damaged(format!("\"zarr_format\" is {}, not {expected}", short(found)))),
    }
}

fn check_shapes(shape: &[u64], objects: &[u64]) -> Part<()> {
    if shape.len() != objects.len() || objects.contains(&0) {
        return Err(Fault::damaged(format!("chunks of the shape {objects:?} cannot tile an array of {shape:?}")));
    }
    if shape.len() > MAX_RANK {
        return Err(Fault::damaged(format!("it has {} dimensions; {MAX_RANK} are the most", shape.len())));
    }
    // Positions are also counted in both directions.
    match shape.iter().chain(objects).find(|extent| **extent > i64::MAX as u64) {
        Some(extent) => Err(Fault::damaged(format!("an extent of {extent} is too large"))),
        None => Ok(()),
    }
}

fn separator(value: &Value) -> Part<char> {
    match value.as_str() {
        Some(".") => Ok('.'),
        Some("/") => Ok('/'),
        _ => Err(Fault::damaged(format!("the separator of its keys is {}, neither \".\" nor \"/\"", short(value)))),
    }
}

/// The name of an extension point and its settings: a text alone is a name without any.
fn named_settings<'a>(value: &'a Value, what: &str) -> Part<(&'a str, Option<&'a Map<String, Value>>)> {
    if let Some(name) = value.as_str() {
        return Ok((name, None));
    }
    let map = object(value, what)?;
    let settings = map.get("configuration").map(|settings| object(settings, "configuration")).transpose()?;
    Ok((text(member(map, "name")?, "name")?, settings))
}

fn key_encoding(value: &Value) -> Part<KeyEncoding> {
    let (name, settings) = named_settings(value, "chunk_key_encoding")?;
    let given = settings.and_then(|s| s.get("separator")).map(separator).transpose()?;
    match name {
        "default" => Ok(KeyEncoding { prefixed: true, separator: given.unwrap_or('/') }),
        "v2" => Ok(KeyEncoding { prefixed: false, separator: given.unwrap_or('.') }),
        _ => Err(Fault::unsupported(format!("its keys are encoded by \"{name}\""))),
    }
}

/// The names that version 3 gives, if it names every dimension.
fn dimension_names(map: &Map<String, Value>, rank: usize) -> Part<Option<Vec<String>>> {
    let Some(names) = map.get("dimension_names").filter(|names| !names.is_null()) else { return Ok(None) };
    if list(names, "dimension_names")?.len() != rank {
        return Err(Fault::damaged(format!("{} are no names for {rank} dimensions", short(names))));
    }
    Ok(attributes::names(names))
}

/// The names that an attribute gives, if it has one for each dimension.
fn named(own: &Map<String, Value>, rank: usize) -> Option<Vec<String>> {
    own.get("_ARRAY_DIMENSIONS").and_then(attributes::names).filter(|names| names.len() == rank)
}

fn numbered(rank: usize) -> Vec<String> {
    (0..rank).map(|axis| format!("dim_{axis}")).collect()
}
