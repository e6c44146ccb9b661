//! Files with random damage: whatever the bytes are, opening and reading ends in a value or an error, without a panic,
//! with bounded reads and bounded memory.

mod container_support;
#[path = "../src/formats/hdf5/tests/library.rs"]
mod library;
mod mutation;

use forcings::chunks::{ByteSource, MemorySource};
use forcings::formats::{open_source, ElementType};
use library::{Library, Spec, UNLIMITED};
use mutation::{repair, Random};
use netcdf::Options;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

/// Bytes in use, and the most that were.
static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; only counters are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// More than any of the small files needs, far less than their damaged headers ask for.
const MAX_MEMORY: usize = 200 << 20;
const MAX_READ_BYTES: u64 = 200 << 20;
const MAX_READS: u64 = 200_000;
/// Variables with more elements are listed, not read.
const MAX_ELEMENTS: u64 = 1 << 21;

/// Bytes that count how often and how much is read.
struct Counted {
    bytes: MemorySource,
    reads: AtomicU64,
    read_bytes: AtomicU64,
}

impl ByteSource for Counted {
    fn len(&self) -> u64 {
        self.bytes.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> forcings::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.read_bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.bytes.read_at(offset, buffer)
    }

    fn path(&self) -> &Path {
        self.bytes.path()
    }
}

/// Reads all there is; the number of variables that could be read.
fn exercise(bytes: Vec<u8>) -> usize {
    let source = Arc::new(Counted {
        bytes: MemorySource::new("damaged", bytes),
        reads: AtomicU64::new(0),
        read_bytes: AtomicU64::new(0),
    });
    PEAK.store(USED.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = USED.load(Ordering::Relaxed);
    let mut good = 0;
    for group in [None, Some("g")] {
        let Ok(file) = open_source(source.clone(), group) else { continue };
        for (i, variable) in file.variables().iter().enumerate() {
            let count = variable.shape.iter().fold(1_u64, |n, len| n.saturating_mul(*len));
            let read = match variable.element {
                ElementType::String => file.strings(i).is_ok(),
                _ if count > MAX_ELEMENTS => file.layout(i).is_ok(),
                _ => container_support::bytes(file.as_ref(), i).is_ok(),
            };
            good += usize::from(read);
        }
    }
    let used = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    assert!(used < MAX_MEMORY, "{used} bytes of memory");
    assert!(source.reads.load(Ordering::Relaxed) < MAX_READS, "{:?} reads", source.reads);
    assert!(source.read_bytes.load(Ordering::Relaxed) < MAX_READ_BYTES, "{:?} bytes read", source.read_bytes);
    good
}

/// Damages 1 to 4 places of `file` outside `spared`.
fn damage(file: &mut [u8], random: &mut Random, spared: &std::ops::Range<usize>) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(file.len());
        if spared.contains(&at) {
            continue;
        }
        match random.below(4) {
            0 => file[at] = 0xff,
            1 => file[at] = 0,
            2 => file[at] ^= 1 << random.below(8),
            _ => file[at] = random.below(256) as u8,
        }
    }
}

fn written(name: &str, write: impl FnOnce(&Path)) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    write(&path);
    std::fs::read(&path).unwrap()
}

fn netcdf4(path: &Path) {
    let mut file = netcdf::create(path).unwrap();
    file.add_dimension("x", 5).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_attribute("title", "damage").unwrap();
    file.add_attribute("names", vec!["a", "bb"]).unwrap();
    for i in 0..10 {
        let mut v = file.add_variable::<f32>(&format!("v{i}"), &["t", "x"]).unwrap();
        v.set_chunking(&[2, 3]).unwrap();
        v.set_compression(1, true).unwrap();
        v.put_values(&[i as f32; 20], ([0, 0], [4, 5])).unwrap();
        v.put_attribute("scale_factor", 0.5).unwrap();
    }
    let mut strings = file.add_string_variable("s", &["x"]).unwrap();
    (0..5).for_each(|i| strings.put_string("some text", i).unwrap());
    let mut group = file.add_group("g").unwrap();
    group.add_variable::<i32>("w", &["x"]).unwrap().put_values(&[1, 2, 3, 4, 5], ..).unwrap();
}

fn classic(path: &Path, options: Options) {
    let mut file = netcdf::create_with(path, options).unwrap();
    file.add_dimension("x", 5).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_attribute("title", "damage").unwrap();
    for i in 0..4 {
        let mut v = file.add_variable::<i16>(&format!("v{i}"), &["t", "x"]).unwrap();
        v.put_attribute("scale_factor", 0.5).unwrap();
        file.add_variable::<f64>(&format!("w{i}"), &["x"]).unwrap();
    }
    file.enddef().unwrap();
    for i in 0..4 {
        file.variable_mut(&format!("v{i}")).unwrap().put_values(&[7_i16; 20], ([0, 0], [4, 5])).unwrap();
    }
}

/// Chunk indexes of every kind; with `latest` the new ones, else structures without a checksum.
fn indexes(path: &Path, latest: bool) {
    let library = Library::create(path, latest, 0);
    let spec = |dims: &[u64], max: &[u64], chunk: &[u64]| Spec {
        dims: dims.to_vec(),
        max: max.to_vec(),
        chunk: chunk.to_vec(),
        ..Spec::default()
    };
    let all = [
        ("single", spec(&[4, 6], &[], &[4, 6])),
        ("fixed", spec(&[20, 30], &[], &[3, 7])),
        ("fixed_grows", spec(&[20, 30], &[40, 60], &[3, 7])),
        ("implicit", Spec { early: true, ..spec(&[20, 30], &[], &[3, 7]) }),
        ("extensible", spec(&[60, 4], &[UNLIMITED, 4], &[1, 4])),
        ("tree", spec(&[20, 30], &[UNLIMITED, UNLIMITED], &[3, 4])),
        ("compact", Spec { compact: true, ..spec(&[4, 4], &[], &[]) }),
        ("contiguous", spec(&[4, 4], &[], &[])),
    ];
    for (name, base) in &all {
        let chunked = !base.chunk.is_empty();
        for deflate in [false, true] {
            if deflate && (!chunked || *name == "implicit") {
                continue;
            }
            let name = format!("{name}{}", if deflate { "_deflated" } else { "" });
            library.dataset(&name, &Spec { deflate, shuffle: deflate, fletcher32: deflate, ..base.clone() });
            let count = base.dims.iter().product::<u64>();
            library.write(&name, &vec![0; base.dims.len()], &base.dims, &(0..count as i32).collect::<Vec<_>>());
        }
    }
    library.group("g");
    library.dataset("g/x", &all[0].1);
}

#[test]
fn damaged_files_neither_panic_nor_exhaust_reads_or_memory() {
    let files = [
        ("netCDF-4", written("a.nc", netcdf4)),
        ("CDF-1", written("b.nc", |path| classic(path, Options::empty()))),
        ("CDF-5", written("c.nc", |path| classic(path, Options::_64BIT_DATA))),
        ("old indexes", written("d.nc", |path| indexes(path, false))),
        ("new indexes", written("e.nc", |path| indexes(path, true))),
    ];
    let mut random = Random::new(0);
    for (name, file) in &files {
        let whole = exercise(file.clone());
        assert!(whole >= 8, "{name}: {whole}");
        let mut harmed = 0;
        for round in 0..800 {
            let mut damaged = file.clone();
            // Half of the damage goes to the first bytes, where headers are dense.
            let spared = if round % 2 == 0 { 4096.min(file.len() / 2)..file.len() } else { 0..0 };
            damage(&mut damaged, &mut random, &spared);
            if round % 4 != 3 {
                repair(&mut damaged);
            }
            if round % 16 == 15 {
                damaged.truncate(random.below(file.len()));
            }
            harmed += usize::from(exercise(damaged) < whole);
        }
        assert!(harmed > 100, "{name}: only {harmed} of the damages were noticed");
    }
}
