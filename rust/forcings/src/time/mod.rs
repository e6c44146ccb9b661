//! Instants, periods and the grids they make. Calendar periods are counted by calendar, never as milliseconds.

pub mod calendar;
mod grid;
pub mod cf;
mod instant;
mod period;

pub use calendar::Date;
pub use grid::Grid;
pub use instant::UnixMillis;
pub use period::Period;
