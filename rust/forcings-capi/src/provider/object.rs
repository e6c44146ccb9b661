//! What a handle of a provider names: one over files, or one over a reader. What only the other kind can do is an error
//! that says so.

use crate::handle::Object;
use forcings::dataset::{CoordWindow, Dataset, DimWindow, FloatType, Selection};
use forcings::provider::{Provider, ReaderProvider, Sampler};
use forcings::{Error, Result};
use std::sync::Arc;

/// The anchor of data that do not depend on time.
pub(crate) const NO_ANCHOR: f64 = 0.0;

pub(crate) enum ProviderObject {
    Files(Provider),
    Reader(ReaderProvider),
}

impl Object for ProviderObject {
    const NOUN: &'static str = "provider";
    const CLOSE_ORDER: u8 = 2;
}

impl ProviderObject {
    /// For a member of a group, which outlives the handle. The floating-point data of files have the type `eltype`, if it
    /// is given; the series of a store keep theirs.
    pub(crate) fn member(&self, eltype: Option<FloatType>) -> Arc<dyn Sampler> {
        match self {
            ProviderObject::Files(provider) => match eltype {
                Some(eltype) => Arc::new(provider.with_eltype(eltype)),
                None => Arc::new(provider.clone()),
            },
            ProviderObject::Reader(provider) => Arc::new(provider.clone()),
        }
    }

    pub(crate) fn sampler(&self) -> &dyn Sampler {
        match self {
            ProviderObject::Files(provider) => provider,
            ProviderObject::Reader(provider) => provider,
        }
    }

    pub(crate) fn is_const(&self) -> bool {
        self.sampler().refresh_times().is_empty()
    }

    pub(crate) fn supports_selection(&self) -> bool {
        match self {
            ProviderObject::Files(provider) => provider.supports_selection(),
            ProviderObject::Reader(_) => true,
        }
    }

    /// The anchor of a sample.
    pub(crate) fn anchor(&self, t: f64) -> Result<f64> {
        if self.is_const() {
            Ok(NO_ANCHOR)
        } else {
            self.sampler().anchor(t)
        }
    }

    pub(crate) fn refresh(&self, t: f64) -> Result<Arc<Dataset>> {
        match self {
            ProviderObject::Files(provider) => provider.refresh(t),
            ProviderObject::Reader(provider) => provider.refresh(t),
        }
    }

    pub(crate) fn peek(&self, t: f64, select: &Selection) -> Result<Dataset> {
        match self {
            ProviderObject::Files(provider) => provider.peek(t, select),
            ProviderObject::Reader(provider) => provider.peek(t, select),
        }
    }

    pub(crate) fn materialize(&self) -> Result<Arc<Dataset>> {
        match self {
            ProviderObject::Files(provider) => provider.materialize(),
            ProviderObject::Reader(_) => {
                Err(Error::invalid("the series of a store change with time; use refresh or sample_at with a time"))
            }
        }
    }

    /// The number of files that were fetched: a store is local.
    pub(crate) fn prefetch(&self, from: f64, to: f64) -> Result<usize> {
        match self {
            ProviderObject::Files(provider) => provider.prefetch(from, to),
            ProviderObject::Reader(_) if from.is_nan() || to.is_nan() => {
                Err(Error::invalid(format!("the times {from} to {to} are no window")))
            }
            ProviderObject::Reader(_) => Ok(0),
        }
    }

    pub(crate) fn with_window(&self, window: Selection) -> Result<ProviderObject> {
        Ok(match self {
            ProviderObject::Files(provider) => ProviderObject::Files(provider.with_window(window)?),
            ProviderObject::Reader(provider) => ProviderObject::Reader(provider.with_window(window)?),
        })
    }

    pub(crate) fn coord_window(&self, window: &CoordWindow) -> Result<DimWindow> {
        match self {
            ProviderObject::Files(provider) => provider.coord_window(window),
            ProviderObject::Reader(_) => Err(Error::Selection(
                "the columns of a store do not lie along a coordinate that ascends or descends; name them by their \
                 positions, in a window of the dimension \"column\""
                    .into(),
            )),
        }
    }
}
