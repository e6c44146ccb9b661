//! Dumps all that decoding gives of files, for the comparison with other readers (`make crosscheck`):
//!
//!     dump FOLDER FILE...
//!
//! A Zarr store is given as `PATH=ARRAY,ARRAY`. FOLDER/dump.json lists the fields of each file, in the shape of the
//! dumps that other readers of the corpus write. The elements of a numeric field are not in it, but in FOLDER/dump.bin,
//! little-endian, from `offset` on.

use forcings::dataset::{decode, Dataset, DecodeOptions, Field, FieldType, Request, Schema, Values};
use forcings::formats::{self, Attribute, AttributeValue};
use forcings::provider::{Provider, ProviderOptions};
use serde_json::{json, Map, Value};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((folder, files)) = arguments.split_first() else {
        eprintln!("usage: dump FOLDER FILE...");
        return ExitCode::FAILURE;
    };
    match dump(Path::new(folder), files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dump: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dump(folder: &Path, files: &[String]) -> Result<()> {
    let mut elements = Elements { out: BufWriter::new(File::create(folder.join("dump.bin"))?), len: 0 };
    let mut cases = Map::new();
    for file in files {
        let (format, case) = match file.split_once('=') {
            None => ("netcdf", read(file, &mut elements)),
            Some((store, arrays)) => ("zarr", read_store(store, arrays, &mut elements)),
        };
        let mut case = case.unwrap_or_else(|e| json!({ "status": "skipped", "reason": e.to_string() }));
        case["format"] = format.into();
        cases.insert(file.clone(), case);
    }
    elements.out.flush()?;
    let all = json!({
        "schema": "earthsciio/native-dump/v1",
        "language": "rust",
        "provider": "forcings",
        "readers": ["netcdf", "zarr"],
        "cases": cases,
    });
    serde_json::to_writer(BufWriter::new(File::create(folder.join("dump.json"))?), &all)?;
    Ok(())
}

fn read(file: &str, elements: &mut Elements) -> Result<Value> {
    let container = formats::open(file)?;
    let data = decode(&*container, &Request::default(), DecodeOptions::default())?;
    let mut case = elements.dataset(&data)?;
    case["dimensions"] = dimensions(&Schema::of(&*container));
    Ok(case)
}

fn read_store(store: &str, arrays: &str, elements: &mut Elements) -> Result<Value> {
    let options = ProviderOptions {
        format: "zarr".into(),
        variables: arrays.split(',').map(str::to_string).collect(),
        ..ProviderOptions::of_files([store])
    };
    elements.dataset(&*Provider::open(options)?.materialize()?)
}

fn dimensions(schema: &Schema) -> Value {
    let len = |name: &str| (name.to_string(), json!(schema.dimension_len(name)));
    Value::Object(schema.dimension_names().map(len).collect())
}

/// The file of the numbers.
struct Elements {
    out: BufWriter<File>,
    len: usize,
}

impl Elements {
    fn dataset(&mut self, data: &Dataset) -> Result<Value> {
        let mut fields = |fields: &mut dyn Iterator<Item = &Field>| -> Result<Value> {
            let field = |f: &Field| Ok((f.name.to_string(), self.field(f)?));
            Ok(Value::Object(fields.map(field).collect::<Result<_>>()?))
        };
        Ok(json!({
            "status": "decoded",
            "variables": fields(&mut data.variables.iter())?,
            "coords": fields(&mut data.coords.iter().map(|f| &**f))?,
            "attributes": attributes(&data.attributes),
        }))
    }

    fn field(&mut self, field: &Field) -> Result<Value> {
        let dims: Vec<&str> = field.dims.iter().map(|d| &**d).collect();
        let mut value = json!({
            "dtype": dtype(field.values.field_type()),
            "dims": dims,
            "shape": field.shape,
            "attributes": attributes(&field.attributes),
        });
        match &field.values {
            Values::String(texts) => value["data"] = json!(texts),
            numbers => {
                value["offset"] = json!(self.len);
                self.write(numbers)?;
            }
        }
        Ok(value)
    }

    fn write(&mut self, values: &Values) -> Result<()> {
        let mut put = |bytes: &[u8]| {
            self.len += bytes.len();
            self.out.write_all(bytes)
        };
        match values {
            Values::F64(v) => v.iter().try_for_each(|x| put(&x.to_le_bytes()))?,
            Values::F32(v) => v.iter().try_for_each(|x| put(&x.to_le_bytes()))?,
            Values::I64(v) => v.iter().try_for_each(|x| put(&x.to_le_bytes()))?,
            Values::I32(v) => v.iter().try_for_each(|x| put(&x.to_le_bytes()))?,
            Values::U64(v) => v.iter().try_for_each(|x| put(&x.to_le_bytes()))?,
            Values::Bool(v) => put(v)?,
            Values::String(_) => return Err("texts are no numbers".into()),
        }
        Ok(())
    }
}

fn dtype(of: FieldType) -> &'static str {
    match of {
        FieldType::F64 => "float64",
        FieldType::F32 => "float32",
        FieldType::I64 => "int64",
        FieldType::I32 => "int32",
        FieldType::U64 => "uint64",
        FieldType::Bool => "bool",
        FieldType::String => "string",
    }
}

/// Each with its type: a number's as Rust names it, `text`, `texts`, or `other`. Floats are text, since JSON has no
/// infinity.
fn attributes(attributes: &[Attribute]) -> Value {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let value = |a: &Attribute| {
        let (kind, value) = match &a.value {
            AttributeValue::Text(bytes) => ("text".to_string(), json!(text(bytes))),
            AttributeValue::Strings(list) => ("texts".to_string(), list.iter().map(text).collect()),
            AttributeValue::Integers(list) => (number(a), json!(list)),
            AttributeValue::Unsigned(list) => (number(a), json!(list)),
            AttributeValue::Floats(list) => (number(a), list.iter().map(|x| format!("{x:e}")).collect()),
            AttributeValue::Other(kind) => ("other".to_string(), json!(kind)),
        };
        (a.name.clone(), json!({ "type": kind, "value": value }))
    };
    Value::Object(attributes.iter().map(value).collect())
}

fn number(attribute: &Attribute) -> String {
    attribute.numeric.map_or("number".into(), |n| format!("{n:?}"))
}
