//! Instants, periods and the grids they make. Calendar periods are counted by calendar, never as milliseconds.

pub mod cf;
mod instant;

pub use instant::UnixMillis;
