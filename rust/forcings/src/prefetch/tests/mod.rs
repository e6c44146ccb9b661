//! Groups with real threads over a sampler that can be slow, held, failing or panicking.

mod build;
mod calls;
mod fake;
mod gate;
mod memory;
mod overlap;
mod waking;
