//! Bytes of a file that are held in memory, by pages.

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// The bytes of one page.
pub(super) type Page = Box<[u8; PAGE]>;

/// The pages that `len` bytes at `offset` touch: the page, where in it, and how many bytes.
pub(super) fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = (at % PAGE as u64) as usize;
        let count = (len - done).min(PAGE - within);
        done += count;
        (count > 0).then_some((at / PAGE as u64, within, count))
    })
}
