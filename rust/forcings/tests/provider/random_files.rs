//! Random files for properties of reading: dimensions that variables share, and variables of every kind and layout.

use netcdf::types::{NcTypeDescriptor, NcVariableType};
use netcdf::{Extents, FileMut, Options};
use proptest::collection::vec;
use proptest::prelude::*;
use std::path::Path;

/// One file.
#[derive(Debug, Clone)]
pub(crate) struct FileSpec {
    format: Format,
    /// The first is `time`, if there is one.
    dims: Vec<DimSpec>,
    time: Time,
    variables: Vec<VarSpec>,
    seed: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Classic,
    Offset64,
    Cdf5,
    NetCdf4,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Time {
    Absent,
    /// Its coordinate has no units.
    Named,
    Cf,
}

#[derive(Debug, Clone)]
struct DimSpec {
    len: usize,
    /// Only the first of a classic file can be.
    unlimited: bool,
    /// The type of its coordinate.
    coord: Option<Kind>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// Characters along a private last dimension.
    Text,
    /// Characters, each a cell.
    Chars,
    Strings,
}

#[derive(Debug, Clone)]
struct VarSpec {
    kind: Kind,
    /// Picks distinct dimensions; none makes a scalar.
    picks: Vec<usize>,
    packed: bool,
    masked: bool,
    /// Of a NetCDF-4 file: chunk extents, DEFLATE, shuffle.
    chunks: Option<(Vec<usize>, Option<bool>)>,
    big: bool,
    /// Leaves out the last records of its unlimited dimensions.
    short: bool,
}

fn any_kind() -> impl Strategy<Value = Kind> {
    use Kind::*;
    proptest::sample::select(vec![F32, F64, I8, U8, I16, U16, I32, U32, I64, U64, Text, Chars, Strings])
}

fn any_variable() -> impl Strategy<Value = VarSpec> {
    let chunks = proptest::option::weighted(0.7, (vec(1..4_usize, 5), any::<Option<bool>>()));
    let picks = proptest::sample::subsequence(vec![0, 1, 2, 3, 4], 0..=4).prop_shuffle();
    (any_kind(), picks, any::<(bool, bool, bool, bool)>(), chunks).prop_map(
        |(kind, picks, (packed, masked, big, short), chunks)| VarSpec {
            kind,
            picks,
            packed,
            masked,
            chunks,
            big,
            short,
        },
    )
}

pub(crate) fn any_file() -> impl Strategy<Value = FileSpec> {
    let format = proptest::sample::select(vec![
        Format::Classic,
        Format::Offset64,
        Format::Cdf5,
        Format::NetCdf4,
        Format::NetCdf4,
        Format::NetCdf4,
    ]);
    let time = proptest::sample::select(vec![Time::Absent, Time::Named, Time::Cf, Time::Cf]);
    let dim = (1..6_usize, any::<bool>(), proptest::option::of(any_kind()));
    let dim = dim.prop_map(|(len, unlimited, coord)| DimSpec { len, unlimited, coord });
    (format, time, vec(dim, 2..5), vec(any_variable(), 1..6), any::<u32>())
        .prop_map(|(format, time, dims, variables, seed)| FileSpec { format, dims, time, variables, seed })
}

/// The type of a cell of characters.
#[derive(Clone, Copy)]
struct NcChar(#[allow(dead_code, reason = "netCDF-C reads it")] u8);

// SAFETY: a character of netCDF is one byte.
unsafe impl NcTypeDescriptor for NcChar {
    fn type_descriptor() -> NcVariableType {
        NcVariableType::Char
    }
}

const WIDTH: usize = 3;
const FILL: u8 = 7;

impl FileSpec {
    /// The name of a dimension.
    fn dim_name(&self, i: usize) -> String {
        if i == 0 && self.time != Time::Absent {
            "time".into()
        } else {
            format!("d{i}")
        }
    }

    fn is_unlimited(&self, i: usize) -> bool {
        self.dims[i].unlimited && (i == 0 || self.format == Format::NetCdf4)
    }

    /// What the format has no type for becomes one that it has.
    fn kind(&self, kind: Kind) -> Kind {
        match (self.format, kind) {
            (Format::NetCdf4, kind) => kind,
            (_, Kind::Strings) => Kind::Text,
            (Format::Cdf5, kind) => kind,
            (_, Kind::U8) => Kind::I8,
            (_, Kind::U16) => Kind::I16,
            (_, Kind::U32) => Kind::I32,
            (_, Kind::I64 | Kind::U64) => Kind::F64,
            (_, kind) => kind,
        }
    }

    /// The dimensions of a variable; an unlimited one comes first in a classic file.
    fn dims_of(&self, variable: &VarSpec) -> Vec<usize> {
        let mut dims: Vec<usize> = variable.picks.iter().copied().filter(|i| *i < self.dims.len()).collect();
        if self.format != Format::NetCdf4 {
            dims.sort_by_key(|i| !self.is_unlimited(*i));
        }
        dims
    }

    /// Writes the file.
    pub(crate) fn write(&self, path: &Path) {
        let options = match self.format {
            Format::Classic => Options::empty(),
            Format::Offset64 => Options::_64BIT_OFFSET,
            Format::Cdf5 => Options::_64BIT_DATA,
            Format::NetCdf4 => Options::NETCDF4,
        };
        let mut file = netcdf::create_with(path, options).unwrap();
        for (i, dim) in self.dims.iter().enumerate() {
            let name = self.dim_name(i);
            if self.is_unlimited(i) {
                file.add_unlimited_dimension(&name).unwrap();
            } else {
                file.add_dimension(&name, dim.len).unwrap();
            }
        }
        file.add_dimension("width", WIDTH).unwrap();
        let all = self.all_variables();
        all.iter().for_each(|(name, variable)| self.define(&mut file, name, variable));
        if self.format != Format::NetCdf4 {
            file.enddef().unwrap();
        }
        let mut state = self.seed | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        for (name, variable) in &all {
            self.fill(&mut file, name, variable, &mut next);
        }
        file.close().unwrap();
    }

    /// The coordinates, then the data variables.
    fn all_variables(&self) -> Vec<(String, VarSpec)> {
        let plain = VarSpec {
            kind: Kind::F64,
            picks: vec![],
            packed: false,
            masked: false,
            chunks: None,
            big: false,
            short: false,
        };
        let coord = |(i, dim): (usize, &DimSpec)| {
            let is_time = i == 0 && self.time != Time::Absent;
            let kind = if is_time { Some(Kind::I32) } else { dim.coord };
            Some((self.dim_name(i), VarSpec { kind: kind?, picks: vec![i], ..plain.clone() }))
        };
        let coords = self.dims.iter().enumerate().filter_map(coord);
        let data = self.variables.iter().enumerate().map(|(i, v)| (format!("v{i}"), v.clone()));
        coords.chain(data).collect()
    }

    fn define(&self, file: &mut FileMut, name: &str, variable: &VarSpec) {
        let (kind, dims) = (self.kind(variable.kind), self.dims_of(variable));
        let mut names: Vec<String> = dims.iter().map(|i| self.dim_name(*i)).collect();
        if kind == Kind::Text {
            names.push("width".into());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let is_number = !matches!(kind, Kind::Text | Kind::Chars | Kind::Strings);
        macro_rules! define {
            ($type:ty) => {{
                let mut v = file.add_variable::<$type>(name, &names).unwrap();
                if variable.masked {
                    v.put_attribute("_FillValue", FILL as $type).unwrap();
                }
                v
            }};
        }
        let mut v = match kind {
            Kind::F32 => define!(f32),
            Kind::F64 => define!(f64),
            Kind::I8 => define!(i8),
            Kind::U8 => define!(u8),
            Kind::I16 => define!(i16),
            Kind::U16 => define!(u16),
            Kind::I32 => define!(i32),
            Kind::U32 => define!(u32),
            Kind::I64 => define!(i64),
            Kind::U64 => define!(u64),
            Kind::Text | Kind::Chars => file.add_variable_with_type(name, &names, &NcVariableType::Char).unwrap(),
            Kind::Strings => file.add_string_variable(name, &names).unwrap(),
        };
        if self.format == Format::NetCdf4 && !names.is_empty() {
            if let Some((extents, shuffle)) = &variable.chunks {
                // No longer than a dimension that cannot grow.
                let room = |name: &&str| match self.dims.iter().enumerate().find(|(i, _)| self.dim_name(*i) == **name) {
                    Some((i, dim)) if !self.is_unlimited(i) => dim.len,
                    Some(_) => usize::MAX,
                    None => WIDTH,
                };
                let extents: Vec<usize> = names.iter().zip(extents).map(|(name, e)| *e.min(&room(name))).collect();
                v.set_chunking(&extents).unwrap();
                if let (Some(shuffle), true) = (shuffle, kind != Kind::Strings) {
                    v.set_compression(1, *shuffle).unwrap();
                }
            }
            if variable.big && is_number {
                v.set_endianness(netcdf::Endianness::Big).unwrap();
            }
        }
        if variable.packed && is_number {
            v.put_attribute("scale_factor", 0.3_f32).unwrap();
            v.put_attribute("add_offset", 0.1).unwrap();
        }
        if name == "time" && self.time == Time::Cf {
            v.put_attribute("units", "hours since 2000-01-01").unwrap();
        }
    }

    fn fill(&self, file: &mut FileMut, name: &str, variable: &VarSpec, next: &mut dyn FnMut() -> u32) {
        let kind = self.kind(variable.kind);
        let written = |i: &usize| {
            // The default fill of 64-bit integers fits no type of a result: whole reads would be errors.
            let has_room = !matches!(kind, Kind::I64 | Kind::U64);
            let is_short = variable.short && has_room && self.format == Format::NetCdf4 && self.is_unlimited(*i);
            self.dims[*i].len - usize::from(is_short)
        };
        let mut counts: Vec<usize> = self.dims_of(variable).iter().map(written).collect();
        if kind == Kind::Text {
            counts.push(WIDTH);
        }
        let total: usize = counts.iter().product();
        if total == 0 {
            return;
        }
        let extents: Extents = (vec![0; counts.len()], counts.clone()).try_into().unwrap();
        let mut v = file.variable_mut(name).unwrap();
        if name == "time" {
            return v.put_values(&(0..total as i32).collect::<Vec<_>>(), extents).unwrap();
        }
        macro_rules! put {
            ($type:ty) => {{
                let values: Vec<$type> = (0..total).map(|_| (next() % 40) as $type).collect();
                v.put_values(&values, extents).unwrap()
            }};
        }
        match kind {
            Kind::F32 => put!(f32),
            Kind::F64 => put!(f64),
            Kind::I8 => put!(i8),
            Kind::U8 => put!(u8),
            Kind::I16 => put!(i16),
            Kind::U16 => put!(u16),
            Kind::I32 => put!(i32),
            Kind::U32 => put!(u32),
            Kind::I64 => put!(i64),
            Kind::U64 => put!(u64),
            Kind::Text | Kind::Chars => {
                let letters = b"ab c\0";
                let text: Vec<NcChar> = (0..total).map(|_| NcChar(letters[next() as usize % letters.len()])).collect();
                v.put_values(&text, extents).unwrap();
            }
            Kind::Strings => {
                for i in 0..total {
                    let stride = |axis: usize| counts[axis + 1..].iter().product::<usize>();
                    let position: Vec<usize> = (0..counts.len()).map(|a| i / stride(a) % counts[a]).collect();
                    let one: Extents = (position, vec![1; counts.len()]).try_into().unwrap();
                    v.put_string(["", "a", "longer", "ß"][next() as usize % 4], one).unwrap();
                }
            }
        }
    }
}
