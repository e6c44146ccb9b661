//! The attributes of an array, from JSON. Numbers and texts, and lists of one of them, keep their kind; anything else is
//! kept as its JSON text.

use super::json::NUMBER;
use crate::formats::{Attribute, AttributeValue, NumericType};
use serde_json::{Map, Value};

/// The attributes, in the order of their names.
pub(super) fn of(map: &Map<String, Value>) -> Vec<Attribute> {
    let attribute = |(name, value): (&String, &Value)| {
        let value = convert(value);
        let numeric = match value {
            AttributeValue::Integers(_) => Some(NumericType::I64),
            AttributeValue::Unsigned(_) => Some(NumericType::U64),
            AttributeValue::Floats(_) => Some(NumericType::F64),
            _ => None,
        };
        Attribute { name: name.clone(), value, numeric }
    };
    map.iter().map(attribute).collect()
}

fn convert(value: &Value) -> AttributeValue {
    let as_list = match value {
        Value::Array(list) => numbers(list).or_else(|| texts(list)),
        Value::String(text) if text.starts_with(NUMBER) => numbers(std::slice::from_ref(value)),
        Value::String(text) => Some(AttributeValue::Text(text.clone().into_bytes())),
        Value::Number(_) => numbers(std::slice::from_ref(value)),
        _ => None,
    };
    as_list.unwrap_or_else(|| AttributeValue::Text(value.to_string().replace(NUMBER, "").into_bytes()))
}

/// Whole numbers if all are, else doubles.
fn numbers(list: &[Value]) -> Option<AttributeValue> {
    if list.is_empty() {
        return None;
    }
    let all = |convert: &dyn Fn(&Value) -> Option<i64>| list.iter().map(convert).collect::<Option<Vec<_>>>();
    if let Some(integers) = all(&Value::as_i64) {
        return Some(AttributeValue::Integers(integers));
    }
    if let Some(unsigned) = list.iter().map(Value::as_u64).collect() {
        return Some(AttributeValue::Unsigned(unsigned));
    }
    list.iter().map(float).collect::<Option<Vec<f64>>>().map(AttributeValue::Floats)
}

fn texts(list: &[Value]) -> Option<AttributeValue> {
    let text = |value: &Value| Some(value.as_str()?.as_bytes().to_vec());
    list.iter().map(text).collect::<Option<Vec<_>>>().map(AttributeValue::Strings)
}

/// A number, also one that JSON has no name for.
pub(super) fn float(value: &Value) -> Option<f64> {
    match value.as_str().and_then(|text| text.strip_prefix(NUMBER)) {
        Some(name) => named(name),
        None => value.as_f64(),
    }
}

/// The number that the format calls by a name.
pub(super) fn named(name: &str) -> Option<f64> {
    match name {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// The texts of a list, as names of dimensions.
pub(super) fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| Some(name.as_str()?.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::*;

    #[test]
    fn values_keep_their_kind() {
        let text = r#"{"a": 1, "b": [1, 2.5], "c": "m s-1", "d": ["x", ""], "e": NaN, "f": 18446744073709551615,
                       "g": [], "h": true, "i": null, "j": {"k": [1, NaN]}, "l": [1, "x"], "m": [-1, 2], "n": 1.0}"#;
        let found = of(&json::parse(text.as_bytes()).unwrap());
        let get = |name: &str| found.iter().find(|a| a.name == name).unwrap();
        let text = |text: &str| AttributeValue::Text(text.into());
        assert_eq!(get("a").value, AttributeValue::Integers(vec![1]));
        assert_eq!(get("a").numeric, Some(NumericType::I64));
        assert_eq!(get("b").value, AttributeValue::Floats(vec![1.0, 2.5]));
        assert_eq!(get("c").value, text("m s-1"));
        assert_eq!(get("d").value, AttributeValue::Strings(vec![b"x".to_vec(), vec![]]));
        assert!(matches!(&get("e").value, AttributeValue::Floats(v) if v.len() == 1 && v[0].is_nan()));
        assert_eq!(get("f").value, AttributeValue::Unsigned(vec![u64::MAX]));
        assert_eq!(get("g").value, AttributeValue::Strings(vec![]));
        assert_eq!(get("h").value, text("true"));
        assert_eq!(get("i").value, text("null"));
        assert_eq!(get("j").value, text(r#"{"k":[1,"NaN"]}"#));
        assert_eq!(get("l").value, text(r#"[1,"x"]"#));
        assert_eq!(get("m").value, AttributeValue::Integers(vec![-1, 2]));
        assert_eq!(get("n").value, AttributeValue::Floats(vec![1.0]));
    }
}
