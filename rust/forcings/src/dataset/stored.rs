//! The elements of a store as values of a field: the same bits in another container.

use super::field::Values;
use super::reuse::{self, Reusable};
use crate::array::DType;
use crate::{Error, Result};

impl Values {
    /// No elements of a stored type yet, with room for `len` of them.
    ///
    /// # Errors
    /// `Integrity` when there is no memory for them.
    pub(crate) fn with_room(dtype: DType, len: usize) -> Result<Values> {
        Ok(match dtype {
            DType::F64 => Values::F64(room(len)?),
            DType::F32 => Values::F32(room(len)?),
            DType::I64 => Values::I64(room(len)?),
            DType::I32 => Values::I32(room(len)?),
            DType::U64 => Values::U64(room(len)?),
            DType::Bool => Values::Bool(room(len)?),
        })
    }

    /// Appends elements of the type that it was made for, as a store holds them: little-endian.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        match self {
            Values::F64(v) => extend(v, bytes, f64::from_le_bytes),
            Values::F32(v) => extend(v, bytes, f32::from_le_bytes),
            Values::I64(v) => extend(v, bytes, i64::from_le_bytes),
            Values::I32(v) => extend(v, bytes, i32::from_le_bytes),
            Values::U64(v) => extend(v, bytes, u64::from_le_bytes),
            Values::Bool(v) => v.extend_from_slice(bytes),
            Values::String(_) => unreachable!("no store holds texts"),
        }
    }
}

fn room<T: Reusable>(len: usize) -> Result<Vec<T>> {
    if let Some(mut buffer) = reuse::take(len) {
        buffer.clear();
        return Ok(buffer);
    }
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(len).map_err(|_| Error::Integrity(format!("there is no memory for {len} values")))?;
    Ok(buffer)
}

fn extend<T, const N: usize>(values: &mut Vec<T>, bytes: &[u8], read: fn([u8; N]) -> T) {
    values.extend(bytes.chunks_exact(N).map(|b| read(b.try_into().expect("chunks of that length"))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_keeps_its_bits() {
        let nan = f64::from_bits(0x7ff8_dead_beef_0001);
        let mut values = Values::with_room(DType::F64, 3).unwrap();
        [nan, -0.0, 1.5].iter().for_each(|x| values.append(&x.to_le_bytes()));
        assert!(values.same_bits(&Values::F64(vec![nan, -0.0, 1.5])));
        for (dtype, bytes, expected) in [
            (DType::F32, 1.5f32.to_le_bytes().to_vec(), Values::F32(vec![1.5])),
            (DType::I64, i64::MIN.to_le_bytes().to_vec(), Values::I64(vec![i64::MIN])),
            (DType::I32, (-7i32).to_le_bytes().to_vec(), Values::I32(vec![-7])),
            (DType::U64, u64::MAX.to_le_bytes().to_vec(), Values::U64(vec![u64::MAX])),
            (DType::Bool, vec![1, 0], Values::Bool(vec![1, 0])),
        ] {
            let mut values = Values::with_room(dtype, 1).unwrap();
            values.append(&bytes);
            assert!(values.same_bits(&expected) && values.field_type() as u8 == dtype as u8, "{dtype:?}");
        }
    }

    #[test]
    fn what_no_memory_can_hold_is_an_error() {
        assert_eq!(Values::with_room(DType::I64, usize::MAX / 2).unwrap_err().kind(), crate::ErrorKind::Integrity);
    }
}
