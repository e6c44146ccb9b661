//! Pools: the arrays that may share a dataset, the names of these datasets, and how wide and how tall their chunks are.

use crate::array::{byte_len, ArrayView, DType};
use crate::time::Period;
use crate::{Error, Result};

/// Columns of a dataset that is filled one array at a time.
const INCREMENTAL_COLUMNS: usize = 1000;
/// Bytes of one row of a dataset that columns are added up to.
const MAX_ROW_BYTES: usize = 1 << 20;
/// A row of as many bytes is a chunk of its own.
const TALL_CHUNK_LIMIT: usize = 4 << 10;
/// Bytes that a chunk of several rows is made to have.
const TALL_CHUNK_BYTES: usize = 32 << 10;

/// What arrays have in common that are columns of one dataset. The values of an array of the pool have the shape
/// `[length, *element_shape]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PoolKey {
    /// The type of the elements.
    pub(crate) dtype: DType,
    /// The shape of one step; empty for scalars.
    pub(crate) element_shape: Vec<usize>,
    /// The number of steps.
    pub(crate) length: usize,
    /// From step to step.
    pub(crate) resolution: Period,
}

impl PoolKey {
    /// The name of the pool's first dataset.
    pub(crate) fn base_name(&self) -> String {
        let shape = match self.element_shape[..] {
            [] => "s".to_string(),
            _ => self.element_shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x"),
        };
        format!("sts_{}_{shape}_{}_{}", self.dtype.name(), self.length, self.resolution)
    }

    /// The pool of the dataset `name`; `None` if it is no name of one.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let base = name.strip_prefix("sts_")?;
        let base = base.split_once("__").map_or(base, |(base, _)| base);
        let parts: Vec<&str> = base.splitn(4, '_').collect();
        let [dtype, shape, length, resolution] = parts[..] else { return None };
        let element_shape = match shape {
            "s" => Vec::new(),
            _ => shape.split('x').map(decimal).collect::<Option<_>>()?,
        };
        let dtype = DType::from_name(dtype)?;
        let pool = PoolKey { dtype, element_shape, length: decimal(length)?, resolution: resolution.parse().ok()? };
        byte_len(dtype, &pool.element_shape).ok()?;
        byte_len(dtype, &pool.array_shape()).ok()?;
        Some(pool)
    }

    /// Bytes of one step of one array.
    pub(crate) fn block(&self) -> usize {
        self.element_shape.iter().product::<usize>() * self.dtype.width()
    }

    /// The shape of one array.
    pub(crate) fn array_shape(&self) -> Vec<usize> {
        std::iter::once(self.length).chain(self.element_shape.iter().copied()).collect()
    }

    /// The shape of a dataset of `columns` arrays.
    pub(crate) fn dataset_shape(&self, columns: usize) -> Vec<u64> {
        let own = [self.length, columns];
        own.iter().chain(&self.element_shape).map(|&d| d as u64).collect()
    }

    /// The columns of a dataset that is made for a single array.
    pub(crate) fn incremental_columns(&self) -> usize {
        self.max_columns().min(INCREMENTAL_COLUMNS)
    }

    /// The most columns of a dataset.
    pub(crate) fn max_columns(&self) -> usize {
        (MAX_ROW_BYTES / self.block().max(1)).max(1)
    }

    /// The rows of one chunk of a dataset of `columns` arrays.
    pub(crate) fn chunk_rows(&self, columns: usize) -> usize {
        let row = (columns * self.block()).max(1);
        if row >= TALL_CHUNK_LIMIT {
            1
        } else {
            TALL_CHUNK_BYTES.div_ceil(row).clamp(1, self.length.max(1))
        }
    }

    /// Refuses an array that is none of the pool, and a pool that no file can hold.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check(&self, array: &ArrayView<'_>) -> Result<()> {
        let shape = self.array_shape();
        byte_len(self.dtype, &self.element_shape)?;
        if array.dtype() != self.dtype || array.shape() != shape {
            return Err(Error::invalid(format!(
                "an array of type {} and shape {:?} is no column of {}",
                array.dtype().name(),
                array.shape(),
                self.base_name()
            )));
        }
        if self.block() > u32::MAX as usize {
            return Err(Error::invalid(format!("one step of {} has more than 4 GiB", self.base_name())));
        }
        Ok(())
    }
}

/// One element as netCDF leaves it in cells that were never written.
pub(crate) fn fill(dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F64 => 9.969_209_968_386_869e36_f64.to_le_bytes().to_vec(),
        DType::F32 => 9.969_21e36_f32.to_le_bytes().to_vec(),
        DType::I64 => (-9_223_372_036_854_775_806_i64).to_le_bytes().to_vec(),
        DType::I32 => (-2_147_483_647_i32).to_le_bytes().to_vec(),
        DType::U64 => 18_446_744_073_709_551_614_u64.to_le_bytes().to_vec(),
        DType::Bool => vec![255],
    }
}

fn decimal(text: &str) -> Option<usize> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(dtype: DType, element_shape: &[usize], length: usize, resolution: &str) -> PoolKey {
        PoolKey { dtype, element_shape: element_shape.to_vec(), length, resolution: resolution.parse().unwrap() }
    }

    #[test]
    fn names_are_those_of_the_format() {
        let cases = [
            (pool(DType::F64, &[], 4, "PT1H"), "sts_f64_s_4_PT1H"),
            (pool(DType::F64, &[3, 2], 2, "PT1H"), "sts_f64_3x2_2_PT1H"),
            (pool(DType::F64, &[], 3, "P1Y"), "sts_f64_s_3_P1Y"),
            (pool(DType::F64, &[], 3, "PT0.5S"), "sts_f64_s_3_PT0.5S"),
            (pool(DType::Bool, &[0], 0, "P7D"), "sts_bool_0_0_P7D"),
        ];
        for (pool, name) in cases {
            assert_eq!(pool.base_name(), name);
            assert_eq!(PoolKey::from_name(name).unwrap(), pool);
            assert_eq!(PoolKey::from_name(&format!("{name}__12")).unwrap(), pool);
        }
    }

    #[test]
    fn other_names_are_no_datasets() {
        for name in [
            "",
            "sts",
            "sts_",
            "x",
            "sts_f64_s_4",
            "sts_f64_s_4_PT1H_t",
            "sts_f16_s_4_PT1H",
            "sts_f64_3y2_4_PT1H",
            "sts_f64_s_-4_PT1H",
            "sts_f64_s_+4_PT1H",
            "sts_f64_s_4_1H",
            "sts_f64__4_PT1H",
            "STS_f64_s_4_PT1H",
            "sts_f64_s_99999999999999999999_PT1H",
            "sts_f64_4294967296x4294967296_0_PT1H",
        ] {
            assert_eq!(PoolKey::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn widths_and_heights() {
        let of = |dtype, shape: &[usize]| pool(dtype, shape, 8760, "PT1H");
        let caps = [
            (of(DType::F64, &[]), 131_072, 1000),
            (of(DType::F32, &[]), 262_144, 1000),
            (of(DType::Bool, &[]), 1_048_576, 1000),
            (of(DType::F64, &[3]), 43_690, 1000),
            (of(DType::F64, &[24]), 5461, 1000),
            (of(DType::F64, &[200]), 655, 655),
            (of(DType::F64, &[32768]), 4, 4),
            (of(DType::F64, &[131_072]), 1, 1),
            (of(DType::F64, &[200_000]), 1, 1),
            (of(DType::F64, &[0]), 1_048_576, 1000),
        ];
        for (pool, cap, incremental) in caps {
            assert_eq!((pool.max_columns(), pool.incremental_columns()), (cap, incremental), "{pool:?}");
        }
        let scalar = of(DType::F64, &[]);
        for (columns, rows) in [(1000, 1), (512, 1), (511, 9), (64, 64), (19, 216), (1, 4096)] {
            assert_eq!(scalar.chunk_rows(columns), rows, "{columns}");
        }
        assert_eq!(pool(DType::F64, &[], 100, "PT1H").chunk_rows(1), 100);
        assert_eq!(pool(DType::F64, &[], 0, "PT1H").chunk_rows(1), 1);
        assert_eq!(pool(DType::F64, &[0], 100, "PT1H").chunk_rows(10), 100);
    }
}
