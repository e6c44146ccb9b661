//! NetCDF classic files: those that netCDF-C writes, and those that a generator of headers writes.

mod container_support;

use container_support::{bytes, compare, named};
use forcings::chunks::{Layout, MemorySource};
use forcings::formats::{
    open, open_group, open_source, Attribute, AttributeValue, ByteOrder, Container, ElementType, NumericType,
};
use forcings::ErrorKind;
use netcdf::Options;
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn files_of_every_version_equal_what_netcdf_c_finds() {
    let dir = tempfile::tempdir().unwrap();
    for (version, options) in [(1, Options::empty()), (2, Options::_64BIT_OFFSET), (5, Options::_64BIT_DATA)] {
        let path = dir.path().join(format!("{version}.nc"));
        let mut file = netcdf::create_with(&path, options).unwrap();
        file.add_dimension("x", 3).unwrap();
        file.add_unlimited_dimension("t").unwrap();
        file.add_dimension("y", 5).unwrap();
        file.add_attribute("title", "a title").unwrap();
        file.add_attribute("nul", "a\0").unwrap();
        macro_rules! write {
            ($($type:ty),*) => {$({
                let name = stringify!($type);
                let values: Vec<$type> = (0..15).map(|i| (i * 5) as $type).collect();
                let mut fixed = file.add_variable::<$type>(&format!("{name}_fixed"), &["x", "y"]).unwrap();
                fixed.put_attribute("one", values[3]).unwrap();
                fixed.put_attribute("some", values[3..8].to_vec()).unwrap();
                file.add_variable::<$type>(&format!("{name}_records"), &["t", "x"]).unwrap();
                file.add_variable::<$type>(&format!("{name}_scalar"), &[]).unwrap();
            })*};
        }
        macro_rules! fill {
            ($($type:ty),*) => {$({
                let name = stringify!($type);
                let values: Vec<$type> = (0..15).map(|i| (i * 5) as $type).collect();
                let mut put = |kind: &str, from: &[$type], at: netcdf::Extents| {
                    file.variable_mut(&format!("{name}_{kind}")).unwrap().put_values(from, at).unwrap();
                };
                put("fixed", &values, (..).into());
                put("records", &values[..6], ([0, 0], [2, 3]).try_into().unwrap());
                put("scalar", &values[7..8], ().into());
            })*};
        }
        write!(i8, i16, i32, f32, f64);
        if version == 5 {
            write!(u8, u16, u32, i64, u64);
        }
        file.enddef().unwrap();
        fill!(i8, i16, i32, f32, f64);
        if version == 5 {
            fill!(u8, u16, u32, i64, u64);
        }
        file.close().unwrap();
        compare(&path, None);
        assert!(open_group(&path, Some("/")).is_ok());
        assert_eq!(open_group(&path, Some("g")).err().unwrap().kind(), ErrorKind::NotFound);
        let file = open(&path).unwrap();
        assert!(matches!(*file.layout(named(file.as_ref(), "i8_records").0).unwrap(), Layout::Records { .. }));
    }
}

#[test]
fn a_lone_record_variable_is_not_padded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lone.nc");
    let mut file = netcdf::create_with(&path, Options::empty()).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_dimension("x", 3).unwrap();
    file.add_variable::<i8>("v", &["t", "x"]).unwrap();
    file.enddef().unwrap();
    file.variable_mut("v").unwrap().put_values(&(0..15).collect::<Vec<i8>>(), ([0, 0], [5, 3])).unwrap();
    file.close().unwrap();
    compare(&path, None);
    let file = open(&path).unwrap();
    assert!(matches!(*file.layout(0).unwrap(), Layout::Records { stride: 3, .. }));
}

/// Type numbers and values.
type Attributes = Vec<(u32, Vec<u8>)>;

/// A file to be, in the terms of the format.
#[derive(Debug, Clone)]
struct Plan {
    version: u8,
    records: u32,
    streaming: bool,
    /// Lengths; the record dimension comes first.
    dimensions: Vec<u8>,
    attributes: Attributes,
    /// Type, whether of records, other dimensions, attributes.
    variables: Vec<(u32, bool, Vec<usize>, Attributes)>,
}

const WIDTHS: [usize; 12] = [0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8];

impl Plan {
    fn size(&self, out: &mut Vec<u8>, value: u64) {
        match self.version {
            5 => out.extend(value.to_be_bytes()),
            _ => out.extend((value as u32).to_be_bytes()),
        }
    }

    fn name(&self, out: &mut Vec<u8>, name: &str) {
        self.size(out, name.len() as u64);
        out.extend(name.bytes());
        out.resize(out.len().next_multiple_of(4), 0);
    }

    fn list(&self, out: &mut Vec<u8>, tag: u32, count: usize) {
        out.extend(if count == 0 { 0 } else { tag }.to_be_bytes());
        self.size(out, count as u64);
    }

    fn attributes(&self, out: &mut Vec<u8>, attributes: &[(u32, Vec<u8>)]) {
        self.list(out, 12, attributes.len());
        for (i, (kind, bytes)) in attributes.iter().enumerate() {
            self.name(out, &format!("attribute{i}"));
            out.extend(kind.to_be_bytes());
            let width = WIDTHS[*kind as usize];
            self.size(out, (bytes.len() / width) as u64);
            // The header holds no padding inside: lengths are multiples of the width.
            out.extend(&bytes[..bytes.len() / width * width]);
            out.resize(out.len().next_multiple_of(4), 0);
        }
    }

    /// Bytes of one record, or of all of a variable without records.
    fn bytes_of(&self, variable: usize) -> u64 {
        let (kind, _, dimensions, _) = &self.variables[variable];
        dimensions.iter().map(|d| u64::from(self.dimensions[*d])).product::<u64>() * WIDTHS[*kind as usize] as u64
    }

    /// The file, and for each variable where its data begin; every data byte is a hash of its offset.
    fn build(&self) -> (Vec<u8>, Vec<u64>, u64) {
        let of_records: Vec<usize> = (0..self.variables.len()).filter(|v| self.variables[*v].1).collect();
        let stride = match of_records[..] {
            [only] => self.bytes_of(only),
            _ => of_records.iter().map(|v| self.bytes_of(*v).next_multiple_of(4)).sum(),
        };
        let mut begins = vec![0; self.variables.len()];
        // The header has the same length whatever the offsets are.
        for round in 0..2 {
            let mut out = b"CDF".to_vec();
            out.push(self.version);
            match (self.streaming, self.version) {
                (true, 5) => out.extend([0xff; 8]),
                (true, _) => out.extend([0xff; 4]),
                _ => self.size(&mut out, self.records.into()),
            }
            self.list(&mut out, 10, self.dimensions.len() + 1);
            self.name(&mut out, "record");
            self.size(&mut out, 0);
            for (i, len) in self.dimensions.iter().enumerate() {
                self.name(&mut out, &format!("d{i}"));
                self.size(&mut out, (*len).into());
            }
            self.attributes(&mut out, &self.attributes);
            self.list(&mut out, 11, self.variables.len());
            for (v, (kind, of_records, dimensions, attributes)) in self.variables.iter().enumerate() {
                self.name(&mut out, &format!("v{v}"));
                self.size(&mut out, (dimensions.len() + usize::from(*of_records)) as u64);
                if *of_records {
                    self.size(&mut out, 0);
                }
                dimensions.iter().for_each(|d| self.size(&mut out, *d as u64 + 1));
                self.attributes(&mut out, attributes);
                out.extend(kind.to_be_bytes());
                self.size(&mut out, self.bytes_of(v).next_multiple_of(4));
                match self.version {
                    1 => out.extend((begins[v] as u32).to_be_bytes()),
                    _ => out.extend(u64::to_be_bytes(begins[v])),
                }
            }
            let mut at = out.len() as u64;
            for v in (0..self.variables.len()).filter(|v| !self.variables[*v].1) {
                begins[v] = at;
                at += self.bytes_of(v).next_multiple_of(4);
            }
            for v in &of_records {
                begins[*v] = at;
                at += self.bytes_of(*v).next_multiple_of(4);
            }
            if round == 1 {
                let first = of_records.iter().map(|v| begins[*v]).min().unwrap_or(at);
                let end = if of_records.is_empty() { at } else { first + stride * u64::from(self.records) };
                for i in out.len() as u64..end {
                    out.push((i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8);
                }
                return (out, begins, stride);
            }
        }
        unreachable!("the second round returns")
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    let kinds = |version: u8| if version == 5 { 1..=11_u32 } else { 1..=6_u32 };
    let attributes =
        move |version| prop::collection::vec((kinds(version), prop::collection::vec(any::<u8>(), 0..20)), 0..4);
    (prop::sample::select(vec![1_u8, 2, 5]), prop::collection::vec(1..5_u8, 1..4)).prop_flat_map(
        move |(version, dimensions)| {
            let count = dimensions.len();
            let variable = (kinds(version), any::<bool>(), prop::collection::vec(0..count, 0..3), attributes(version));
            (0..4_u32, any::<bool>(), attributes(version), prop::collection::vec(variable, 0..5)).prop_map(
                move |(records, streaming, attributes, variables)| Plan {
                    version,
                    records,
                    streaming,
                    dimensions: dimensions.clone(),
                    attributes,
                    variables,
                },
            )
        },
    )
}

fn memory(bytes: Vec<u8>) -> forcings::Result<Arc<dyn Container>> {
    open_source(Arc::new(MemorySource::new("memory", bytes)), None)
}

fn check_attributes(found: &[Attribute], planned: &[(u32, Vec<u8>)]) {
    assert_eq!(found.len(), planned.len());
    for (i, (found, (kind, bytes))) in found.iter().zip(planned).enumerate() {
        assert_eq!(found.name, format!("attribute{i}"));
        let width = WIDTHS[*kind as usize];
        let bytes = &bytes[..bytes.len() / width * width];
        // Numbers are compared as the bytes that they would be written as.
        let rewritten: Vec<u8> = match &found.value {
            AttributeValue::Text(text) => text.clone(),
            AttributeValue::Integers(v) => v.iter().flat_map(|v| v.to_be_bytes()[8 - width..].to_vec()).collect(),
            AttributeValue::Unsigned(v) => v.iter().flat_map(|v| v.to_be_bytes()).collect(),
            AttributeValue::Floats(_) => {
                let expected: Vec<f64> = match width {
                    4 => bytes.chunks(4).map(|b| f32::from_be_bytes(b.try_into().unwrap()).into()).collect(),
                    _ => bytes.chunks(8).map(|b| f64::from_be_bytes(b.try_into().unwrap())).collect(),
                };
                let AttributeValue::Floats(found) = &found.value else { unreachable!() };
                assert!(found.len() == expected.len());
                assert!(found.iter().zip(&expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan()));
                continue;
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(rewritten, bytes);
    }
}

proptest! {
    #[test]
    fn headers_read_as_they_were_planned(plan in plans()) {
        let (file, begins, stride) = plan.build();
        let found = memory(file.clone()).unwrap();
        let of_records = plan.variables.iter().any(|v| v.1);
        // A stream without record variables, or with empty records, does not tell how many records it has.
        let records = if plan.streaming && !of_records { 0 } else { u64::from(plan.records) };
        prop_assert_eq!(found.dimensions()[0].len, records);
        prop_assert!(found.dimensions()[0].unlimited);
        check_attributes(found.attributes(), &plan.attributes);
        prop_assert_eq!(found.variables().len(), plan.variables.len());
        for (v, (kind, is_record, dimensions, attributes)) in plan.variables.iter().enumerate() {
            let variable = &found.variables()[v];
            prop_assert_eq!(&variable.problem, &None);
            let mut shape: Vec<u64> = dimensions.iter().map(|d| u64::from(plan.dimensions[*d])).collect();
            if *is_record {
                shape.insert(0, records);
            }
            prop_assert_eq!(&variable.shape, &shape);
            check_attributes(&variable.attributes, attributes);
            let width = WIDTHS[*kind as usize];
            if let ElementType::Number(number, order) = variable.element {
                prop_assert_eq!((number.width(), order), (width, ByteOrder::Big));
            }
            let expected = match *is_record {
                true => Layout::Records { offset: begins[v], stride },
                false => Layout::Contiguous { offset: begins[v] },
            };
            prop_assert_eq!(&*found.layout(v).unwrap(), &expected);
            let size = plan.bytes_of(v) as usize;
            let count = if *is_record { records as usize } else { 1 };
            let mut values: Vec<u8> = (0..count)
                .flat_map(|r| {
                    let at = begins[v] as usize + r * stride as usize;
                    file[at..at + size].to_vec()
                })
                .collect();
            if !matches!(variable.element, ElementType::Char) {
                values.chunks_exact_mut(width).for_each(<[u8]>::reverse);
            }
            prop_assert_eq!(bytes(found.as_ref(), v).unwrap(), values);
        }
    }

    #[test]
    fn cut_files_are_refused_or_lose_nothing(plan in plans(), cut in 0.0..1.0_f64) {
        let plan = Plan { streaming: false, ..plan };
        let (file, begins, stride) = plan.build();
        let length = (file.len() as f64 * cut) as usize;
        let ends = (0..plan.variables.len()).map(|v| match plan.variables[v].1 {
            true if plan.records == 0 => 0,
            true => begins[v] + stride * u64::from(plan.records - 1) + plan.bytes_of(v),
            false => begins[v] + plan.bytes_of(v),
        });
        let needed = ends.max().unwrap_or(0) as usize;
        match memory(file[..length].to_vec()) {
            Ok(found) => {
                prop_assert!(length >= needed);
                for v in 0..plan.variables.len() {
                    bytes(found.as_ref(), v).unwrap();
                }
            }
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::Format),
        }
    }
}

#[test]
fn files_that_lie_are_format_errors() {
    let plan = Plan {
        version: 1,
        records: 2,
        streaming: false,
        dimensions: vec![3],
        attributes: vec![(2, b"text".to_vec())],
        variables: vec![(4, true, vec![0], vec![])],
    };
    let (file, ..) = plan.build();
    assert!(memory(file.clone()).is_ok());
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        memory(file).err().map(|e| (e.kind(), e.to_string()))
    };
    let huge = 0x7fff_ffff_u32.to_be_bytes();
    // Records, dimensions, the length of a name.
    for at in [4, 12, 16] {
        let (kind, text) = changed(at, &huge).unwrap();
        assert_eq!(kind, ErrorKind::Format, "{text}");
        assert!(text.starts_with("memory: "), "{text}");
    }
    assert!(changed(3, &[3]).unwrap().1.contains("version 3"));
    let (_, text) = changed(4, &3_u32.to_be_bytes()).unwrap();
    assert!(text.contains("truncated") && text.contains("v0"), "{text}");
    assert_eq!(memory(b"CDF".to_vec()).err().unwrap().kind(), ErrorKind::Format);
}

#[test]
fn names_that_are_not_utf8_mark_one_variable() {
    let plan = Plan {
        version: 2,
        records: 0,
        streaming: false,
        dimensions: vec![3],
        attributes: vec![],
        variables: vec![(4, false, vec![0], vec![]), (4, false, vec![0], vec![])],
    };
    let (mut file, ..) = plan.build();
    let at = file.windows(2).position(|w| w == b"v0").unwrap();
    file[at] = 0xe9;
    let found = memory(file).unwrap();
    let problems: Vec<_> = found.variables().iter().map(|v| v.problem.is_some()).collect();
    assert_eq!(problems, [true, false]);
    assert_eq!(found.layout(0).err().unwrap().kind(), ErrorKind::Format);
    assert_eq!(found.variables()[1].element, ElementType::Number(NumericType::I32, ByteOrder::Big));
}

#[test]
fn what_is_no_netcdf_file_is_a_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let kind = |name: &str| open(dir.path().join(name)).err().map(|e| e.kind());
    assert_eq!(kind("missing.nc"), Some(ErrorKind::Io));
    assert_eq!(kind(""), Some(ErrorKind::Io), "a folder");
    std::fs::write(dir.path().join("text.nc"), "latitude,longitude\n".repeat(1000)).unwrap();
    std::fs::write(dir.path().join("empty.nc"), "").unwrap();
    std::fs::write(dir.path().join("short.nc"), "CD").unwrap();
    for name in ["text.nc", "empty.nc", "short.nc"] {
        assert_eq!(kind(name), Some(ErrorKind::Format), "{name}");
    }
    let error = open(dir.path().join("text.nc")).err().unwrap().to_string();
    assert!(error.contains("text.nc") && error.contains("no NetCDF file"), "{error}");
}
