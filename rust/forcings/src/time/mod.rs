//! Instants, periods and the grids they make. Calendar periods are counted by calendar, never as milliseconds.

mod instant;

pub use instant::UnixMillis;
