//! Instants, periods and the grids they make. Calendar periods are counted by calendar, never as milliseconds.

pub mod calendar;
pub mod cf;
mod grid;
mod instant;
mod period;

pub use calendar::Date;
pub use grid::Grid;
pub use instant::UnixMillis;
pub use period::Period;
