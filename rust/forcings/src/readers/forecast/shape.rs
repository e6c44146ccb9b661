//! How the windows of an array are interleaved, and how they are taken apart.

/// How the windows of an array are interleaved: before the axis that counts them lie `outer` positions, behind it `inner`
/// bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowShape {
    outer: usize,
    inner: usize,
}

impl WindowShape {
    /// That of an array of this shape, whose windows are counted along `axis`.
    pub(super) fn new(shape: &[usize], axis: usize, width: usize) -> Self {
        let product = |extents: &[usize]| extents.iter().product::<usize>();
        WindowShape { outer: product(&shape[..axis]), inner: product(&shape[axis + 1..]) * width }
    }

    /// Bytes of one window.
    pub(super) fn bytes(&self) -> usize {
        self.outer * self.inner
    }

    /// Takes interleaved windows apart: of `from`, which has `extent` of them, the first ones into `to`, one behind the
    /// other, as many as there is room for.
    pub(super) fn part(&self, from: &[u8], extent: usize, to: &mut [u8]) {
        // Elements of a known size are copied by one instruction instead of a call.
        fn fixed<const N: usize>(from: &[u8], to: &mut [u8], stride: usize) {
            for (value, window) in from.chunks_exact(N).zip(to.chunks_mut(stride)) {
                window[..N].copy_from_slice(value);
            }
        }
        if to.is_empty() {
            return;
        }
        for (outer, windows) in from.chunks_exact(extent * self.inner).enumerate() {
            let to = &mut to[outer * self.inner..];
            match self.inner {
                8 => fixed::<8>(windows, to, self.bytes()),
                4 => fixed::<4>(windows, to, self.bytes()),
                inner => {
                    for (value, window) in windows.chunks_exact(inner).zip(to.chunks_mut(self.bytes())) {
                        window[..inner].copy_from_slice(value);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_taken_apart_whatever_lies_around_their_axis() {
        for (shape, axis, width) in [
            (vec![3, 5], 1, 8),
            (vec![3, 5], 1, 4),
            (vec![2, 3, 5], 2, 1),
            (vec![3, 5, 2], 1, 8),
            (vec![2, 3, 5, 4], 2, 1),
            (vec![1, 5], 1, 8),
            (vec![3, 5, 0], 1, 8),
        ] {
            let len = shape.iter().product::<usize>() * width;
            let from: Vec<u8> = (0..len).map(|k| (k * 37) as u8).collect();
            let windows = WindowShape::new(&shape, axis, width);
            let inner = shape[axis + 1..].iter().product::<usize>() * width;
            for count in 0..=shape[axis] {
                let mut to = vec![0xaa; count * windows.bytes()];
                windows.part(&from, shape[axis], &mut to);
                let mut expected = Vec::new();
                for w in 0..count {
                    for row in from.chunks(shape[axis] * inner.max(1)).filter(|_| inner > 0) {
                        expected.extend_from_slice(&row[w * inner..(w + 1) * inner]);
                    }
                }
                assert_eq!(to, expected, "{shape:?} {count}");
            }
        }
    }
}
