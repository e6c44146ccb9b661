//! The arrays that the requests write: type, element shape, compression, and their values from the generator.

use chrono::{DateTime, Utc};
use infrastore_core::{Compression, Dtype, TypedArray};
use peer_common::generator::{thousandths, value};
use peer_common::Failure;
use serde::Deserialize;

/// What the elements are and how they are compressed.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arrays {
    pub dtype: ElementType,
    pub element_shape: Vec<usize>,
    pub compression: Filters,
}

/// Doubles and floats hold the generator's values, integers its thousandths.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    #[default]
    F64,
    F32,
    I64,
    I32,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filters {
    /// 0 for no filter at all.
    pub deflate: u8,
    pub shuffle: bool,
}

impl Default for Filters {
    fn default() -> Self {
        Filters { deflate: 3, shuffle: true }
    }
}

impl Filters {
    pub fn policy(self) -> Compression {
        match self.deflate {
            0 => Compression::None,
            level => Compression::Deflate { level, shuffle: self.shuffle },
        }
    }
}

impl Arrays {
    fn dtype(&self) -> Dtype {
        match self.dtype {
            ElementType::F64 => Dtype::F64,
            ElementType::F32 => Dtype::F32,
            ElementType::I64 => Dtype::I64,
            ElementType::I32 => Dtype::I32,
        }
    }

    /// An array `leading` × element shape whose k-th leading entry holds the series' values at the step `step_of(k)`.
    pub fn array(
        &self,
        series: usize,
        leading: &[usize],
        step_of: impl Fn(usize) -> usize,
    ) -> Result<TypedArray, Failure> {
        let steps: usize = leading.iter().product();
        let elements: usize = self.element_shape.iter().product();
        let dtype = self.dtype();
        let mut bytes = Vec::with_capacity(steps * elements * dtype.size());
        for k in 0..steps {
            for element in 0..elements {
                let at = (series as u64, step_of(k) as u64, element as u64);
                match self.dtype {
                    ElementType::F64 => bytes.extend(value(at.0, at.1, at.2).to_le_bytes()),
                    ElementType::F32 => bytes.extend((value(at.0, at.1, at.2) as f32).to_le_bytes()),
                    ElementType::I64 => bytes.extend((thousandths(at.0, at.1, at.2) as i64).to_le_bytes()),
                    ElementType::I32 => bytes.extend((thousandths(at.0, at.1, at.2) as i32).to_le_bytes()),
                }
            }
        }
        let shape = leading.iter().chain(&self.element_shape).copied().collect();
        Ok(TypedArray::new(dtype, shape, bytes)?)
    }
}

/// The first instant of every series.
pub fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_704_067_200, 0).expect("2024-01-01T00:00:00Z")
}
