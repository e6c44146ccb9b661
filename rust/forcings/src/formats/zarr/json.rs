//! The JSON of Zarr metadata, and how its parts are asked for. Python writes `NaN` and `Infinity` into it, which JSON does
//! not know.

use serde_json::{Map, Value};
use std::fmt::Display;

/// What is wrong with a document; who reads it adds its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It contradicts the format.
    Damaged(String),
    /// It asks for more than is read here.
    Unsupported(String),
}

/// The result of reading a part of a document.
pub(super) type Part<T> = std::result::Result<T, Fault>;

impl Fault {
    pub(super) fn damaged(detail: impl Display) -> Self {
        Fault::Damaged(detail.to_string())
    }

    pub(super) fn unsupported(detail: impl Display) -> Self {
        Fault::Unsupported(detail.to_string())
    }
}

/// Stands before the name of a number that JSON has none for. No text holds it: it is no character.
pub(super) const NUMBER: char = '\u{fdd0}';

/// Reads an object. Bare `NaN`, `Infinity` and `-Infinity` become texts behind a [`NUMBER`].
///
/// # Errors
/// `Damaged` for what is no JSON object.
pub(super) fn parse(bytes: &[u8]) -> Part<Map<String, Value>> {
    let value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => {
            let text = std::str::from_utf8(bytes).map_err(|_| Fault::damaged("it is not UTF-8"))?;
            let spelled = spell_numbers(text).ok_or_else(|| Fault::damaged(format!("it is not JSON: {error}")))?;
            serde_json::from_str(&spelled).map_err(|e| Fault::damaged(format!("it is not JSON: {e}")))?
        }
    };
    match value {
        Value::Object(map) => Ok(map),
        other => Err(Fault::damaged(format!("it holds {}, not an object", short(&other)))),
    }
}

/// The document with texts for the numbers that JSON does not know; `None` where there are none.
fn spell_numbers(text: &str) -> Option<String> {
    let (mut out, mut rest, mut found) = (String::with_capacity(text.len()), text, false);
    'all: while let Some(c) = rest.chars().next() {
        if c == '"' {
            let end = end_of_string(rest);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        for name in ["NaN", "Infinity", "-Infinity"] {
            if let Some(behind) = rest.strip_prefix(name) {
                out.extend(['"', NUMBER]);
                out.push_str(name);
                out.push('"');
                (rest, found) = (behind, true);
                continue 'all;
            }
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    found.then_some(out)
}

/// Where the string that a text starts with ends, with its quotes.
fn end_of_string(text: &str) -> usize {
    let mut escaped = true;
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// A member that has to be there.
pub(super) fn member<'a>(map: &'a Map<String, Value>, name: &str) -> Part<&'a Value> {
    map.get(name).ok_or_else(|| Fault::damaged(format!("it has no \"{name}\"")))
}

/// A list of extents.
pub(super) fn extents(value: &Value, name: &str) -> Part<Vec<u64>> {
    let fault = || Fault::damaged(format!("\"{name}\" is {}, not a list of whole numbers", short(value)));
    let list = value.as_array().ok_or_else(fault)?;
    list.iter().map(|n| n.as_u64().ok_or_else(fault)).collect()
}

/// A text.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Part<&'a str> {
    value.as_str().ok_or_else(|| Fault::damaged(format!("\"{name}\" is {}, not a text", short(value))))
}

/// An object.
pub(super) fn object<'a>(value: &'a Value, name: &str) -> Part<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| Fault::damaged(format!("\"{name}\" is {}, not an object", short(value))))
}

/// A list.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> Part<&'a [Value]> {
    let list = value.as_array().ok_or_else(|| Fault::damaged(format!("\"{name}\" is {}, not a list", short(value))))?;
    Ok(list)
}

/// A value as error texts show it.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string().replace(NUMBER, "");
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_that_python_writes_are_read() {
        let map = parse(br#"{"a": NaN, "b": [-Infinity, 1, Infinity], "c": "NaN \" NaN", "NaN": "\\"}"#).unwrap();
        assert_eq!(map["a"], format!("{NUMBER}NaN"));
        assert_eq!(map["b"], serde_json::json!([format!("{NUMBER}-Infinity"), 1, format!("{NUMBER}Infinity")]));
        assert_eq!(map["c"], "NaN \" NaN");
        assert_eq!(map["NaN"], "\\");
        assert_eq!(short(&map["b"]), r#"["-Infinity",1,"Infinity"]"#);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for bad in ["", "[", "[1]", "{\"a\": NaN", "{\"a\": nan}", "\"NaN", "{\"a\": NaN1}", "7", "\u{feff}{}"] {
            assert!(matches!(parse(bad.as_bytes()), Err(Fault::Damaged(_))), "{bad}");
        }
        assert!(parse(b"{\"a\": \"\xff\"}").is_err());
        assert!(parse(&[&b"["[..]; 100_000].concat()).is_err());
    }
}
