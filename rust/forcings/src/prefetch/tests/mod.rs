//! Groups with real threads over a sampler that can be slow, held, failing or panicking.

mod build;
mod calls;
mod clip;
mod depth;
mod fake;
mod fetching;
mod forms;
mod gate;
mod hosts;
mod memory;
mod overlap;
mod spill;
mod trace;
mod transform;
mod waking;
mod windows;
