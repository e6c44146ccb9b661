//! What decoding asks of attributes: text and numbers, whatever way the file spells them.

use crate::formats::{Attribute, AttributeValue};
use std::borrow::Cow;

/// A number of an attribute, exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Integer(i) => i as f64,
            Number::Float(f) => f,
        }
    }
}

/// The text of an attribute that is one string: characters, or a list of a single string.
pub(super) fn text<'a>(attributes: &'a [Attribute], name: &str) -> Option<Cow<'a, str>> {
    let bytes = match &attributes.iter().find(|a| a.name == name)?.value {
        AttributeValue::Text(bytes) => bytes,
        AttributeValue::Strings(list) if list.len() == 1 => &list[0],
        _ => return None,
    };
    let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    Some(String::from_utf8_lossy(&bytes[..end]))
}

/// The numbers of an attribute; none if it is no numeric one.
pub(super) fn numbers(attribute: &Attribute) -> Vec<Number> {
    match &attribute.value {
        AttributeValue::Integers(list) => list.iter().map(|i| Number::Integer((*i).into())).collect(),
        AttributeValue::Unsigned(list) => list.iter().map(|i| Number::Integer((*i).into())).collect(),
        AttributeValue::Floats(list) => list.iter().copied().map(Number::Float).collect(),
        AttributeValue::Text(_) | AttributeValue::Strings(_) | AttributeValue::Other(_) => Vec::new(),
    }
}
