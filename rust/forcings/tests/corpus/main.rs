//! The corpus in julia/test/corpus: every case and every scenario, offline, from its cache root.

mod brackets;
mod cases;
mod expected;
mod files;
mod prefetch;
mod scenarios;
mod sockets;
mod zarr;
