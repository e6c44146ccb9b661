//! The values of fields while they are made: their memory, and the reads that fill it. The reads of all fields of a sample
//! share the threads, so that none of these waits between two fields.

use super::convert::{Convert, Overflow};
use super::packing::{Rules, Target};
use super::plan::{Fault, Half, Kind};
use super::read::Ask;
use super::reuse::Reusable;
use super::Values;
use crate::chunks::{run_all, Fresh, Prepared};
use crate::{Error, Result};
use std::sync::atomic::Ordering;

/// A field in the making.
pub(super) trait Pending {
    /// The reads that it needs, each with the half that it is for, in order.
    ///
    /// # Errors
    /// Those of preparing them.
    fn reads(&mut self) -> std::result::Result<Vec<Prepared<'_>>, Fault>;

    /// The fault of a half that could not be read.
    fn fault(&self, half: usize, error: Error) -> Fault;

    /// Checks what can be checked when all reads are done: that the type of the values holds them.
    ///
    /// # Errors
    /// `Format`.
    fn check(&self) -> std::result::Result<(), Fault>;

    /// The values, after the reads.
    fn finish(self: Box<Self>) -> Values;
}

/// Reads all fields on so many threads.
///
/// # Errors
/// The first in the order of the fields, and there in that of their elements; a number that its type does not hold comes after
/// what could not be read of the same field.
pub(super) fn run(fields: &mut [Box<dyn Pending + '_>], threads: usize) -> std::result::Result<(), Fault> {
    let (mut owners, mut reads) = (Vec::new(), Vec::new());
    for (k, field) in fields.iter_mut().enumerate() {
        for (half, read) in field.reads()?.into_iter().enumerate() {
            owners.push((k, half));
            reads.push(read);
        }
    }
    let failure = run_all(reads, threads).err();
    let (read, fault) = match failure {
        None => (fields.len(), None),
        Some(failure) => {
            let (field, half) = owners[failure.read];
            (field, Some(fields[field].fault(half, failure.error)))
        }
    };
    fields[..read].iter().try_for_each(|field| field.check())?;
    fault.map_or(Ok(()), Err)
}

/// Values that are there already.
pub(super) struct Done(pub(super) Values);

impl Pending for Done {
    fn reads(&mut self) -> std::result::Result<Vec<Prepared<'_>>, Fault> {
        Ok(Vec::new())
    }

    fn fault(&self, _: usize, error: Error) -> Fault {
        Fault { part: 0, error }
    }

    fn check(&self) -> std::result::Result<(), Fault> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Values {
        self.0
    }
}

/// How halves lie in the result.
#[derive(Clone, Copy)]
pub(super) enum Arrangement {
    /// There is one, the whole.
    Whole,
    /// Two take turns, `run` elements each.
    Halves { run: usize },
    /// One stands for both.
    Doubled { run: usize },
}

/// Makes the conversion of a half from its rules.
pub(super) type Make<'m, T> = dyn Fn(&Rules, &Overflow) -> Convert<T> + 'm;

/// A field of numbers.
pub(super) struct Numbers<'a, T> {
    halves: Vec<Numbered<'a, T>>,
    out: Fresh<T>,
    arrangement: Arrangement,
    wrap: fn(Vec<T>) -> Values,
}

/// One half of it.
struct Numbered<'a, T> {
    half: &'a Half<'a>,
    ask: Ask<'a>,
    convert: Convert<T>,
    overflow: Overflow,
}

impl<'a, T: Reusable> Numbers<'a, T> {
    /// Makes room for numbers; `None` where none are selected.
    ///
    /// # Errors
    /// Those of finding where they lie, and `Format` where there is no room for them.
    pub(super) fn new(
        halves: &'a [Half<'a>],
        make: &Make<T>,
        arrangement: Arrangement,
        wrap: fn(Vec<T>) -> Values,
    ) -> std::result::Result<Option<Self>, Fault> {
        let first = &halves[0];
        let out = || {
            let one = first.read.total()?;
            let twice = || one.checked_mul(2).ok_or_else(|| first.read.fault("it is too large for memory"));
            let (len, most) = match arrangement {
                Arrangement::Whole => (one, one),
                Arrangement::Halves { .. } => (twice()?, twice()?),
                Arrangement::Doubled { .. } => (one, twice()?),
            };
            if len == 0 {
                Ok(None)
            } else {
                first.read.fresh(len, most).map(Some)
            }
        };
        let Some(out) = out().map_err(|error| first.fault(error))? else { return Ok(None) };
        let numbered = |half: &'a Half<'a>| {
            let Kind::Numbers(rules) = &half.kind else { unreachable!("the halves of a plan have one type") };
            let overflow = Overflow::default();
            let ask = half.read.ask(rules.stored.width()).map_err(|error| half.fault(error))?;
            Ok(Numbered { half, ask, convert: make(rules, &overflow), overflow })
        };
        let halves = halves.iter().map(numbered).collect::<std::result::Result<_, Fault>>()?;
        Ok(Some(Numbers { halves, out, arrangement, wrap }))
    }
}

impl<T: Reusable> Pending for Numbers<'_, T> {
    fn reads(&mut self) -> std::result::Result<Vec<Prepared<'_>>, Fault> {
        let targets = match self.arrangement {
            Arrangement::Halves { run } => Vec::from(self.out.halves(run)),
            Arrangement::Whole | Arrangement::Doubled { .. } => vec![self.out.whole()],
        };
        let mut reads = Vec::with_capacity(self.halves.len());
        for (Numbered { half, ask, convert, .. }, target) in self.halves.iter().zip(targets) {
            reads.push(ask.prepare(target, &**convert).map_err(|error| half.fault(error))?);
        }
        Ok(reads)
    }

    fn fault(&self, half: usize, error: Error) -> Fault {
        self.halves[half].half.fault(error)
    }

    fn check(&self) -> std::result::Result<(), Fault> {
        self.halves.iter().try_for_each(|numbered| numbered.check().map_err(|error| numbered.half.fault(error)))
    }

    fn finish(self: Box<Self>) -> Values {
        let values = self.out.finish();
        (self.wrap)(match self.arrangement {
            Arrangement::Doubled { run } => doubled(values, run),
            _ => values,
        })
    }
}

impl<T> Numbered<'_, T> {
    fn check(&self) -> Result<()> {
        if !self.overflow.load(Ordering::Relaxed) {
            return Ok(());
        }
        let limit = match self.half.kind {
            Kind::Numbers(Rules { target: Target::F64, .. }) => {
                "2^53, which its fill value would make an inexact float64"
            }
            _ => "2^63 - 1, the largest int64",
        };
        let read = &self.half.read;
        let detail = format!("variable \"{}\" holds an integer beyond {limit}", read.field.name);
        Err(Error::format(&read.schema.path, detail))
    }
}

/// Every run of so many values twice, in the room that they have.
fn doubled<T: Copy + Default>(mut values: Vec<T>, run: usize) -> Vec<T> {
    let len = values.len();
    values.resize(2 * len, T::default());
    // From behind, where no run is overwritten that is still to be moved.
    for k in (0..len / run.max(1)).rev() {
        values.copy_within(k * run..(k + 1) * run, (2 * k + 1) * run);
        values.copy_within(k * run..(k + 1) * run, 2 * k * run);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_doubled_where_they_are() {
        let values = Vec::from_iter(1..=6);
        assert_eq!(doubled(values.clone(), 2), [1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6]);
        assert_eq!(doubled(values.clone(), 6), [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
        assert_eq!(doubled(values, 1), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
        assert!(doubled(Vec::<u8>::new(), 0).is_empty());
    }
}
