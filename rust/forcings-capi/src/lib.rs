//! Capi.
