//! The construction of a group, and its checks.

use super::depth::Depth;
use super::group::PrefetchGroup;
use super::plan::Plan;
use super::schedule::Route;
use super::spill::{Spill, SpillingSampler};
use crate::dataset::{Dataset, Selection};
use crate::provider::Sampler;
use crate::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// A member of a group.
pub(super) struct Member {
    pub(super) key: Arc<str>,
    pub(super) sampler: Arc<dyn Sampler>,
    pub(super) route: Route,
}

/// Makes what a group delivers of a member (by its key) at a time, and tells the bytes of what was decoded for it.
pub(super) type Decode<T> = Arc<dyn Fn(&str, &dyn Sampler, f64) -> Result<(T, u64)> + Send + Sync>;

/// Collects the members and options of a [`PrefetchGroup`]; made by [`PrefetchGroup::builder`]. `T` is what the group will
/// deliver of each member: a [`Dataset`], unless [`windows`](PrefetchGroupBuilder::windows) or
/// [`transform`](Self::transform) says otherwise.
#[must_use = "a builder does nothing until build is called"]
pub struct PrefetchGroupBuilder<T = Dataset> {
    members: Vec<Member>,
    decode: Decode<T>,
    windows: Option<Arc<[Selection]>>,
    options: Options,
}

/// The options that do not depend on what is delivered.
struct Options {
    /// `None` for as deep as needed.
    depth: Option<usize>,
    max_bytes: Option<u64>,
    fetch_ahead: Option<usize>,
    workers: usize,
    inline: bool,
    clip: Option<(f64, f64)>,
    trace: bool,
    host_finishes: bool,
    /// The folder of the file, and how large it may become.
    spill: Option<(PathBuf, Option<u64>)>,
}

/// The checked parts of a group.
pub(super) struct Parts<T> {
    pub(super) members: Vec<Member>,
    pub(super) decode: Decode<T>,
    pub(super) plan: Plan,
    pub(super) depth: Depth,
    pub(super) max_bytes: Option<u64>,
    pub(super) fetch_ahead: usize,
    /// How many threads decode; 0 if the consumer's thread does.
    pub(super) workers: usize,
    pub(super) trace: bool,
    pub(super) spill: Option<Arc<Spill>>,
}

impl PrefetchGroupBuilder {
    pub(super) fn new() -> Self {
        PrefetchGroupBuilder {
            members: Vec::new(),
            decode: Arc::new(|_, sampler, t| {
                let data = sampler.sample_at(t)?;
                let bytes = data.byte_len() as u64;
                Ok((data, bytes))
            }),
            windows: None,
            options: Options {
                depth: Some(2),
                max_bytes: None,
                fetch_ahead: None,
                workers: 1,
                inline: false,
                clip: None,
                trace: false,
                host_finishes: false,
                spill: None,
            },
        }
    }

    /// Delivers of every member the list of its samples under `windows`, which are decoded together:
    /// [`Sampler::sample_windows_at`].
    ///
    /// ```
    /// # use forcings::dataset::{Dataset, DimWindow, Field, Values};
    /// # use forcings::prefetch::{Order, PrefetchGroup};
    /// # use std::sync::Arc;
    /// # struct Hours;
    /// # impl forcings::provider::Sampler for Hours {
    /// #     fn refresh_times(&self) -> &[f64] {
    /// #         &[0.0, 1.0, 2.0]
    /// #     }
    /// #     fn anchor(&self, t: f64) -> forcings::Result<f64> {
    /// #         Ok(t.floor())
    /// #     }
    /// #     fn sample_at(&self, t: f64) -> forcings::Result<Dataset> {
    /// #         let values = Values::F64((0..4).map(|x| t.floor() * 10.0 + f64::from(x)).collect());
    /// #         let (dims, attributes) = (vec!["x".into()], Arc::new([]) as Arc<_>);
    /// #         let field = Field { name: "u".into(), dims, shape: vec![4], values, attributes };
    /// #         Ok(Dataset { variables: vec![field], ..Dataset::default() })
    /// #     }
    /// #     fn calendar(&self) -> Option<&str> {
    /// #         None
    /// #     }
    /// # }
    /// let windows = [DimWindow::new().range("x", 0, 2), DimWindow::new().indices("x", vec![3, 0])];
    /// let group = PrefetchGroup::builder().member("m", Arc::new(Hours)).windows(windows).build()?;
    /// group.start(Order::Reverse, None)?;
    /// let epoch = group.take(2)?;
    /// let u: Vec<&Values> = epoch["m"].data.iter().map(|data| &data.variables[0].values).collect();
    /// assert!(u[0].same_bits(&Values::F64(vec![20.0, 21.0])));
    /// assert!(u[1].same_bits(&Values::F64(vec![23.0, 20.0])));
    /// # Ok::<(), forcings::Error>(())
    /// ```
    pub fn windows<W: Into<Selection>>(
        self,
        windows: impl IntoIterator<Item = W>,
    ) -> PrefetchGroupBuilder<Vec<Dataset>> {
        let windows: Arc<[Selection]> = windows.into_iter().map(Into::into).collect();
        let bound = windows.clone();
        let decode: Decode<Vec<Dataset>> = Arc::new(move |_, sampler, t| {
            let data = sampler.sample_windows_at(t, &bound)?;
            let bytes = data.iter().map(|d| d.byte_len() as u64).sum();
            Ok((data, bytes))
        });
        PrefetchGroupBuilder { members: self.members, decode, windows: Some(windows), options: self.options }
    }
}

impl<T: Send + Sync + 'static> PrefetchGroupBuilder<T> {
    /// Adds a member. Keys differ from each other; the order in which members are added means nothing.
    pub fn member(mut self, key: impl Into<Arc<str>>, sampler: Arc<dyn Sampler>) -> Self {
        self.members.push(Member { key: key.into(), sampler, route: Route::Worker });
        self
    }

    /// Adds a member whose samples the program around the group makes: [`PrefetchGroup::next_host_job`] asks for them.
    /// Of `sampler` only the times, anchors and the calendar are used.
    ///
    /// ```
    /// # use forcings::dataset::{Dataset, Field, Values};
    /// # use forcings::prefetch::{Order, PrefetchGroup};
    /// # use std::sync::Arc;
    /// # struct Hours;
    /// # impl forcings::provider::Sampler for Hours {
    /// #     fn refresh_times(&self) -> &[f64] {
    /// #         &[0.0, 1.0, 2.0]
    /// #     }
    /// #     fn anchor(&self, t: f64) -> forcings::Result<f64> {
    /// #         Ok(t.floor())
    /// #     }
    /// #     fn sample_at(&self, t: f64) -> forcings::Result<Dataset> {
    /// #         let values = Values::F64((0..4).map(|x| t.floor() * 10.0 + f64::from(x)).collect());
    /// #         let (dims, attributes) = (vec!["x".into()], Arc::new([]) as Arc<_>);
    /// #         let field = Field { name: "u".into(), dims, shape: vec![4], values, attributes };
    /// #         Ok(Dataset { variables: vec![field], ..Dataset::default() })
    /// #     }
    /// #     fn calendar(&self) -> Option<&str> {
    /// #         None
    /// #     }
    /// # }
    /// let group = PrefetchGroup::builder().host_member("m", Arc::new(Hours)).build()?;
    /// group.start(Order::Forward, None)?;
    /// while let Some(job) = group.next_host_job() {
    ///     assert_eq!((job.key(), job.input().is_none()), ("m", true));
    ///     let data = Dataset::default();
    ///     job.complete(Ok((data, 0)));
    /// }
    /// assert!(group.take(0)?["m"].data.variables.is_empty());
    /// # Ok::<(), forcings::Error>(())
    /// ```
    pub fn host_member(mut self, key: impl Into<Arc<str>>, sampler: Arc<dyn Sampler>) -> Self {
        self.members.push(Member { key: key.into(), sampler, route: Route::Host });
        self
    }

    /// Passes every sample that a worker has decoded to the program around the group, which makes of it what is
    /// delivered: see [`PrefetchGroup::next_host_job`].
    pub fn finish_on_host(mut self) -> Self {
        self.options.host_finishes = true;
        self
    }

    /// Delivers what `f` makes of the key of a member and its data, instead of the data. It is called where they are
    /// decoded, once for each sample, and counts as decoding; the memory budget goes by the data that it is given.
    ///
    /// ```
    /// # use forcings::dataset::{Dataset, Field, Values};
    /// # use forcings::prefetch::{Order, PrefetchGroup};
    /// # use std::sync::Arc;
    /// # struct Hours;
    /// # impl forcings::provider::Sampler for Hours {
    /// #     fn refresh_times(&self) -> &[f64] {
    /// #         &[0.0, 1.0, 2.0]
    /// #     }
    /// #     fn anchor(&self, t: f64) -> forcings::Result<f64> {
    /// #         Ok(t.floor())
    /// #     }
    /// #     fn sample_at(&self, t: f64) -> forcings::Result<Dataset> {
    /// #         let values = Values::F64((0..4).map(|x| t.floor() * 10.0 + f64::from(x)).collect());
    /// #         let (dims, attributes) = (vec!["x".into()], Arc::new([]) as Arc<_>);
    /// #         let field = Field { name: "u".into(), dims, shape: vec![4], values, attributes };
    /// #         Ok(Dataset { variables: vec![field], ..Dataset::default() })
    /// #     }
    /// #     fn calendar(&self) -> Option<&str> {
    /// #         None
    /// #     }
    /// # }
    /// let sum = |key: &str, data: Dataset| match &data.variables[0].values {
    ///     Values::F64(values) => values.iter().sum::<f64>(),
    ///     _ => panic!("{key} is no field of double precision"),
    /// };
    /// let group = PrefetchGroup::builder().member("m", Arc::new(Hours)).transform(sum).build()?;
    /// group.start(Order::Forward, None)?;
    /// assert_eq!(*group.take(0)?["m"].data, 6.0);
    /// # Ok::<(), forcings::Error>(())
    /// ```
    pub fn transform<U, F>(self, f: F) -> PrefetchGroupBuilder<U>
    where
        F: Fn(&str, T) -> U + Send + Sync + 'static,
    {
        self.try_transform(move |key, data| Ok(f(key, data)))
    }

    /// As [`transform`](Self::transform), where `f` may fail; its error is raised as one of decoding is.
    pub fn try_transform<U, F>(self, f: F) -> PrefetchGroupBuilder<U>
    where
        F: Fn(&str, T) -> Result<U> + Send + Sync + 'static,
    {
        let PrefetchGroupBuilder { members, decode, windows, options } = self;
        let decode: Decode<U> = Arc::new(move |key, sampler, t| {
            let (data, bytes) = decode(key, sampler, t)?;
            Ok((f(key, data)?, bytes))
        });
        PrefetchGroupBuilder { members, decode, windows, options }
    }

    /// How many epochs are held ahead of the consumer, decoded or being decoded, counting the one it takes next: at
    /// least 1, and 2 unless set.
    pub fn depth(mut self, depth: usize) -> Self {
        self.options.depth = Some(depth);
        self
    }

    /// Holds as many epochs ahead as it takes for the consumer not to wait, within [`max_bytes`](Self::max_bytes), which
    /// has to be set: one more whenever it waits although workers had nothing to do, one less when two or more always
    /// lie finished.
    pub fn auto_depth(mut self) -> Self {
        self.options.depth = None;
        self
    }

    /// Bounds the bytes of the samples that the group keeps, held or in flight. The epoch that is taken next is decoded
    /// in any case: one that is larger is decoded alone. There is no bound unless set.
    pub fn max_bytes(mut self, max_bytes: impl Into<Option<u64>>) -> Self {
        self.options.max_bytes = max_bytes.into();
        self
    }

    /// For how many epochs behind those being decoded the files behind URLs are fetched into the cache already, by a
    /// thread of its own: as many as the depth unless set, and 0 for none. What cannot be fetched is an error only when
    /// it is decoded.
    pub fn fetch_ahead(mut self, entries: usize) -> Self {
        self.options.fetch_ahead = Some(entries);
        self
    }

    /// How many threads decode: at least 1, and 1 unless set.
    pub fn workers(mut self, workers: usize) -> Self {
        self.options.workers = workers;
        self
    }

    /// Decodes on the consumer's thread, in [`take`](PrefetchGroup::take) and
    /// [`decode_one`](PrefetchGroup::decode_one); no thread is started for it and nothing overlaps.
    pub fn inline(mut self, inline: bool) -> Self {
        self.options.inline = inline;
        self
    }

    /// Keeps to the epochs between the times `begin` and `end`: the first boundary is `begin`, or the first of the
    /// members' times if that is later, and no boundary is `end` or later.
    pub fn clip(mut self, begin: f64, end: f64) -> Self {
        self.options.clip = Some((begin, end));
        self
    }

    /// Records when what was decoded, waited for and taken: see [`PrefetchGroup::trace`].
    pub fn trace(mut self, trace: bool) -> Self {
        self.options.trace = trace;
        self
    }

    /// Writes what workers decode to a temporary file in `folder`, of `max_bytes` at most, and reads it back where a sample
    /// is asked for again, as in a sweep back over the epochs: the same bits, without decoding. The file has no name, and is
    /// gone when the group is closed. Samples that do not fit are decoded again, and so is what cannot be written or read,
    /// which [`PrefetchGroup::spill_error`] tells. Beside the memory budget, each worker takes half a megabyte for it, and
    /// names, shapes and attributes of what is spilled stay in memory. The samples that the host makes are not spilled.
    pub fn spill(mut self, folder: impl Into<PathBuf>, max_bytes: impl Into<Option<u64>>) -> Self {
        self.options.spill = Some((folder.into(), max_bytes.into()));
        self
    }

    /// Builds the group and starts its threads. Nothing is decoded before [`start`](PrefetchGroup::start).
    ///
    /// # Errors
    /// `InvalidParameter` without members, for a depth or a number of workers of 0, for a depth as needed without a
    /// memory budget, for two members with one key, for a member whose data never change or whose times are not finite,
    /// for members of different calendars, and for a clip that leaves no epoch; `Selection` for windows that cannot be
    /// bound to a member; `Io` when the system starts no thread, or makes no file in the folder to spill to.
    pub fn build(mut self) -> Result<PrefetchGroup<T>> {
        let Options { depth, max_bytes, fetch_ahead, workers, inline, clip, trace, host_finishes, spill } =
            self.options;
        if depth == Some(0) {
            return Err(Error::invalid("depth is 0; a prefetch group holds at least 1 epoch ahead"));
        }
        if depth.is_none() && max_bytes.is_none() {
            return Err(Error::invalid("a depth as needed takes what memory it gets; set max_bytes too"));
        }
        if workers == 0 {
            return Err(Error::invalid("workers is 0; a prefetch group needs at least 1 (or inline decoding)"));
        }
        self.members.sort_by(|a, b| a.key.as_bytes().cmp(b.key.as_bytes()));
        let plan = Plan::new(&self.members, self.windows.as_deref(), clip)?;
        let spill = match spill {
            Some((folder, max_bytes)) => Some(Arc::new(Spill::create(&folder, max_bytes)?)),
            None => None,
        };
        if let Some(spill) = &spill {
            let decoded = self.members.iter_mut().enumerate().filter(|(_, m)| m.route != Route::Host);
            for (index, member) in decoded {
                member.sampler = Arc::new(SpillingSampler::new(member.sampler.clone(), index, spill.clone()));
            }
        }
        for member in self.members.iter_mut().filter(|m| host_finishes && m.route == Route::Worker) {
            member.route = Route::WorkerThenHost;
        }
        let depth = depth.map_or_else(Depth::auto, Depth::fixed);
        PrefetchGroup::new(Parts {
            members: self.members,
            decode: self.decode,
            plan,
            fetch_ahead: fetch_ahead.unwrap_or(depth.get()),
            depth,
            max_bytes,
            workers: if inline { 0 } else { workers },
            trace,
            spill,
        })
    }
}
