//! BloscLZ, the compressor that Blosc 1 brings along: runs of literal bytes, and copies of what came before.

/// A distance of 13 bits that is all ones announces one of 16 bits, counted from here.
const MAX_NEAR: usize = 8191;

/// Decodes `stream` into `out`; returns the bytes that it holds, or nothing where it is damaged or has more.
pub(super) fn decode(stream: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut stream = stream.iter();
    let mut next = || stream.next().copied().map(usize::from);
    let mut at = 0;
    // A stream starts with literals: the upper bits of its first byte are the version.
    let mut control = next().map(|byte| byte & 31);
    while let Some(code) = control {
        if code < 32 {
            for cell in out.get_mut(at..at + code + 1)? {
                *cell = next()? as u8;
            }
            at += code + 1;
        } else {
            let mut len = (code >> 5) + 2;
            if len == 9 {
                loop {
                    let more = next()?;
                    len += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            let (high, low) = (code & 31, next()?);
            let mut distance = high << 8 | low;
            if distance == MAX_NEAR {
                distance = (next()? << 8 | next()?) + MAX_NEAR;
            }
            copy(out, at, distance + 1, len)?;
            at += len;
        }
        control = next();
    }
    Some(at)
}

/// Repeats the bytes `distance` before `at`; those that it has just written, where `len` is more than that.
fn copy(out: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    let from = at.checked_sub(distance)?;
    let end = at.checked_add(len).filter(|end| *end <= out.len())?;
    if distance >= len {
        out.copy_within(from..from + len, at);
    } else if distance == 1 {
        let byte = out[from];
        out[at..end].fill(byte);
    } else {
        for i in at..end {
            out[i] = out[i - distance];
        }
    }
    Some(())
}
