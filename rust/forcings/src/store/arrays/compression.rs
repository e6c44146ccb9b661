//! How the chunks of a store are compressed, and the text by which the array file remembers it.

use crate::chunks::{EncodeFilter, Filter};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The filters of every data variable of a store. Chosen when it is made; arrays read alike whatever it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// No filter.
    None,
    /// A zlib stream, of bytes that may be gathered by significance first.
    Deflate {
        /// 0 (store only) to 9 (smallest).
        level: u8,
        /// Whether bytes are gathered.
        shuffle: bool,
    },
}

impl Default for Compression {
    fn default() -> Self {
        Compression::Deflate { level: 3, shuffle: true }
    }
}

impl Compression {
    /// Refuses a level that zlib does not have.
    ///
    /// # Errors
    /// `InvalidParameter` above 9.
    pub fn check(self) -> Result<()> {
        match self {
            Compression::Deflate { level, .. } if level > 9 => {
                Err(Error::invalid(format!("DEFLATE has levels 0 to 9, not {level}")))
            }
            _ => Ok(()),
        }
    }

    /// What an array file says, or the default where it says nothing that can be understood.
    pub(super) fn from_attribute(text: Option<&str>) -> Self {
        text.and_then(Self::tolerant).unwrap_or_default()
    }

    /// A third part that is not `noshuffle` means shuffle, and further parts mean nothing, as in the files of others.
    fn tolerant(text: &str) -> Option<Self> {
        let shuffle = |part| if part == "noshuffle" { part } else { "shuffle" };
        match text.split(':').collect::<Vec<_>>()[..] {
            ["deflate", level, part, ..] => format!("deflate:{level}:{}", shuffle(part)).parse().ok(),
            ["none", ..] => Some(Compression::None),
            _ => None,
        }
    }

    /// The pipeline for elements of `width` bytes.
    pub(super) fn pipeline(self, width: usize) -> Vec<EncodeFilter> {
        match self {
            Compression::None => Vec::new(),
            Compression::Deflate { level, shuffle } => EncodeFilter::pipeline(level, shuffle, width),
        }
    }

    /// The pipeline by which a chunk joins others that have these filters; `None` if it cannot be written.
    pub(super) fn matching(self, filters: &[Filter]) -> Option<Vec<EncodeFilter>> {
        let level = match self {
            Compression::Deflate { level, .. } => level,
            Compression::None => 3,
        };
        let encoders = filters.iter().map(|filter| match filter {
            Filter::Shuffle(width) if *width > 0 => Some(EncodeFilter::Shuffle(*width)),
            Filter::Deflate => Some(EncodeFilter::Deflate(level)),
            _ => None,
        });
        let encoders: Vec<EncodeFilter> = encoders.collect::<Option<_>>()?;
        match encoders[..] {
            [] | [_] | [EncodeFilter::Shuffle(_), EncodeFilter::Deflate(_)] => Some(encoders),
            _ => None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compression::None => f.write_str("none"),
            Compression::Deflate { level, shuffle } => {
                write!(f, "deflate:{level}:{}", if *shuffle { "shuffle" } else { "noshuffle" })
            }
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// Reads `none`, `deflate:LEVEL:shuffle` and `deflate:LEVEL:noshuffle`.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(format!(
                "{text:?} is no compression; write none, deflate:LEVEL:shuffle or deflate:LEVEL:noshuffle, with a LEVEL \
                 from 0 to 9 such as deflate:3:shuffle"
            ))
        };
        let (level, shuffle) = match text.split(':').collect::<Vec<_>>()[..] {
            ["none"] => return Ok(Compression::None),
            ["deflate", level, "shuffle"] => (level, true),
            ["deflate", level, "noshuffle"] => (level, false),
            _ => return Err(bad()),
        };
        let compression = Compression::Deflate { level: level.parse().map_err(|_| bad())?, shuffle };
        compression.check().map(|()| compression)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for level in 0..10 {
            for shuffle in [true, false] {
                let compression = Compression::Deflate { level, shuffle };
                assert_eq!(compression.to_string().parse::<Compression>().unwrap(), compression);
            }
        }
        assert_eq!("none".parse::<Compression>().unwrap(), Compression::None);
        assert_eq!(Compression::default().to_string(), "deflate:3:shuffle");
    }

    #[test]
    fn an_attribute_that_makes_no_sense_means_the_default() {
        let default = Compression::default();
        for text in ["", "lz4", "deflate", "deflate:3", "deflate:x:shuffle", "deflate:10:shuffle", "deflate:-1:shuffle"]
        {
            assert_eq!(Compression::from_attribute(Some(text)), default, "{text}");
            assert!(text.parse::<Compression>().is_err(), "{text}");
        }
        for text in ["deflate:3:noshufle", "deflate:3:shuffle:x", "none:3", "none:"] {
            assert!(text.parse::<Compression>().is_err(), "{text}");
        }
        assert_eq!(Compression::from_attribute(None), default);
        let read = Compression::from_attribute(Some("deflate:5:whatever:more"));
        assert_eq!(read, Compression::Deflate { level: 5, shuffle: true });
        let read = Compression::from_attribute(Some("deflate:0:noshuffle"));
        assert_eq!(read, Compression::Deflate { level: 0, shuffle: false });
    }

    #[test]
    fn chunks_join_datasets_of_known_filters_only() {
        let compression = Compression::Deflate { level: 7, shuffle: false };
        let filters = [Filter::Shuffle(8), Filter::Deflate];
        let expected = vec![EncodeFilter::Shuffle(8), EncodeFilter::Deflate(7)];
        assert_eq!(compression.matching(&filters), Some(expected));
        assert_eq!(compression.matching(&[]), Some(vec![]));
        assert_eq!(compression.matching(&[Filter::Deflate, Filter::Shuffle(8)]), None);
        assert_eq!(compression.matching(&[Filter::Fletcher32]), None);
        assert_eq!(compression.matching(&[Filter::Shuffle(0)]), None);
    }
}
