//! Typed n-dimensional values in memory: element types, row-major little-endian arrays, and their content hash.

mod hash;

pub use hash::ArrayHash;

use crate::{Error, Result};

/// The element types of stored arrays. The numbers are part of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DType {
    /// IEEE double.
    F64 = 0,
    /// IEEE single.
    F32 = 1,
    /// Signed 64-bit integer.
    I64 = 2,
    /// Signed 32-bit integer.
    I32 = 3,
    /// Unsigned 64-bit integer.
    U64 = 4,
    /// One byte, 0 or 1.
    Bool = 5,
}

impl DType {
    /// Every type, in the order of its number.
    pub const ALL: [DType; 6] = [DType::F64, DType::F32, DType::I64, DType::I32, DType::U64, DType::Bool];

    /// The type with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// The name used in file names, hashes and the catalog.
    pub fn name(self) -> &'static str {
        ["f64", "f32", "i64", "i32", "u64", "bool"][self as usize]
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Bytes per element.
    pub fn width(self) -> usize {
        [8, 4, 8, 4, 8, 1][self as usize]
    }
}

/// A borrowed array: row-major, little-endian, `product(shape) * dtype.width()` bytes.
#[derive(Debug, Clone, Copy)]
pub struct ArrayView<'a> {
    dtype: DType,
    shape: &'a [usize],
    bytes: &'a [u8],
}

impl<'a> ArrayView<'a> {
    /// Wraps `bytes`.
    ///
    /// # Errors
    /// `InvalidParameter` when the number of bytes is not what type and shape ask for, or overflows.
    pub fn new(dtype: DType, shape: &'a [usize], bytes: &'a [u8]) -> Result<Self> {
        let wanted = byte_len(dtype, shape)?;
        if wanted != bytes.len() {
            return Err(Error::invalid(format!(
                "an array of type {} and shape {shape:?} has {wanted} bytes, not {}",
                dtype.name(),
                bytes.len()
            )));
        }
        Ok(ArrayView { dtype, shape, bytes })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents, slowest first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The elements.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The content hash: SHA-256 over type, shape and elements, NaNs made canonical.
    pub fn hash(&self) -> ArrayHash {
        hash::of(self)
    }

    /// An owned copy.
    pub fn to_array(&self) -> Array {
        Array { dtype: self.dtype, shape: self.shape.to_vec(), bytes: self.bytes.to_vec() }
    }
}

/// An owned array; two arrays are equal when type, shape and bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    dtype: DType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// Takes `bytes` over. See [`ArrayView::new`] for the layout and the errors.
    pub fn new(dtype: DType, shape: Vec<usize>, bytes: Vec<u8>) -> Result<Self> {
        ArrayView::new(dtype, &shape, &bytes)?;
        Ok(Array { dtype, shape, bytes })
    }

    /// An array of doubles.
    pub fn from_f64(shape: Vec<usize>, values: &[f64]) -> Result<Self> {
        Self::new(DType::F64, shape, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// The borrowed form.
    pub fn view(&self) -> ArrayView<'_> {
        ArrayView { dtype: self.dtype, shape: &self.shape, bytes: &self.bytes }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents, slowest first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements, taken over.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The elements as doubles, if that is their type.
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        (self.dtype == DType::F64).then(|| {
            self.bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("chunks of 8"))).collect()
        })
    }
}

/// The bytes that an array of this type and shape has.
///
/// # Errors
/// `InvalidParameter` when the product overflows.
pub fn byte_len(dtype: DType, shape: &[usize]) -> Result<usize> {
    shape
        .iter()
        .try_fold(dtype.width(), |n, &d| n.checked_mul(d))
        .filter(|&n| n <= isize::MAX as usize)
        .ok_or_else(|| Error::invalid(format!("an array of shape {shape:?} is too large")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn bytes_must_be_as_many_as_type_and_shape_ask_for() {
        for (shape, len) in [(vec![4], 31), (vec![4], 33), (vec![4], 4), (vec![], 0), (vec![0, 3], 8)] {
            let error = ArrayView::new(DType::F64, &shape, &vec![0; len]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            assert!(error.to_string().contains(&format!("{shape:?}")), "{error}");
        }
        for shape in [vec![usize::MAX, 2], vec![1 << 62, 2, 2, 0], vec![isize::MAX as usize]] {
            assert_eq!(ArrayView::new(DType::F64, &shape, &[]).unwrap_err().kind(), ErrorKind::InvalidParameter);
        }
        for (shape, len) in [(vec![], 8), (vec![4], 32), (vec![0], 0), (vec![2, 3], 48)] {
            assert_eq!(ArrayView::new(DType::F64, &shape, &vec![0; len]).unwrap().bytes().len(), len);
        }
    }
}
