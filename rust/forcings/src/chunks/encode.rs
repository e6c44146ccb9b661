//! From elements to a stored chunk: the two filters that stores are written with.

use super::filters::{grown, ChunkSite, Scratch};
use super::shuffle::shuffle;
use super::Filter;
use crate::{Error, Result};
use std::path::Path;

/// One step of the pipeline of a chunk that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodeFilter {
    /// Gathers bytes of equal significance; the number is the element width.
    Shuffle(usize),
    /// A zlib stream of this level, 0 to 9.
    Deflate(u8),
}

impl EncodeFilter {
    /// The pipeline that "deflate at `level`, with or without shuffle" means for elements of `width` bytes: shuffle
    /// first; no DEFLATE step at level 0.
    pub fn pipeline(level: u8, shuffle: bool, width: usize) -> Vec<EncodeFilter> {
        let shuffle = shuffle.then_some(EncodeFilter::Shuffle(width));
        let deflate = (level > 0).then_some(EncodeFilter::Deflate(level));
        shuffle.into_iter().chain(deflate).collect()
    }

    /// The filter that undoes this step.
    pub fn decoder(self) -> Filter {
        match self {
            EncodeFilter::Shuffle(width) => Filter::Shuffle(width),
            EncodeFilter::Deflate(_) => Filter::Deflate,
        }
    }
}

/// Runs `plain`, a whole chunk, through `filters`, first one first.
///
/// # Errors
/// `InvalidParameter` for a level above 9, an element width of zero or a third step.
pub fn encode_chunk(plain: &[u8], filters: &[EncodeFilter], scratch: &mut Scratch) -> Result<Vec<u8>> {
    match *filters {
        [] => Ok(plain.to_vec()),
        [EncodeFilter::Shuffle(width)] => {
            let mut out = vec![0; plain.len()];
            shuffle(plain, positive(width)?, &mut out);
            Ok(out)
        }
        [EncodeFilter::Deflate(level)] => scratch.zlib.compress(plain, None, level),
        [EncodeFilter::Shuffle(width), EncodeFilter::Deflate(level)] => {
            let Scratch { zlib, stages: [planes, _], .. } = scratch;
            let site = ChunkSite { path: Path::new("memory"), what: "a chunk to be written", chunk: 0 };
            let planes = grown(planes, plain.len(), &site)?;
            shuffle(plain, positive(width)?, planes);
            zlib.compress(planes, Some(plain.len() / width), level)
        }
        _ => Err(Error::invalid("chunks are written with a shuffle step, a DEFLATE step, or both in this order")),
    }
}

fn positive(width: usize) -> Result<usize> {
    match width {
        0 => Err(Error::invalid("the element width of a shuffle step is at least 1")),
        _ => Ok(width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::decode_chunk;
    use proptest::prelude::*;

    #[test]
    fn level_zero_means_no_deflate_step() {
        assert_eq!(EncodeFilter::pipeline(0, true, 8), [EncodeFilter::Shuffle(8)]);
        assert_eq!(EncodeFilter::pipeline(0, false, 8), []);
        assert_eq!(EncodeFilter::pipeline(3, true, 4), [EncodeFilter::Shuffle(4), EncodeFilter::Deflate(3)]);
    }

    #[test]
    fn wrong_levels_and_orders_are_refused() {
        let mut scratch = Scratch::new();
        for filters in [
            vec![EncodeFilter::Deflate(10)],
            vec![EncodeFilter::Shuffle(0)],
            vec![EncodeFilter::Deflate(1), EncodeFilter::Shuffle(8)],
        ] {
            let error = encode_chunk(&[0; 16], &filters, &mut scratch).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::InvalidParameter, "{filters:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_the_same_bytes(
            plain in proptest::collection::vec(0u8..7, 0..2000),
            level in 0u8..10,
            shuffled in any::<bool>(),
            explicit in any::<bool>(),
            width in 1usize..9,
        ) {
            let mut scratch = Scratch::new();
            let mut filters = EncodeFilter::pipeline(level, shuffled, width);
            if explicit && level == 0 {
                filters.push(EncodeFilter::Deflate(0));
            }
            let stored = encode_chunk(&plain, &filters, &mut scratch).unwrap();
            let decoders: Vec<Filter> = filters.iter().map(|f| f.decoder()).collect();
            let mut back = vec![0xaa; plain.len()];
            let site = ChunkSite { path: Path::new("memory"), what: "x", chunk: 0 };
            decode_chunk(&stored, &decoders, 0, &mut back, &mut scratch, &site).unwrap();
            prop_assert_eq!(back, plain);
        }
    }
}
