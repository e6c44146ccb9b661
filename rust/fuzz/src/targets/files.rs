//! NetCDF and HDF5 files: headers, chunk indexes, heaps, the netCDF-4 layer, and the elements behind them.

use crate::mutation::repair;
use forcings::chunks::{read_bytes_into, AxisRead, MemorySource, ReadRequest};
use forcings::formats::{open_source, Container, ElementType};
use std::fmt::Write;
use std::sync::Arc;

pub(super) const CLASSIC: &[&[u8]] = &[
    b"CDF\x01",
    b"CDF\x02",
    b"CDF\x05",
    b"\0\0\0\x0a",
    b"\0\0\0\x0b",
    b"\0\0\0\x0c",
    b"units",
    b"hours since 2000-01-01",
];
pub(super) const HDF5: &[&[u8]] = &[
    b"\x89HDF\r\n\x1a\n",
    b"OHDR",
    b"OCHK",
    b"TREE",
    b"SNOD",
    b"HEAP",
    b"GCOL\x01",
    b"FRHP",
    b"FHDB",
    b"FHIB",
    b"BTHD",
    b"BTIN",
    b"BTLF",
    b"FADB",
    b"FAHD",
    b"EAHD",
    b"EAIB",
    b"EASB",
    b"EADB",
    b"_nc4_non_coord_",
    b"DIMENSION_LIST",
    b"_Netcdf4Dimid",
    b"_Netcdf4Coordinates",
    b"CLASS",
    b"DIMENSION_SCALE",
];

/// Variables with more elements are listed, not read.
const MAX_ELEMENTS: u64 = 1 << 18;

pub(super) fn read(bytes: &[u8]) -> String {
    let mut bytes = bytes.to_vec();
    repair(&mut bytes);
    let source = Arc::new(MemorySource::new("input", bytes));
    let mut said = String::new();
    for group in [None, Some("g")] {
        match open_source(source.clone(), group) {
            Ok(file) => describe(file.as_ref(), &mut said),
            Err(e) => drop(write!(said, "{e};")),
        }
    }
    said
}

fn describe(file: &dyn Container, said: &mut String) {
    let _ = write!(said, "{} dimensions, {} attributes;", file.dimensions().len(), file.attributes().len());
    for (i, variable) in file.variables().iter().enumerate() {
        assert_eq!(variable.shape.len(), variable.dimensions.len());
        assert!(variable.dimensions.iter().all(|d| *d < file.dimensions().len()));
        let count = variable.shape.iter().fold(1_u64, |n, len| n.saturating_mul(*len));
        let width = match variable.element {
            ElementType::Number(number, _) => number.width(),
            ElementType::Char | ElementType::Bool => 1,
            ElementType::String => {
                let _ = match file.strings(i) {
                    Ok(strings) => write!(said, "{} strings;", strings.len()),
                    Err(e) => write!(said, "{e};"),
                };
                continue;
            }
            ElementType::Other(_) => {
                assert!(file.layout(i).is_err());
                continue;
            }
        };
        let ended = file.layout(i).and_then(|layout| {
            if count > MAX_ELEMENTS {
                return Ok(());
            }
            let request = ReadRequest {
                source: file.source().as_ref(),
                layout: &layout,
                shape: &variable.shape,
                element_width: width,
                fill: variable.fill.as_deref(),
                axes: &vec![AxisRead::All; variable.shape.len()],
                what: "a variable",
            };
            read_bytes_into(&request, &mut vec![0; count as usize * width], 1).map(drop)
        });
        let _ = match ended {
            Ok(()) => write!(said, "read;"),
            Err(e) => write!(said, "{:?} {e};", e.kind()),
        };
    }
}
