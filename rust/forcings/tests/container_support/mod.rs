//! Compares what this library finds in a file with what netCDF-C finds in it.

#![allow(dead_code, reason = "each test binary uses a part")]

use forcings::chunks::{read_bytes_into, AxisRead, ReadRequest};
use forcings::formats::{open_group, AttributeValue, ByteOrder, Container, ElementType, NumericType, Variable};
use netcdf::types::{FloatType, IntType, NcVariableType};
use netcdf::AttributeValue as Nc;
use std::path::Path;

/// The stored bytes of a variable, numbers turned to little-endian.
pub(crate) fn bytes(container: &dyn Container, index: usize) -> forcings::Result<Vec<u8>> {
    let variable = &container.variables()[index];
    let width = match variable.element {
        ElementType::Number(number, _) => number.width(),
        _ => 1,
    };
    let mut found = vec![0; width * variable.shape.iter().product::<u64>() as usize];
    let request = ReadRequest {
        source: container.source().as_ref(),
        layout: &*container.layout(index)?,
        shape: &variable.shape,
        element_width: width,
        fill: variable.fill.as_deref(),
        axes: &vec![AxisRead::All; variable.shape.len()],
        what: &format!("variable {}", variable.name),
    };
    read_bytes_into(&request, &mut found, 2)?;
    if let ElementType::Number(_, ByteOrder::Big) = variable.element {
        found.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    Ok(found)
}

/// A variable of a container, by name.
pub(crate) fn named<'a>(container: &'a dyn Container, name: &str) -> (usize, &'a Variable) {
    let found = container.variables().iter().enumerate().find(|(_, v)| v.name == name);
    found.unwrap_or_else(|| panic!("no variable {name}"))
}

/// Compares a group of a file (`None`: the root) with what netCDF-C says: dimensions, variables, attributes, values.
pub(crate) fn compare(path: &Path, group: Option<&str>) {
    let ours = open_group(path, group).unwrap();
    let file = netcdf::open(path).unwrap();
    let theirs = match group {
        None => file.root(),
        Some(group) => file.group(group).unwrap(),
    };
    // A classic file has no groups, so its root cannot be had as one.
    let (dimensions, variables, attributes): (Vec<_>, Vec<_>, Vec<_>) = match &theirs {
        Some(group) => (group.dimensions().collect(), group.variables().collect(), group.attributes().collect()),
        None => (file.dimensions().collect(), file.variables().collect(), file.attributes().collect()),
    };

    let expected: Vec<_> = dimensions.iter().map(|d| (d.name(), d.len() as u64, d.is_unlimited())).collect();
    let used: Vec<_> = ours.variables().iter().flat_map(|v| &v.dimensions).collect();
    let found: Vec<_> = ours
        .dimensions()
        .iter()
        .map(|d| (d.name.clone(), d.len, d.unlimited))
        .filter(|d| group.is_none() || expected.contains(d))
        .collect();
    assert_eq!(found, expected, "dimensions of {}", path.display());
    assert!(used.iter().all(|d| **d < ours.dimensions().len()));

    let names: Vec<_> = ours.variables().iter().map(|v| v.name.clone()).collect();
    assert_eq!(names, variables.iter().map(|v| v.name()).collect::<Vec<_>>(), "variables of {}", path.display());
    same_attributes(ours.attributes(), &attributes, "the group");
    for (i, (variable, theirs)) in ours.variables().iter().zip(&variables).enumerate() {
        let what = format!("{} of {}", variable.name, path.display());
        let names: Vec<_> = variable.dimensions.iter().map(|d| ours.dimensions()[*d].name.clone()).collect();
        assert_eq!(names, theirs.dimensions().iter().map(|d| d.name()).collect::<Vec<_>>(), "dimensions of {what}");
        let shape: Vec<_> = theirs.dimensions().iter().map(|d| d.len() as u64).collect();
        assert_eq!(variable.shape, shape, "shape of {what}");
        same_attributes(&variable.attributes, &theirs.attributes().collect::<Vec<_>>(), &what);
        same_values(ours.as_ref(), i, theirs, &what);
    }
}

fn same_values(ours: &dyn Container, index: usize, theirs: &netcdf::Variable, what: &str) {
    let variable = &ours.variables()[index];
    match (theirs.vartype(), &variable.element) {
        (NcVariableType::Int(_) | NcVariableType::Float(_), ElementType::Number(number, _)) => {
            assert_eq!(numeric(&theirs.vartype()), Some(*number), "type of {what}");
            assert!(bytes(ours, index).unwrap() == theirs.get_raw_values(..).unwrap(), "values of {what}");
        }
        (NcVariableType::Char, ElementType::Char) => {
            assert!(bytes(ours, index).unwrap() == theirs.get_raw_values(..).unwrap(), "characters of {what}");
        }
        (NcVariableType::String, ElementType::String) => {
            let strings = ours.strings(index).unwrap();
            assert_eq!(strings.len(), theirs.len(), "strings of {what}");
            for (k, string) in strings.iter().enumerate() {
                let mut rest = k;
                let mut at = vec![0; variable.shape.len()];
                for (place, len) in at.iter_mut().zip(&variable.shape).rev() {
                    *place = rest % *len as usize;
                    rest /= *len as usize;
                }
                assert_eq!(*string, theirs.get_string(at.as_slice()).unwrap().into_bytes(), "string {k} of {what}");
            }
        }
        (theirs, ElementType::Other(_)) => {
            let plain = matches!(theirs, NcVariableType::Char | NcVariableType::String);
            assert!(!plain && numeric(&theirs).is_none(), "{what} is {theirs:?}");
            assert!(variable.problem.is_some() && ours.layout(index).is_err());
        }
        (theirs, ours) => panic!("{what}: {ours:?} is {theirs:?}"),
    }
}

fn numeric(theirs: &NcVariableType) -> Option<NumericType> {
    Some(match theirs {
        NcVariableType::Int(IntType::I8) => NumericType::I8,
        NcVariableType::Int(IntType::U8) => NumericType::U8,
        NcVariableType::Int(IntType::I16) => NumericType::I16,
        NcVariableType::Int(IntType::U16) => NumericType::U16,
        NcVariableType::Int(IntType::I32) => NumericType::I32,
        NcVariableType::Int(IntType::U32) => NumericType::U32,
        NcVariableType::Int(IntType::I64) => NumericType::I64,
        NcVariableType::Int(IntType::U64) => NumericType::U64,
        NcVariableType::Float(FloatType::F32) => NumericType::F32,
        NcVariableType::Float(FloatType::F64) => NumericType::F64,
        _ => return None,
    })
}

fn same_attributes(ours: &[forcings::formats::Attribute], theirs: &[netcdf::Attribute], what: &str) {
    let names: Vec<_> = ours.iter().map(|a| a.name.as_str()).collect();
    let expected: Vec<_> = theirs.iter().map(|a| a.name()).collect();
    assert_eq!(names, expected, "attributes of {what}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        let what = format!("attribute {} of {what}", ours.name);
        // The oracle cannot read attributes of user-defined types.
        let Ok(value) = theirs.value() else {
            assert!(matches!(ours.value, AttributeValue::Other(_)), "{what}: {:?}", ours.value);
            continue;
        };
        let (value, numeric) = plain(value);
        let found = match &ours.value {
            // The oracle ends text at a NUL.
            AttributeValue::Text(text) => {
                AttributeValue::Text(text.split(|b| *b == 0).next().unwrap_or_default().to_vec())
            }
            other => other.clone(),
        };
        assert_eq!((found, ours.numeric), (value, numeric), "{what}");
    }
}

fn plain(value: Nc) -> (AttributeValue, Option<NumericType>) {
    use AttributeValue::{Floats, Integers, Unsigned};
    macro_rules! as_list {
        ($wide:ident as $type:ty, $number:ident, $values:expr) => {
            ($wide($values.into_iter().map(|v| v as $type).collect()), Some(NumericType::$number))
        };
    }
    match value {
        Nc::Uchar(v) => as_list!(Integers as i64, U8, [v]),
        Nc::Uchars(v) => as_list!(Integers as i64, U8, v),
        Nc::Schar(v) => as_list!(Integers as i64, I8, [v]),
        Nc::Schars(v) => as_list!(Integers as i64, I8, v),
        Nc::Ushort(v) => as_list!(Integers as i64, U16, [v]),
        Nc::Ushorts(v) => as_list!(Integers as i64, U16, v),
        Nc::Short(v) => as_list!(Integers as i64, I16, [v]),
        Nc::Shorts(v) => as_list!(Integers as i64, I16, v),
        Nc::Uint(v) => as_list!(Integers as i64, U32, [v]),
        Nc::Uints(v) => as_list!(Integers as i64, U32, v),
        Nc::Int(v) => as_list!(Integers as i64, I32, [v]),
        Nc::Ints(v) => as_list!(Integers as i64, I32, v),
        Nc::Ulonglong(v) => as_list!(Unsigned as u64, U64, [v]),
        Nc::Ulonglongs(v) => as_list!(Unsigned as u64, U64, v),
        Nc::Longlong(v) => as_list!(Integers as i64, I64, [v]),
        Nc::Longlongs(v) => as_list!(Integers as i64, I64, v),
        Nc::Float(v) => as_list!(Floats as f64, F32, [v]),
        Nc::Floats(v) => as_list!(Floats as f64, F32, v),
        Nc::Double(v) => as_list!(Floats as f64, F64, [v]),
        Nc::Doubles(v) => as_list!(Floats as f64, F64, v),
        Nc::Str(v) => (AttributeValue::Text(v.into_bytes()), None),
        Nc::Strs(v) => (AttributeValue::Strings(v.into_iter().map(String::into_bytes).collect()), None),
    }
}
