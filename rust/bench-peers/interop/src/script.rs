//! The language that both sides of the interoperability check speak: a script of operations on a store, and a dump of
//! all that a store holds. Depends on serde alone: the example `interop` of our crate includes this file by path.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the program is to do; it comes as JSON on standard input.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Runs a script on a store, and leaves its two files complete.
    Run {
        path: PathBuf,
        /// The compression of a new store; the store exists if there is none.
        create: Option<Filters>,
        operations: Vec<Operation>,
    },
    /// Writes a [`Dump`] to standard output.
    Dump { path: PathBuf },
}

/// The compression of a store; `deflate` is absent for none.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filters {
    pub deflate: Option<u8>,
    #[serde(default)]
    pub shuffle: bool,
}

/// One step of a script.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Adds series one by one.
    Add {
        series: Vec<Row>,
    },
    /// Adds series together.
    AddBulk {
        series: Vec<Row>,
    },
    Remove {
        series: Vec<Identity>,
    },
    /// Derives forecasts from every `SingleTimeSeries` of a resolution.
    Transform {
        resolution: String,
        horizon: String,
        interval: String,
    },
    Rename {
        series: Identity,
        name: String,
    },
    Copy {
        series: Identity,
        owner: i64,
        owner_type: String,
        name: Option<String>,
    },
    ReplaceOwner {
        old: i64,
        new: i64,
        category: String,
    },
    Attach(Pair),
    Detach(Pair),
    Link(Pair),
    Unlink(Pair),
    Begin,
    Commit,
    Rollback,
    Flush,
}

/// A row of one of the two relation tables: a component and its attribute, or a parent and its child.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    pub from: i64,
    pub from_type: String,
    pub to: i64,
    pub to_type: String,
}

/// What no two series share.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    pub owner: i64,
    pub category: String,
    #[serde(rename = "type")]
    pub series_type: String,
    pub name: String,
    pub resolution: Option<String>,
    pub interval: Option<String>,
    pub features: BTreeMap<String, Feature>,
}

/// A series: its row, and its values as little-endian bytes in hex. Times are milliseconds since 1970; doubles are the
/// hex digits of their bits, so that no reader of JSON rounds them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub owner: i64,
    pub owner_type: String,
    pub category: String,
    #[serde(rename = "type")]
    pub series_type: String,
    pub name: String,
    pub initial: Option<i64>,
    pub resolution: Option<String>,
    pub horizon: Option<String>,
    pub interval: Option<String>,
    pub count: Option<u64>,
    pub timestamps: Option<Vec<i64>>,
    pub percentiles: Option<Vec<String>>,
    pub features: BTreeMap<String, Feature>,
    pub units: Option<String>,
    pub ext: Option<String>,
    pub dtype: String,
    /// The shape of the values.
    pub shape: Vec<usize>,
    pub values: String,
    /// Of a dump: the row's own columns on the stored array.
    pub stored: Option<Stored>,
}

/// What a row says of its array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    pub length: Option<u64>,
    pub element_shape: Vec<usize>,
    pub hash: String,
}

/// A typed feature; a double as the hex digits of its bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    Int(i64),
    Float(String),
    Bool(bool),
    Text(String),
}

/// All that a store holds.
#[derive(Debug, Serialize)]
pub struct Dump {
    /// What the program's own check of the store finds wrong.
    pub problems: Vec<String>,
    pub series: Vec<Row>,
    pub attributes: Vec<Pair>,
    pub children: Vec<Pair>,
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]].map(char::from)).collect()
}

/// The bytes of hex digits.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    (digits.len() % 2 == 0).then(|| digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The digits of a double's bits.
pub fn double_text(x: f64) -> String {
    format!("{:016x}", x.to_bits())
}

/// The double of these digits.
pub fn double(text: &str) -> Option<f64> {
    u64::from_str_radix(text, 16).ok().map(f64::from_bits)
}
