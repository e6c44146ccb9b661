//! Reads that share threads, and outputs that reads share.

use super::*;

/// A variable within extents that may be longer, what is read of it, and what that gives, by the definition.
struct Wide {
    case: Case,
    extents: Vec<u64>,
    axes: Vec<AxisRead>,
    wanted: Vec<u64>,
}

fn number(element: &[u8]) -> u64 {
    element.iter().fold(7, |n, b| n << 8 | u64::from(*b))
}

impl Wide {
    fn new(recipe: &Recipe, more: u64) -> Self {
        let case = build(recipe);
        let extents: Vec<u64> = case.shape.iter().map(|extent| extent + more).collect();
        let widened = |read: &AxisRead, extent: u64| match read {
            AxisRead::Slice { start, stop, step } => AxisRead::Slice { start: *start, stop: stop + more, step: *step },
            AxisRead::Indices(list) if more > 0 => AxisRead::Indices([&[extent], &list[..], &[extent]].concat()),
            read => read.clone(),
        };
        let axes = recipe.axes.iter().map(|(extent, _, read)| widened(read, *extent)).collect();
        let fill = case.fill.clone().unwrap_or(vec![0; case.width]);
        let mut wide = vec![];
        for k in 0..extents.iter().product::<u64>() {
            let mut rest = k;
            let mut at: Vec<u64> = extents.iter().rev().map(|e| (rest % e, rest /= e).0).collect();
            at.reverse();
            let inside = at.iter().zip(&case.shape).all(|(i, extent)| i < extent);
            let cell = at.iter().zip(&case.shape).fold(0, |n, (i, extent)| n * extent + i) as usize * case.width;
            wide.extend_from_slice(if inside { &case.plain[cell..][..case.width] } else { &fill });
        }
        let picked = Case { plain: wide, shape: extents.clone(), ..build(recipe) };
        let mut wide = Wide { case, extents, axes, wanted: Vec::new() };
        wide.wanted = picked.expected(&wide.axes).chunks_exact(wide.case.width).map(number).collect();
        wide
    }

    fn prepare<'a>(&'a self, out: Target<'a, u64>, convert: &'a Convert<'a, u64>) -> Prepared<'a> {
        Prepared::new(&self.case.request(&self.axes), &self.extents, out, convert).unwrap()
    }
}

/// Every run of `run` values twice.
fn twice(values: &[u64], run: usize) -> Vec<u64> {
    values.chunks(run.max(1)).flat_map(|run| [run, run].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn reads_that_share_threads_and_outputs_agree_with_the_definition(
        recipes in proptest::collection::vec((recipe(), 0u64..3, any::<usize>(), any::<bool>()), 1..5),
        threads in 1usize..4,
    ) {
        let wides: Vec<Wide> = recipes.iter().map(|(recipe, more, ..)| Wide::new(recipe, *more)).collect();
        let converts: Vec<_> = wides
            .iter()
            .map(|wide| {
                let width = wide.case.width;
                move |raw: &[u8], items: &mut [u64]| {
                    raw.chunks_exact(width).zip(items).for_each(|(element, item)| *item = number(element));
                }
            })
            .collect();
        // Alone in its output, or as both halves of one.
        let run = |wide: &Wide, choice: usize| {
            let lens = (1..=wide.wanted.len()).filter(|run| wide.wanted.len() % run == 0).collect::<Vec<_>>();
            lens.get(choice % lens.len().max(1)).copied().unwrap_or(1)
        };
        let mut outs = Vec::new();
        for (wide, (_, _, _, new)) in wides.iter().zip(&recipes) {
            for len in [wide.wanted.len(), 2 * wide.wanted.len()] {
                outs.push(if *new { Fresh::new(len, len).unwrap() } else { Fresh::reusing(vec![3; len]) });
            }
        }
        let mut reads = Vec::new();
        for (((wide, convert), (_, _, choice, _)), outs) in
            wides.iter().zip(&converts).zip(&recipes).zip(outs.chunks_exact_mut(2))
        {
            let [alone, shared] = outs else { unreachable!() };
            reads.push(wide.prepare(alone.whole(), convert));
            reads.extend(shared.halves(run(wide, *choice)).map(|half| wide.prepare(half, convert)));
        }
        run_all(reads, threads).unwrap();
        let mut outs = outs.into_iter().map(Fresh::finish);
        for (wide, (_, _, choice, _)) in wides.iter().zip(&recipes) {
            prop_assert_eq!(&outs.next().unwrap(), &wide.wanted);
            prop_assert_eq!(outs.next().unwrap(), twice(&wide.wanted, run(wide, *choice)));
        }
    }
}

#[test]
fn the_first_damage_of_the_first_damaged_read_is_told_and_the_reads_before_it_are_whole() {
    let mut cases = [(); 4].map(|()| table_4_by_6(vec![Filter::Deflate]));
    for (case, damaged) in [(1, 2), (1, 3), (2, 0), (3, 1)] {
        let Layout::Chunked(table) = &mut cases[case].layout else { unreachable!() };
        table.entries[damaged].offset += 1;
    }
    let axes = [AxisRead::All, AxisRead::All];
    let convert = |raw: &[u8], items: &mut [u8]| items.copy_from_slice(raw);
    for threads in 1..6 {
        let mut outs = [(); 4].map(|()| Fresh::new(24, 24).unwrap());
        let mut reads = Vec::new();
        for (case, out) in cases.iter().zip(&mut outs) {
            reads.push(Prepared::new(&case.request(&axes), &case.shape, out.whole(), &convert).unwrap());
        }
        let failure = run_all(reads, threads).unwrap_err();
        assert_eq!(failure.read, 1);
        let text = failure.error.to_string();
        assert!(text.starts_with("a.nc: chunk 2 of variable \"u\""), "{text}");
        let [first, ..] = outs;
        assert_eq!(first.finish(), cases[0].plain);
    }
}

#[test]
fn an_axis_that_is_read_whole_is_no_shorter_than_the_variable() {
    let case = table_4_by_6(vec![]);
    let convert = |raw: &[u8], items: &mut [u8]| items.copy_from_slice(raw);
    let mut out = Fresh::new(12, 12).unwrap();
    let part = [AxisRead::Slice { start: 0, stop: 2, step: 1 }, AxisRead::All];
    for (axes, is_refused) in [(&[AxisRead::All, AxisRead::All], true), (&part, false)] {
        let prepared = Prepared::new(&case.request(axes), &[2, 6], out.whole(), &convert).map(drop);
        assert_eq!(
            prepared.map_err(|error| error.kind()),
            if is_refused { Err(ErrorKind::InvalidParameter) } else { Ok(()) }
        );
    }
}
