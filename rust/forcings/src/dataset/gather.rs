//! Picking from, and placing into, row-major arrays in memory.

/// Which positions of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pick {
    /// Every one, in order.
    All,
    /// These, in this order.
    List(Vec<usize>),
}

impl Pick {
    /// The number of positions of an axis of this extent.
    pub(crate) fn count(&self, extent: usize) -> usize {
        match self {
            Pick::All => extent,
            Pick::List(list) => list.len(),
        }
    }
}

/// The picked elements of an array, row-major. Every position of a pick lies within the extent of its axis.
pub(crate) fn gather<T: Clone>(values: &[T], shape: &[usize], picks: &[Pick]) -> Vec<T> {
    let total = picks.iter().zip(shape).map(|(p, s)| p.count(*s)).product();
    let mut out = Vec::with_capacity(total);
    // Trailing axes that are taken whole are one run.
    let whole = picks.iter().rev().take_while(|p| **p == Pick::All).count();
    let outer = shape.len() - whole;
    let run: usize = shape[outer..].iter().product();
    if total > 0 {
        gather_axis(values, &shape[..outer], &picks[..outer], run, 0, &mut out);
    }
    out
}

fn gather_axis<T: Clone>(values: &[T], shape: &[usize], picks: &[Pick], run: usize, at: usize, out: &mut Vec<T>) {
    let ([extent, shape @ ..], [pick, picks @ ..]) = (shape, picks) else {
        out.extend_from_slice(&values[at * run..][..run]);
        return;
    };
    let mut descend = |position| gather_axis(values, shape, picks, run, at * extent + position, out);
    match pick {
        Pick::All => (0..*extent).for_each(&mut descend),
        Pick::List(list) => list.iter().copied().for_each(&mut descend),
    }
}

/// The inverse for lists: puts `block`, which has one row of elements for each place of the first axis, and so on, at
/// those places of `out`, an array of `shape`.
pub(super) fn scatter<T>(block: Vec<T>, places: &[Vec<usize>], out: &mut [T], shape: &[usize]) {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let mut position = vec![0; places.len()];
    for value in block {
        let index: usize = position.iter().zip(places).zip(&strides).map(|((p, list), s)| list[*p] * s).sum();
        out[index] = value;
        for axis in (0..places.len()).rev() {
            position[axis] += 1;
            if position[axis] < places[axis].len() {
                break;
            }
            position[axis] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_keep_order_and_repeats() {
        let values: Vec<i32> = (0..24).collect();
        let list = |l: &[usize]| Pick::List(l.to_vec());
        assert_eq!(gather(&values, &[2, 3, 4], &[Pick::All, Pick::All, Pick::All]), values);
        assert_eq!(
            gather(&values, &[2, 3, 4], &[list(&[1]), list(&[2, 0]), Pick::All]),
            [20, 21, 22, 23, 12, 13, 14, 15]
        );
        assert_eq!(gather(&values, &[2, 3, 4], &[Pick::All, list(&[1]), list(&[3, 3])]), [7, 7, 19, 19]);
        assert_eq!(gather(&values, &[2, 3, 4], &[Pick::All, list(&[]), Pick::All]), [0; 0]);
        assert_eq!(gather(&[5], &[], &[]), [5]);
        assert_eq!(gather::<i32>(&[], &[0, 4], &[Pick::All, list(&[1])]), [0; 0]);
    }

    #[test]
    fn scattering_leaves_the_rest_as_it_was() {
        let mut out = [0; 12];
        scatter(vec![1, 2, 3, 4], &[vec![2, 0], vec![1, 3]], &mut out, &[3, 4]);
        assert_eq!(out, [0, 3, 0, 4, 0, 0, 0, 0, 0, 1, 0, 2]);
        scatter(vec![], &[vec![], vec![1]], &mut out[..4], &[2, 2]);
        assert_eq!(out[..4], [0, 3, 0, 4]);
    }
}
