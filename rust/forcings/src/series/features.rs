//! Features: typed key–value pairs that are part of a series' identity, and their content hash.

use super::cut;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Keys that would clash with the columns of a listing.
const RESERVED: [&str; 23] = [
    "count",
    "data",
    "data_hash",
    "dtype",
    "element_shape",
    "ext",
    "features",
    "horizon",
    "id",
    "initial_timestamp",
    "interval",
    "length",
    "name",
    "owner_category",
    "owner_id",
    "owner_type",
    "percentiles",
    "resolution",
    "scenario_count",
    "time_reference",
    "time_series_type",
    "timestamps",
    "units",
];

/// One value. Kinds matter: 1, 1.0, true and "1" are four values.
#[derive(Debug, Clone, PartialEq)]
pub enum FeatureValue {
    /// A signed integer.
    Int(i64),
    /// A double; NaN and negative zero cannot be stored.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Any text.
    Text(String),
}

/// SHA-256 of a set of features, which is its address in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeaturesHash(pub [u8; 32]);

/// A set of features, in ascending byte order of the keys. Clones share the set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Features(Arc<BTreeMap<String, FeatureValue>>);

impl Features {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `key`, and returns the value it had.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<FeatureValue>) -> Option<FeatureValue> {
        Arc::make_mut(&mut self.0).insert(key.into(), value.into())
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&FeatureValue> {
        self.0.get(key)
    }

    /// Keys and values, in the order of the keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &FeatureValue)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// The number of features.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The content hash, the same for every order of insertion.
    pub fn hash(&self) -> FeaturesHash {
        let mut sha = Sha256::new();
        sha.update(b"features\0");
        sha.update((self.len() as u64).to_le_bytes());
        for (key, value) in self.iter() {
            sha.update((key.len() as u64).to_le_bytes());
            sha.update(key);
            match value {
                FeatureValue::Int(n) => {
                    sha.update(b"i");
                    sha.update(n.to_le_bytes());
                }
                FeatureValue::Float(x) => {
                    let bits = if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() };
                    sha.update(b"f");
                    sha.update(bits.to_le_bytes());
                }
                FeatureValue::Bool(b) => sha.update([b'b', u8::from(*b)]),
                FeatureValue::Text(text) => {
                    sha.update(b"s");
                    sha.update((text.len() as u64).to_le_bytes());
                    sha.update(text);
                }
            }
        }
        FeaturesHash(sha.finalize().into())
    }

    /// Checks what a catalog can keep.
    ///
    /// # Errors
    /// `InvalidParameter` for a reserved key, a NaN and a negative zero, naming the key.
    pub fn validate(&self) -> Result<()> {
        for (key, value) in self.iter() {
            if RESERVED.contains(&key) {
                return Err(Error::invalid(format!("the feature key `{key}` is reserved; use another key")));
            }
            if let FeatureValue::Float(x) = value {
                if x.is_nan() || (*x == 0.0 && x.is_sign_negative()) {
                    return Err(Error::invalid(format!(
                        "the feature `{}` is {x:?}, which cannot be looked up again; use another value",
                        cut(key)
                    )));
                }
            }
        }
        Ok(())
    }
}

impl<K: Into<String>, V: Into<FeatureValue>> FromIterator<(K, V)> for Features {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Features(Arc::new(pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect()))
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{key} = {value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FeatureValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeatureValue::Int(n) => write!(f, "{n}"),
            FeatureValue::Float(x) => write!(f, "{x:?}"),
            FeatureValue::Bool(b) => write!(f, "{b}"),
            FeatureValue::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl From<i64> for FeatureValue {
    fn from(n: i64) -> Self {
        FeatureValue::Int(n)
    }
}

impl From<f64> for FeatureValue {
    fn from(x: f64) -> Self {
        FeatureValue::Float(x)
    }
}

impl From<bool> for FeatureValue {
    fn from(b: bool) -> Self {
        FeatureValue::Bool(b)
    }
}

impl From<&str> for FeatureValue {
    fn from(text: &str) -> Self {
        FeatureValue::Text(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(features: &Features) -> String {
        features.hash().0.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn golden_hashes() {
        let mut features = Features::new();
        assert_eq!(hex(&features), "f0f10eb0149a8828ad7505d73262e3e4a70bfdfed90e4c2e9ce6013758296ede");
        features.insert("scenario", "high");
        features.insert("model_year", 2030);
        assert_eq!(hex(&features), "711b4af8b4530daad3edd3f1a9d9d9cb14b942e1cf9a7145493a506e9001060c");
        features.insert("factor", 0.5);
        features.insert("calibrated", true);
        assert_eq!(hex(&features), "ceea40be8073966576186f7435c5496ce3c7010606a4794570d73be94b0e2758");
        assert_eq!(features.to_string(), "calibrated = true, factor = 0.5, model_year = 2030, scenario = \"high\"");
    }

    #[test]
    fn the_order_of_insertion_does_not_matter_but_kinds_do() {
        let forward: Features = [("a", 1), ("b", 2)].into_iter().collect();
        let backward: Features = [("b", 2), ("a", 1)].into_iter().collect();
        assert_eq!(forward.hash(), backward.hash());
        let values = [FeatureValue::Int(1), 1.0.into(), true.into(), "1".into()];
        let hashes: std::collections::HashSet<_> =
            values.into_iter().map(|v| Features::from_iter([("k", v)]).hash()).collect();
        assert_eq!(hashes.len(), 4);
    }

    #[test]
    fn a_key_and_its_value_do_not_run_together() {
        let one: Features = [("ab", "c")].into_iter().collect();
        let other: Features = [("a", "bc")].into_iter().collect();
        assert_ne!(one.hash(), other.hash());
    }

    #[test]
    fn what_cannot_be_stored() {
        for key in RESERVED {
            let error = Features::from_iter([(key, 1)]).validate().unwrap_err();
            assert!(error.to_string().contains(key), "{error}");
        }
        for value in [f64::NAN, -f64::NAN, -0.0] {
            let error = Features::from_iter([("factor", value)]).validate().unwrap_err();
            assert!(error.to_string().contains("factor"), "{error}");
        }
        for key in ["Name", " name", "name_", "Resolution", "resolution_", ""] {
            Features::from_iter([(key, 0.0)]).validate().unwrap();
        }
        Features::from_iter([("limit", f64::INFINITY)]).validate().unwrap();
    }
}
