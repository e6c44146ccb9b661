//! Readers: the columnar way through a store. A reader is a plan that is built once over a filter; then every read
//! fills the same buffers with the values of all its series at one instant.

mod rows;
