//! The C interface of Forcings.
//!
//! Rules that hold for every function, which the header repeats:
//! - A function returns a status: 0, or the number of an error kind (see `forcings_last_error`). No panic crosses.
//! - Every out-parameter is zeroed before anything else happens, and written only on success.
//! - A handle (`uint64_t`) names a store, a reader, a provider, a group or a job. It may be closed twice, in any order,
//!   and used after it was closed: the second close does nothing, a use is the status `Closed`.
//! - Pointers to opaque types are counted: one `_free` or `_release` for each one handed out.
//! - Text is UTF-8, given as a pointer and a length in bytes; structured arguments are JSON text.
//! - Every function may be called on any thread. A reader and a group serve one caller at a time.
#![allow(clippy::missing_safety_doc, reason = "one contract, stated above, holds for every exported function")]

mod cache;
mod call;
mod change;
mod error;
mod forecast_reader;
mod group;
mod guard;
mod handle;
mod host;
mod input;
mod job;
mod listing;
mod maintenance;
mod output;
mod payload;
mod provider;
mod reader;
mod relations;
mod sample;
mod session;
mod status;
mod store;
mod summary;
mod table;
mod transform;
mod windows;
mod wire;

pub use cache::{
    forcings_cache_clear, forcings_cache_close, forcings_cache_describe, forcings_cache_open, forcings_cache_usage,
};
pub use change::{
    forcings_store_clear, forcings_store_copy, forcings_store_remove_matching, forcings_store_rename,
    forcings_store_replace_owner,
};
pub use error::forcings_last_error;
pub use forecast_reader::{forcings_forecast_reader_build, forcings_reader_entries, forcings_reader_slots};
pub use group::{
    forcings_group_alive, forcings_group_boundaries, forcings_group_build, forcings_group_cancel, forcings_group_close,
    forcings_group_decode_one, forcings_group_is_ready, forcings_group_note_wait, forcings_group_snapshot,
    forcings_group_start, forcings_group_stats, forcings_group_trace, forcings_group_try_take, forcings_group_wait,
};
pub use handle::{forcings_handle_is_open, forcings_handle_release, forcings_live_count, forcings_shutdown};
pub use host::{
    forcings_group_next_host_job, forcings_group_wait_host, forcings_host_complete, forcings_host_drain,
    forcings_host_fail, forcings_host_member,
};
pub use job::{forcings_job_finish, forcings_job_wait};
pub use maintenance::{
    forcings_store_check, forcings_store_compact, forcings_store_compact_physical, forcings_store_persist,
    forcings_store_state, forcings_store_verify,
};
pub use provider::{
    forcings_provider_close, forcings_provider_describe, forcings_provider_materialize, forcings_provider_open,
    forcings_provider_peek, forcings_provider_prefetch, forcings_provider_refresh, forcings_provider_sample_at,
    forcings_provider_times,
};
pub use reader::{
    forcings_buffer_release, forcings_reader_build, forcings_reader_close, forcings_reader_columns,
    forcings_reader_describe, forcings_reader_groups, forcings_reader_index_at, forcings_reader_read,
    forcings_reader_read_step, forcings_reader_timestamps, forcings_reader_values, ForcingsBuffer,
};
pub use relations::{
    forcings_relation_add, forcings_relation_count, forcings_relation_list, forcings_relation_remove,
    forcings_relation_replace, forcings_relation_types,
};
pub use sample::{
    forcings_sample_attributes, forcings_sample_dims, forcings_sample_field, forcings_sample_members,
    forcings_sample_names, forcings_sample_release, forcings_sample_strings, ForcingsSample,
};
pub use session::{forcings_session_attach, forcings_session_detach, forcings_session_drain, ForcingsWake};
pub use status::ForcingsStatus;
pub use store::{
    forcings_series_check, forcings_store_add, forcings_store_begin, forcings_store_close, forcings_store_commit,
    forcings_store_create, forcings_store_flush, forcings_store_has, forcings_store_list, forcings_store_memory,
    forcings_store_open, forcings_store_read, forcings_store_remove, forcings_store_rollback, ForcingsSeries,
};
pub use summary::{
    forcings_store_counts, forcings_store_distinct, forcings_store_forecast_parameters, forcings_store_summary,
};
pub use table::{forcings_table_column, forcings_table_free, forcings_table_size, ForcingsTable};
pub use transform::forcings_store_transform;
pub use windows::{forcings_provider_coord_window, forcings_provider_sample_windows_at, forcings_provider_with_window};

/// The version of this interface: `major * 65536 + minor`. Another major version is another interface; a larger
/// minor version only adds.
pub const FORCINGS_ABI_VERSION: u32 = 0x0001_0000;

/// The version of the loaded library, to be compared with `FORCINGS_ABI_VERSION` of the header.
#[no_mangle]
pub extern "C" fn forcings_abi_version() -> u32 {
    FORCINGS_ABI_VERSION
}
