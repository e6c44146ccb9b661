//! Feeds mutated bytes to every parser of Forcings that reads bytes from outside: [`targets`] has the parsers, [`mutate`]
//! makes the bytes, [`child`] runs a target under limits, and the program `fuzz` leads the children and keeps what ends one.
//!
//! There is no instrumentation: an input is kept as a seed when it ends in a way that none before did (another kind of
//! error, another text, another shape of the result).

pub mod child;
pub mod corpus;
#[path = "../../forcings/tests/mutation/limits.rs"]
mod limits;
pub mod mutate;
#[path = "../../forcings/tests/mutation/mod.rs"]
mod mutation;
pub mod targets;
