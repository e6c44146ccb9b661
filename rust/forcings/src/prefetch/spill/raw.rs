//! The elements of samples as raw bytes in a file, through small blocks.

use crate::dataset::reuse::{self, Reusable};
use crate::dataset::{Dataset, Field, FieldType, Values};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Where the bytes of samples lie.
pub(super) trait Medium: Send + Sync {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()>;
}

impl Medium for File {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(bytes, at)
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.read_exact_at(bytes, at)
    }
}

/// What lies in memory twice while it is on its way.
const BLOCK: usize = 256 << 10;

/// An element of fixed size, in the byte order of the machine.
trait Number: Reusable {
    fn put(self, bytes: &mut [u8]);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($($number:ty),*) => {$(
        impl Number for $number {
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                <$number>::from_ne_bytes(bytes.try_into().expect("cut to the size of the number"))
            }
        }
    )*};
}

number!(f64, f32, i64, i32, u8);

/// The fields of datasets, in the order in which they are written.
pub(super) fn fields(data: &[Dataset]) -> impl Iterator<Item = &Field> {
    data.iter().flat_map(|dataset| dataset.variables.iter().chain(&dataset.coords))
}

/// The bytes that [`write`] writes.
pub(super) fn byte_len(data: &[Dataset]) -> u64 {
    let lengths = |values: &Values| if let Values::String(list) = values { list.len() as u64 * 8 } else { 0 };
    fields(data).map(|field| field.values.byte_len() as u64 + lengths(&field.values)).sum()
}

/// Writes all elements, from `at` on.
pub(super) fn write(data: &[Dataset], medium: &dyn Medium, at: u64) -> io::Result<()> {
    let mut sink = Sink { medium, at, block: Vec::new() };
    for field in fields(data) {
        match &field.values {
            Values::F64(v) => sink.numbers(v)?,
            Values::F32(v) => sink.numbers(v)?,
            Values::I64(v) => sink.numbers(v)?,
            Values::I32(v) => sink.numbers(v)?,
            Values::Bool(v) => sink.numbers(v)?,
            Values::String(list) => list.iter().try_for_each(|text| {
                sink.numbers(&[text.len() as i64])?;
                sink.numbers(text.as_bytes())
            })?,
        }
    }
    sink.flush()
}

struct Sink<'a> {
    medium: &'a dyn Medium,
    at: u64,
    block: Vec<u8>,
}

impl Sink<'_> {
    fn numbers<T: Number>(&mut self, values: &[T]) -> io::Result<()> {
        for values in values.chunks(BLOCK / size_of::<T>()) {
            let begin = self.block.len();
            self.block.resize(begin + size_of_val(values), 0);
            let places = self.block[begin..].chunks_exact_mut(size_of::<T>());
            places.zip(values).for_each(|(place, value)| value.put(place));
            if self.block.len() >= BLOCK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.medium.write_at(&self.block, self.at)?;
            self.at += self.block.len() as u64;
            self.block.clear();
        }
        Ok(())
    }
}

/// Reads back what [`write`] wrote, field by field.
pub(super) struct Source<'a> {
    medium: &'a dyn Medium,
    at: u64,
    end: u64,
    block: Vec<u8>,
    /// How much of the block was handed out.
    used: usize,
}

impl<'a> Source<'a> {
    /// From `at` on, of so many bytes.
    pub(super) fn new(medium: &'a dyn Medium, at: u64, bytes: u64) -> Self {
        Source { medium, at, end: at + bytes, block: Vec::new(), used: 0 }
    }

    /// The next `len` elements of a type.
    pub(super) fn values(&mut self, field_type: FieldType, len: usize) -> io::Result<Values> {
        Ok(match field_type {
            FieldType::F64 => Values::F64(self.numbers(len)?),
            FieldType::F32 => Values::F32(self.numbers(len)?),
            FieldType::I64 => Values::I64(self.numbers(len)?),
            FieldType::I32 => Values::I32(self.numbers(len)?),
            FieldType::Bool => Values::Bool(self.numbers(len)?),
            FieldType::String => Values::String((0..len).map(|_| self.text()).collect::<io::Result<_>>()?),
        })
    }

    fn text(&mut self) -> io::Result<String> {
        let len = i64::get(self.take(8)?);
        let len = usize::try_from(len).ok().filter(|len| *len as u64 <= self.left());
        let bytes = self.numbers(len.ok_or_else(|| damaged("the length of a string"))?)?;
        String::from_utf8(bytes).map_err(|_| damaged("a string"))
    }

    fn numbers<T: Number>(&mut self, len: usize) -> io::Result<Vec<T>> {
        let mut values: Vec<T> = reuse::take(len).unwrap_or_default();
        values.clear();
        values.try_reserve_exact(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        while values.len() < len {
            let count = (len - values.len()).min(BLOCK / size_of::<T>());
            values.extend(self.take(count * size_of::<T>())?.chunks_exact(size_of::<T>()).map(T::get));
        }
        Ok(values)
    }

    /// Bytes not handed out.
    fn left(&self) -> u64 {
        self.end - self.at + (self.block.len() - self.used) as u64
    }

    /// The next `len` bytes, which are no more than a block.
    fn take(&mut self, len: usize) -> io::Result<&[u8]> {
        let kept = self.block.len() - self.used;
        if kept < len {
            self.block.drain(..self.used);
            self.used = 0;
            let more = (BLOCK - kept).min(usize::try_from(self.end - self.at).unwrap_or(BLOCK));
            self.block.resize(kept + more, 0);
            self.medium.read_at(&mut self.block[kept..], self.at)?;
            self.at += more as u64;
        }
        let bytes = self.block.get(self.used..self.used + len).ok_or_else(|| damaged("the end of a sample"))?;
        self.used += len;
        Ok(bytes)
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} is not as it was written"))
}
