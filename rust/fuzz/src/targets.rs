//! The parsers. Each target takes any bytes, checks what must hold of what the parser made of them, and says how it ended.

mod files;
mod filters;
mod texts;

/// A parser that is fuzzed.
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Feeds it bytes; the text says how that ended. A panic is a fault of the parser, or of a rule that must hold.
    pub run: fn(&[u8]) -> String,
    /// What its inputs are made of.
    pub words: &'static [&'static [u8]],
}

/// Every target.
pub const ALL: [Target; 11] = [
    Target { name: "classic", run: files::read, words: files::CLASSIC },
    Target { name: "hdf5", run: files::read, words: files::HDF5 },
    Target { name: "selection", run: texts::selection, words: texts::SELECTION },
    Target { name: "manifest", run: texts::manifest, words: texts::MANIFEST },
    Target { name: "cf_time", run: texts::cf_time, words: texts::CF_TIME },
    Target { name: "zarr", run: texts::zarr, words: texts::ZARR },
    Target { name: "blosc", run: filters::blosc, words: &[] },
    Target { name: "inflate", run: filters::inflate, words: &[] },
    Target { name: "lz4", run: filters::lz4, words: &[] },
    Target { name: "szip", run: filters::szip, words: &[] },
    Target { name: "scale_offset", run: filters::scale_offset, words: &[] },
];
