//! The numbers of an attribute, from their bytes.

use super::{AttributeValue, ByteOrder, NumericType};

/// The numbers in `bytes`; a rest shorter than one number is left out.
pub(super) fn numbers(bytes: &[u8], number: NumericType, order: ByteOrder) -> AttributeValue {
    macro_rules! each {
        ($type:ty as $wide:ty) => {
            bytes
                .chunks_exact(size_of::<$type>())
                .map(|b| {
                    let b = b.try_into().expect("chunks have the width of the type");
                    match order {
                        ByteOrder::Little => <$type>::from_le_bytes(b) as $wide,
                        ByteOrder::Big => <$type>::from_be_bytes(b) as $wide,
                    }
                })
                .collect()
        };
    }
    match number {
        NumericType::I8 => AttributeValue::Integers(each!(i8 as i64)),
        NumericType::U8 => AttributeValue::Integers(each!(u8 as i64)),
        NumericType::I16 => AttributeValue::Integers(each!(i16 as i64)),
        NumericType::U16 => AttributeValue::Integers(each!(u16 as i64)),
        NumericType::I32 => AttributeValue::Integers(each!(i32 as i64)),
        NumericType::U32 => AttributeValue::Integers(each!(u32 as i64)),
        NumericType::I64 => AttributeValue::Integers(each!(i64 as i64)),
        NumericType::U64 => AttributeValue::Unsigned(each!(u64 as u64)),
        NumericType::F32 => AttributeValue::Floats(each!(f32 as f64)),
        NumericType::F64 => AttributeValue::Floats(each!(f64 as f64)),
    }
}
