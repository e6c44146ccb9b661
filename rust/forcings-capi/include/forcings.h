/* The C interface of Forcings. Generated from the Rust sources by `make header`; never edited.
 *
 * A function returns a ForcingsStatus; `forcings_last_error` has the text of the last one of its thread that was not 0.
 * Out-parameters are zeroed first and written only on success.
 * A handle (uint64_t) names a store, a reader, a provider, a group or a job; it may be closed twice and in any order,
 * and its use after that is FORCINGS_STATUS_CLOSED. Pointers to opaque types are counted: one free or release for each.
 * Text is UTF-8, a pointer and a length in bytes; structured arguments are JSON text; times are milliseconds since 1970
 * where they are integers.
 * Every function may be called on any thread; a reader and a group serve one caller at a time.
 * A function with `out_job` runs on the caller's thread when that is null. Otherwise it returns at once with a handle
 * in it: wait until `forcings_job_wait`, then `forcings_job_finish` returns the status and writes the other
 * out-parameters; they, and the arguments said to be borrowed, must stay valid until then.
 * `forcings_handle_release` instead drops the result, and closes what the call opened.
 */


#ifndef FORCINGS_H
#define FORCINGS_H

#include <stdint.h>

// The version of this interface: `major * 65536 + minor`. Another major version is another interface; a larger
// minor version only adds.
#define FORCINGS_ABI_VERSION 65536

// What a function returns. Numbers are never used again for something else.
typedef enum ForcingsStatus {
  // The call succeeded.
  FORCINGS_STATUS_OK = 0,
  // An argument breaks a rule.
  FORCINGS_STATUS_INVALID_PARAMETER = 1,
  // There is no such series, variable, array or file content.
  FORCINGS_STATUS_NOT_FOUND = 2,
  // A series of this identity is in the store.
  FORCINGS_STATUS_DUPLICATE_TIME_SERIES = 3,
  // The pair is already associated.
  FORCINGS_STATUS_DUPLICATE_ASSOCIATION = 4,
  // An instant lies outside a grid, or between its steps.
  FORCINGS_STATUS_OFF_GRID = 5,
  // A window or another selection does not fit the data.
  FORCINGS_STATUS_SELECTION = 6,
  // A file is not what it should be.
  FORCINGS_STATUS_FORMAT = 20,
  // Stored state contradicts itself.
  FORCINGS_STATUS_INTEGRITY = 21,
  // The store was written in another version of the format.
  FORCINGS_STATUS_INCOMPATIBLE_FORMAT = 22,
  // The data need a feature that the library lacks.
  FORCINGS_STATUS_UNSUPPORTED = 23,
  // The operating system refused.
  FORCINGS_STATUS_IO = 40,
  // SQLite refused.
  FORCINGS_STATUS_CATALOG = 41,
  // The HDF5 library refused.
  FORCINGS_STATUS_HDF5 = 42,
  // The cache is offline and does not hold the resource.
  FORCINGS_STATUS_CACHE_MISS = 43,
  // A remote source could not be asked, or its answer not be used.
  FORCINGS_STATUS_TRANSPORT = 44,
  // The store was opened for reading only.
  FORCINGS_STATUS_READ_ONLY_STORE = 60,
  // Another handle holds the store.
  FORCINGS_STATUS_STORE_IN_USE = 61,
  // There is a store already.
  FORCINGS_STATUS_STORE_EXISTS = 62,
  // The object was closed.
  FORCINGS_STATUS_CLOSED = 63,
  // A prefetch group refused the call in its present state.
  FORCINGS_STATUS_GROUP = 64,
  // The caller's own code failed: what it passed to `forcings_host_fail`.
  FORCINGS_STATUS_HOST = 65,
  // A bug of the library, caught at its boundary.
  FORCINGS_STATUS_INTERNAL = 99,
} ForcingsStatus;

// Keeps the buffer of a reader. Opaque and counted: one `forcings_buffer_release` for each.
typedef struct ForcingsBuffer ForcingsBuffer;

// The data of one or more members at a time: datasets, numbered from 0. Read-only; may be read on any thread.
typedef struct ForcingsSample ForcingsSample;

// A result with named, typed columns of one length. Read-only; may be read on any thread.
typedef struct ForcingsTable ForcingsTable;

// A function like libuv's `uv_async_send`: may be called on any thread, wakes an event loop.
typedef int32_t (*ForcingsWake)(void*);

// One series to add, of any type but the derived one, which a transform makes. Members that its type does not have are
// ignored. A period is a number of milliseconds or of calendar months: at most one of the two is not 0.
typedef struct ForcingsSeries {
  // The size of this struct in bytes.
  uint64_t size;
  // JSON: `owner` (`id`, `type`, `category`), `name`, `features`, `units`, `ext`.
  const uint8_t *meta;
  // Its length in bytes.
  uint64_t meta_len;
  // How the instants are to be spelled: `utc`, `zoneless`, an offset like `-07:00` or the name of a zone; null if that is
  // not said.
  const uint8_t *time_reference;
  // Its length in bytes.
  uint64_t time_reference_len;
  // The type: 0 single, 1 non-sequential, 2 persistent, 3 deterministic, 5 probabilistic, 6 scenarios.
  uint64_t series_type;
  // The first instant, or the start of the first window, in milliseconds since 1970.
  int64_t initial_ms;
  // From step to step, in milliseconds.
  int64_t resolution_ms;
  // From step to step, in months.
  int64_t resolution_months;
  // The span of a window, in milliseconds.
  int64_t horizon_ms;
  // The span of a window, in months.
  int64_t horizon_months;
  // From window to window, in milliseconds.
  int64_t interval_ms;
  // From window to window, in months.
  int64_t interval_months;
  // The instants of a non-sequential or persistent series, in milliseconds since 1970.
  const int64_t *timestamps;
  // Their number.
  uint64_t timestamps_len;
  // The percentiles of a probabilistic forecast.
  const double *percentiles;
  // Their number.
  uint64_t percentiles_len;
  // The extents of the values, slowest first: `[steps, element...]`, for forecasts `[steps, windows, element...]` with the
  // percentiles or scenarios in front.
  const uint64_t *shape;
  // Their number.
  uint64_t rank;
  // The values, row-major and little-endian.
  const uint8_t *values;
  // Their length in bytes.
  uint64_t values_len;
  // Their type: 0 `double`, 1 `float`, 2 `int64_t`, 3 `int32_t`, 4 `uint64_t`, 5 bytes 0 or 1.
  uint64_t dtype;
} ForcingsSeries;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the loaded library, to be compared with `FORCINGS_ABI_VERSION` of the header.
uint32_t forcings_abi_version(void);

// Opens a cache. `options` is JSON: optionally `dir` (its root) and `offline`; what is missing comes from the environment.
// Nothing is made on the disk before something is fetched.
int32_t forcings_cache_open(const uint8_t *options,
                            uint64_t options_len,
                            uint64_t *out_cache);

// Closes a cache. Providers that use it stay valid.
int32_t forcings_cache_close(uint64_t cache);

// A table with one row: `root` and `offline`.
int32_t forcings_cache_describe(uint64_t cache, struct ForcingsTable **out_table);

// A table of what the cache holds, one row for each source: `source` (none for files whose source is not known), `files`,
// `bytes`. See `out_job` above.
int32_t forcings_cache_usage(uint64_t cache,
                             struct ForcingsTable **out_table,
                             uint64_t *out_job);

// Removes files of a cache. `options` is JSON: optionally `older_than_s` (seconds since they were fetched) and `source`;
// all files without either. The numbers of files and bytes that were removed are written. See `out_job` above.
int32_t forcings_cache_clear(uint64_t cache,
                             const uint8_t *options,
                             uint64_t options_len,
                             uint64_t *out_files,
                             uint64_t *out_bytes,
                             uint64_t *out_job);

// Gives a series another name; its id stays. See `out_job` above.
int32_t forcings_store_rename(uint64_t store,
                              int64_t id,
                              const uint8_t *name,
                              uint64_t name_len,
                              uint64_t *out_job);

// Adds a series with the array, the features and everything else of `id` for another owner. `options` is JSON: `owner`
// (`id`, `type`, `category`, which must be the one of the owner of `id`), `name` (a text, or null to keep the name). See
// `out_job` above.
int32_t forcings_store_copy(uint64_t store,
                            int64_t id,
                            const uint8_t *options,
                            uint64_t options_len,
                            int64_t *out_id,
                            uint64_t *out_job);

// Moves every series of one owner to another of the same category. `options` is JSON: `old`, `new` (ids of owners),
// `category`. See `out_job` above.
int32_t forcings_store_replace_owner(uint64_t store,
                                     const uint8_t *options,
                                     uint64_t options_len,
                                     uint64_t *out_series,
                                     uint64_t *out_job);

// Removes the series that match `filter` (see `forcings_store_list`): all of them or none. The filter `{}` matches every
// series. See `out_job` above.
int32_t forcings_store_remove_matching(uint64_t store,
                                       const uint8_t *filter,
                                       uint64_t filter_len,
                                       uint64_t *out_series,
                                       uint64_t *out_job);

// Removes every series, or with `owner` (JSON: `id`, `category`; null and 0 for none) every series of that owner. See
// `out_job` above.
int32_t forcings_store_clear(uint64_t store,
                             const uint8_t *owner,
                             uint64_t owner_len,
                             uint64_t *out_series,
                             uint64_t *out_job);

// Describes the last failure on this thread and returns its status, 0 if no call failed on it yet.
//
// `out_text` and `out_text_len` receive a text that stays valid until the next failure on this thread. For an error of
// kind `Group`, `out_state` receives 1 not started, 2 exhausted, 3 cancelled, 4 failed, 5 wrong epoch or 6 closed (0 for
// every other kind), and `out_numbers`, an array of two, holds for state 4 the epoch to start from, for state 5 the
// epoch asked for and the one that comes next; epochs count from 0, and -1 stands for none. For an error of kind `Host` its
// first number is the caller's value, which is not let go of before the next failure on this thread.
int32_t forcings_last_error(const uint8_t **out_text,
                            uint64_t *out_text_len,
                            int64_t *out_state,
                            int64_t *out_numbers);

// Builds a reader of forecasts, for which every `forcings_reader_` function stands that speaks of slots or of no part at
// all. `options` is JSON: `filter` (see `forcings_store_list`), `readahead` in bytes. See `out_job` above.
int32_t forcings_forecast_reader_build(uint64_t store,
                                       const uint8_t *options,
                                       uint64_t options_len,
                                       uint64_t *out_reader,
                                       uint64_t *out_job);

// The slots of a reader of forecasts: a table with one row per slot and the columns `dtype`, `window_shape`, which is
// `[steps, element...]`, with percentiles or scenarios in front.
int32_t forcings_reader_slots(uint64_t reader,
                              struct ForcingsTable **out_table);

// The forecasts of a reader: the two tables of `forcings_store_list`, the first with the column `slot` too, which counts
// from 0.
int32_t forcings_reader_entries(uint64_t reader,
                                struct ForcingsTable **out_table,
                                struct ForcingsTable **out_features);

// Builds a prefetch group over `n` members: providers, and members of `forcings_host_member`. `options` is JSON: `keys`
// (one per member), and optionally `depth` (2) or `auto_depth`, `max_bytes`, `fetch_ahead` (as `depth`), `workers` (1),
// `inline`, `windows` (selections in their wire form; each member then has a dataset for each), `clip` (two times),
// `eltype` (of the floating-point data of files: `"float64"`, `"float32"`), `trace`, `finish_on_host`
// (`forcings_group_next_host_job` gives every sample that was decoded to the caller, who makes of it what is delivered),
// and `spill` (an object: decoded samples go to a temporary file in `folder`, of `bytes` at most if it has them, and are
// read back when they are asked for again). The group keeps what it needs of the members; their handles may be closed.
int32_t forcings_group_build(const uint8_t *options,
                             uint64_t options_len,
                             const uint64_t *members,
                             uint64_t n,
                             uint64_t *out_group);

// Cancels, waits for the threads and ends them. Samples stay valid. See `out_job` above.
int32_t forcings_group_close(uint64_t group, uint64_t *out_job);

// The times at which the epochs begin. Writes up to `capacity` of them and always their number.
int32_t forcings_group_boundaries(uint64_t group,
                                  double *out_times,
                                  uint64_t capacity,
                                  uint64_t *out_count);

// Declares the order: `order` is 0 forward, 1 reverse, 2 the `n` epochs of the list. `from` is the epoch to begin at, or
// -1. Epochs count from 0.
int32_t forcings_group_start(uint64_t group,
                             int32_t order,
                             const uint64_t *epochs,
                             uint64_t n,
                             int64_t from);

// Delivers epoch `k` if it is ready; otherwise `out_sample` receives null. Never waits and never decodes.
int32_t forcings_group_try_take(uint64_t group,
                                uint64_t k,
                                struct ForcingsSample **out_sample);

// Waits until epoch `k` is ready, at most `timeout_ms`, and tells whether it is.
int32_t forcings_group_wait(uint64_t group, uint64_t k, uint64_t timeout_ms, uint8_t *out_ready);

// In a group that decodes inline: decodes one queued sample on this thread. `out_decoded` receives 0 if none is queued.
int32_t forcings_group_decode_one(uint64_t group,
                                  uint8_t *out_decoded);

// Whether epoch `k` is the next entry and would be delivered without waiting.
int32_t forcings_group_is_ready(uint64_t group, uint64_t k, uint8_t *out_ready);

// Drops the order and all pending work; with `wait` (0 or 1) returns when nothing is decoded any more. See `out_job`
// above.
int32_t forcings_group_cancel(uint64_t group,
                              uint8_t wait,
                              uint64_t *out_job);

// Counts the `nanoseconds` until now as time in which the consumer waited for epoch `k`, for one that waits by other means.
int32_t forcings_group_note_wait(uint64_t group,
                                 uint64_t k,
                                 uint64_t nanoseconds);

// What was done when, in a group built with `trace`: a table with the columns `activity` (0 decode, 1 the caller's part of
// a sample, 2 fetch ahead, 3 wait, 4 take), `member` (in byte-wise order of the keys, or null), `epoch`, `begin_s` and
// `end_s` (seconds since the group was built). Of very many lines only the latest are kept.
int32_t forcings_group_trace(uint64_t group,
                             struct ForcingsTable **out_table);

// How many delivered epochs the consumer still holds, and their bytes.
int32_t forcings_group_alive(uint64_t group, uint64_t *out_slots, uint64_t *out_bytes);

// What the group counted: a table with one row and the columns `waited_s`, `decode_s`, `peak_bytes`, `epochs_decoded`,
// `samples_decoded`, `samples_reused`, `oversize_epochs`, `overlap`, `depth`, `samples_spilled`, `samples_restored` (which
// were read back, and count as decoded too), `spilled_bytes`, and `spill_error` (a text, or null: what went wrong with
// spilling, for which samples are decoded again).
int32_t forcings_group_stats(uint64_t group,
                             struct ForcingsTable **out_table);

// Where a group stands: a table with one row and the columns `state` (0 while an entry is left; else as `out_state` of
// `forcings_last_error`), `entries` of the order, `taken`, `next` (the epoch that comes next, or null), `held` (entries
// held ahead), `finished` (of those) and `bytes` (of samples decoded for them).
int32_t forcings_group_snapshot(uint64_t group,
                                struct ForcingsTable **out_table);

// Whether `handle` names something that is not closed. Any number may be asked about.
int32_t forcings_handle_is_open(uint64_t handle, uint8_t *out_open);

// Closes a handle of any kind soon, on a native thread. Never waits and never fails: made for finalizers.
void forcings_handle_release(uint64_t handle);

// Counts what is alive: handles that are not closed, and counted pointers that were not given back.
int32_t forcings_live_count(uint64_t *out_handles, uint64_t *out_pointers);

// Closes everything: prefetch groups with their threads, readers and providers, then stores. For the end of the
// process; calls that come later find closed handles. Returns the first error of a close.
int32_t forcings_shutdown(void);

// A member of groups whose samples the caller makes: with `n` refresh times, and for each of `m` ascending times the
// refresh time in force, or NaN where there is none. The times have to include every boundary of the group. Close it with
// `forcings_handle_release`; a group keeps what it needs.
int32_t forcings_host_member(const double *times,
                             uint64_t n,
                             const double *at,
                             const double *anchors,
                             uint64_t m,
                             uint64_t *out_member);

// The oldest sample that a group wants of the caller, if there is one: `out_job` receives a handle, or 0. `out_member` is
// the position of the member in byte-wise order of the keys, `out_epoch` counts from 0, `out_time` is where the epoch
// begins. For a member of the library, `out_sample` receives what was decoded, else null. Finish the job with
// `forcings_host_complete` or `forcings_host_fail`; one that is closed has failed. Never waits.
int32_t forcings_group_next_host_job(uint64_t group,
                                     uint64_t *out_job,
                                     uint64_t *out_member,
                                     uint64_t *out_epoch,
                                     double *out_time,
                                     struct ForcingsSample **out_sample);

// Waits, at most `timeout_ms`, until a group wants a sample of the caller. `out_work` receives 1 if it does, 0 if not yet,
// and 2 if it will not before another order is started.
int32_t forcings_group_wait_host(uint64_t group,
                                 uint64_t timeout_ms,
                                 int32_t *out_work);

// Finishes a job with a value of the caller's, which is known as `value` (not 0) until `forcings_host_drain` lists it, and
// the `bytes` that it takes; what was decoded for it counts with its own.
int32_t forcings_host_complete(uint64_t job,
                               uint64_t value,
                               uint64_t bytes);

// Finishes a job with an error, which the take of its epoch returns with the status `Host`, the text and the number
// `value` (not 0), known as in `forcings_host_complete`.
int32_t forcings_host_fail(uint64_t job,
                           uint64_t value,
                           const uint8_t *text,
                           uint64_t text_len);

// Removes up to `capacity` numbers of values that the library needs no longer from its list into `out_values`, and their
// number into `out_count`. Drain until the count is 0.
int32_t forcings_host_drain(uint64_t *out_values,
                            uint64_t capacity,
                            uint64_t *out_count);

// Waits until the job has ended, at most `timeout_ms`, and tells whether it has. With 0 it only asks.
int32_t forcings_job_wait(uint64_t job,
                          uint64_t timeout_ms,
                          uint8_t *out_done);

// Ends a job that is done: writes the out-parameters of the call that started it, returns that call's status and
// frees the handle. A job that still runs is the status `InvalidParameter`, and stays.
int32_t forcings_job_finish(uint64_t job);

// Reads every array and row, and reports what is wrong.
//
// `out_counts` receives one row: `arrays`, `series` (what was examined), `unused_variables`. `out_findings` receives one
// row per finding: `kind`, `text`. `out_series` receives one line per finding and series that it is about, the first ten
// of each: `finding` (from 0), `id`. See `out_job` above.
int32_t forcings_store_verify(uint64_t store,
                              struct ForcingsTable **out_counts,
                              struct ForcingsTable **out_findings,
                              struct ForcingsTable **out_series,
                              uint64_t *out_job);

// The grids of the regular series, one for each resolution: a table with the columns `resolution_ms` or
// `resolution_months`, `initial_ms`, `length`, `series` (how many). Series of one resolution on different grids are the
// status `Integrity`. See `out_job` above.
int32_t forcings_store_check(uint64_t store,
                             struct ForcingsTable **out_table,
                             uint64_t *out_job);

// Deletes what is left of the features of removed series, and counts the free columns of the array file: a table with one
// row, `slots_reclaimed`, `feature_sets_reclaimed`. See `out_job` above.
int32_t forcings_store_compact(uint64_t store,
                               struct ForcingsTable **out_table,
                               uint64_t *out_job);

// Writes the array file anew with the arrays that series have, and puts it in the place of the old one: a table with one
// row, `feature_sets_reclaimed`, `bytes_before`, `bytes_after`, the last two of the array file. See `out_job` above.
int32_t forcings_store_compact_physical(uint64_t store,
                                        struct ForcingsTable **out_table,
                                        uint64_t *out_job);

// Writes the store to `path` as a pair of its own. With `overwrite` 1 it replaces the store that is there. See `out_job`
// above.
int32_t forcings_store_persist(uint64_t store,
                               const uint8_t *path,
                               uint64_t path_len,
                               uint8_t overwrite,
                               uint64_t *out_job);

// What a store is doing, without waiting for it: `out_known` receives 0 while another call uses it; otherwise 1,
// `out_series` the number of series, and `out_in_transaction` whether a transaction is open (0 or 1).
int32_t forcings_store_state(uint64_t store,
                             uint8_t *out_known,
                             uint64_t *out_series,
                             uint8_t *out_in_transaction);

// Opens a provider. `options` is JSON: `files` (paths or URLs), `format` (`"netcdf"`, or `"zarr"` for the folders or URLs
// of stores), `variables` (names; none for all, but a store cannot be listed), and optionally `times`, `time_dim`,
// `select` (a selection in its wire form), `group`, `records_per_sample` (1, or 2 for a bracket), `eltype` of
// floating-point data variables (`"float64"`, `"float32"`), `threads` that share a large sample (1); for URLs `cache`
// (the handle of one), `auth_realm`, `name` (of the source, for the cache) and `store_access` (`"cached"`). URLs need
// `times`, unless they are of one Zarr store, and nothing is fetched here. An option that is none of these is refused. See
// `out_job` above.
int32_t forcings_provider_open(const uint8_t *options,
                               uint64_t options_len,
                               uint64_t *out_provider,
                               uint64_t *out_job);

// A provider over the series of a reader, of either kind: its refresh times are the instants of the reader's timeline, or
// the starts of the windows, in seconds since 1970. It uses none of the reader's buffers, and the reader may be closed.
// See `out_job` above.
int32_t forcings_provider_from_reader(uint64_t reader,
                                      uint64_t *out_provider,
                                      uint64_t *out_job);

// Closes a provider. What was made from it stays valid.
int32_t forcings_provider_close(uint64_t provider);

// The refresh times. Writes up to `capacity` of them and always their number.
int32_t forcings_provider_times(uint64_t provider,
                                double *out_times,
                                uint64_t capacity,
                                uint64_t *out_count);

// A table with one row: `calendar` (none for explicit times), `is_const`, `supports_selection`.
int32_t forcings_provider_describe(uint64_t provider, struct ForcingsTable **out_table);

// Decodes the data in force at `t`; constant data ignore it, and their anchor is 0. See `out_job` above.
int32_t forcings_provider_sample_at(uint64_t provider,
                                    double t,
                                    struct ForcingsSample **out_sample,
                                    uint64_t *out_job);

// As `forcings_provider_sample_at`; the provider keeps what it decoded for the next call. See `out_job` above.
int32_t forcings_provider_refresh(uint64_t provider,
                                  double t,
                                  struct ForcingsSample **out_sample,
                                  uint64_t *out_job);

// As `forcings_provider_sample_at` under `select`, a selection in its wire form, instead of the one that is baked in; the
// provider keeps nothing of it. See `out_job` above.
int32_t forcings_provider_peek(uint64_t provider,
                               double t,
                               const uint8_t *select,
                               uint64_t select_len,
                               struct ForcingsSample **out_sample,
                               uint64_t *out_job);

// Decodes everything. See `out_job` above.
int32_t forcings_provider_materialize(uint64_t provider,
                                      struct ForcingsSample **out_sample,
                                      uint64_t *out_job);

// Fetches the files of the refresh times in force from `from` to before `to` into the cache, and decodes nothing. Writes
// their number; local files count as none. See `out_job` above.
int32_t forcings_provider_prefetch(uint64_t provider,
                                   double from,
                                   double to,
                                   uint64_t *out_files,
                                   uint64_t *out_job);

// Builds a reader of static series. `options` is JSON: `filter` (see `forcings_store_list`), `start` (a bound, see
// `forcings_store_read`) and `extent` (a number of steps) for a window, `readahead` in bytes. See `out_job` above.
int32_t forcings_reader_build(uint64_t store,
                              const uint8_t *options,
                              uint64_t options_len,
                              uint64_t *out_reader,
                              uint64_t *out_job);

// Closes a reader. Buffers that are held stay valid.
int32_t forcings_reader_close(uint64_t reader);

// What a reader walks: a table of one row with the columns `type`, `series` (how many), `length` (of the
// timeline), `resolution_ms`, `resolution_months`, `interval_ms`, `interval_months` and `time_reference`.
int32_t forcings_reader_describe(uint64_t reader,
                                 struct ForcingsTable **out_table);

// The instants of the timeline, of forecasts the starts of the windows, in milliseconds since 1970: up to `capacity` of
// them are written, `out_count` is the number of all.
int32_t forcings_reader_timestamps(uint64_t reader,
                                   int64_t *out_ms,
                                   uint64_t capacity,
                                   uint64_t *out_count);

// The groups of a reader of static series: a table with one row per group and the columns `dtype`, `columns`,
// `element_shape`.
int32_t forcings_reader_groups(uint64_t reader,
                               struct ForcingsTable **out_table);

// The series of a group, in the order of its columns: the two tables of `forcings_store_list`.
int32_t forcings_reader_columns(uint64_t reader,
                                uint64_t group,
                                struct ForcingsTable **out_table,
                                struct ForcingsTable **out_features);

// The buffer of a group or slot, which every read overwrites in place: `out_values` points to its values, row-major, of
// a group `[columns, element...]`, of a slot its window. The memory stays valid until `out_buffer` is released, also
// beyond the reader's close. There is no buffer before the first read and after one that failed: the status
// `InvalidParameter`.
int32_t forcings_reader_values(uint64_t reader,
                               uint64_t part,
                               const void **out_values,
                               uint64_t *out_len,
                               struct ForcingsBuffer **out_buffer);

// Gives a buffer back; null is ignored.
void forcings_buffer_release(struct ForcingsBuffer *buffer);

// Reads the values at an instant of the timeline, in milliseconds since 1970; of forecasts, the windows that start there.
int32_t forcings_reader_read(uint64_t reader,
                             int64_t at_ms);

// Reads the values of a step or window, counted from 0.
int32_t forcings_reader_read_step(uint64_t reader, uint64_t step);

// The step or window, counted from 0, whose instant is `at_ms`; of step functions, that of the last breakpoint that is
// not later.
int32_t forcings_reader_index_at(uint64_t reader,
                                 int64_t at_ms,
                                 uint64_t *out_step);

// Adds associations, all or none. `relation` is 0 from components to supplemental attributes that they have, 1 from
// parents to children. `associations` is a JSON list of objects `from_id`, `from_type`, `to_id`, `to_type`. See `out_job`
// above.
int32_t forcings_relation_add(uint64_t store,
                              int32_t relation,
                              const uint8_t *associations,
                              uint64_t associations_len,
                              uint64_t *out_job);

// Removes the associations that match `filter`, a JSON object with any of `from_id`, `from_types`, `to_id`, `to_types`;
// an empty list of types matches nothing, and `{}` matches all. See `out_job` above.
int32_t forcings_relation_remove(uint64_t store,
                                 int32_t relation,
                                 const uint8_t *filter,
                                 uint64_t filter_len,
                                 uint64_t *out_associations,
                                 uint64_t *out_job);

// Lists the associations that match, in the order in which they were added: a table with the columns `from_id`,
// `from_type`, `to_id`, `to_type`. See `out_job` above.
int32_t forcings_relation_list(uint64_t store,
                               int32_t relation,
                               const uint8_t *filter,
                               uint64_t filter_len,
                               struct ForcingsTable **out_table,
                               uint64_t *out_job);

// Counts the associations that match. See `out_job` above.
int32_t forcings_relation_count(uint64_t store,
                                int32_t relation,
                                const uint8_t *filter,
                                uint64_t filter_len,
                                uint64_t *out_associations,
                                uint64_t *out_job);

// The distinct types at both ends of the associations that match, ascending: two tables with the column `type`. See
// `out_job` above.
int32_t forcings_relation_types(uint64_t store,
                                int32_t relation,
                                const uint8_t *filter,
                                uint64_t filter_len,
                                struct ForcingsTable **out_from,
                                struct ForcingsTable **out_to,
                                uint64_t *out_job);

// Gives an entity another id wherever it stands in a relation: with `category` 0 a component, with 1 a supplemental
// attribute. See `out_job` above.
int32_t forcings_relation_replace(uint64_t store,
                                  int32_t relation,
                                  int32_t category,
                                  int64_t old,
                                  int64_t new_,
                                  uint64_t *out_associations,
                                  uint64_t *out_job);

// Gives a sample back; null is ignored. Nothing that was read from it may be used any more.
void forcings_sample_release(struct ForcingsSample *sample);

// For each member, in byte-wise order of their keys: its anchor, whether that changed (0 or 1), the number of its first
// dataset, and the number of the caller's value that it has instead of datasets, else 0; and the time of the sample. The
// arrays have room for `capacity` members, which must be all.
int32_t forcings_sample_members(const struct ForcingsSample *sample,
                                double *out_anchors,
                                uint8_t *out_changed,
                                uint64_t *out_first,
                                uint64_t *out_values,
                                uint64_t capacity,
                                double *out_time);

// One variable or coordinate of a dataset. `out_found` receives 0 if there is none of that name; otherwise 1, and
// `out_type` the element type (0 `double`, 1 `float`, 2 `int64_t`, 3 `int32_t`, 4 `uint64_t`, 5 bytes 0 or 1, 6 texts),
// `out_rank` and `out_shape` the extents, slowest first, `out_values` the elements (null for texts, see
// `forcings_sample_strings`). The pointers live as long as the sample.
int32_t forcings_sample_field(const struct ForcingsSample *sample,
                              uint64_t dataset,
                              const uint8_t *name,
                              uint64_t name_len,
                              uint8_t *out_found,
                              int32_t *out_type,
                              uint64_t *out_rank,
                              const uint64_t **out_shape,
                              const void **out_values);

// The names of a dataset's variables and coordinates: a table with the columns `name` and `is_coord`.
int32_t forcings_sample_names(const struct ForcingsSample *sample,
                              uint64_t dataset,
                              struct ForcingsTable **out_table);

// The names of a field's dimensions, slowest first: a table with the column `dim`.
int32_t forcings_sample_dims(const struct ForcingsSample *sample,
                             uint64_t dataset,
                             const uint8_t *name,
                             uint64_t name_len,
                             struct ForcingsTable **out_table);

// The elements of a field of texts, row-major: a table with the column `text`.
int32_t forcings_sample_strings(const struct ForcingsSample *sample,
                                uint64_t dataset,
                                const uint8_t *name,
                                uint64_t name_len,
                                struct ForcingsTable **out_table);

// The attributes of a field, or of the file when `name` is empty: a table with one line per value. `key` is the
// attribute's name; `is_list` tells a list from a single value; `kind` is 0 for an integer in `int`, 1 for a number in
// `float`, 2 for a text in `text`, 3 for an unsigned integer whose bits are in `int`, and -1 for an empty list.
int32_t forcings_sample_attributes(const struct ForcingsSample *sample,
                                   uint64_t dataset,
                                   const uint8_t *name,
                                   uint64_t name_len,
                                   struct ForcingsTable **out_table);

// Sets the wake-up call of the process, in place of an earlier one. `wake(context)` is called on native threads
// whenever a job has ended or a group's next epoch is ready; it must only wake the caller's event loop, and stay
// valid until `forcings_session_detach` has returned.
int32_t forcings_session_attach(void *context,
                                ForcingsWake wake);

// Removes up to `capacity` handles that have news from the queue into `out_handles` and their number into
// `out_count`. Wake-ups merge: drain until the count is 0.
int32_t forcings_session_drain(uint64_t *out_handles,
                               uint64_t capacity,
                               uint64_t *out_count);

// Ends the wake-up calls. When this has returned no thread is inside one.
int32_t forcings_session_detach(void);

// Adds `n` series and writes their ids to `out_ids`, which has room for `n`: all of them or none. `mode` 0 is for
// one series; 1, for many, writes whole chunks. The items and all they point to are borrowed. See `out_job` above.
int32_t forcings_store_add(uint64_t store,
                           const struct ForcingsSeries *items,
                           uint64_t n,
                           int32_t mode,
                           int64_t *out_ids,
                           uint64_t *out_job);

// Checks the rules that a series must keep wherever it is added. `meta` is not read, and the order of the values does not
// matter; the text of the error names no series.
int32_t forcings_series_check(const struct ForcingsSeries *series);

// Creates a store at `path`. `options` is JSON: `compression` (a text or null), `durable`, `overwrite`. See `out_job`
// above.
int32_t forcings_store_create(const uint8_t *path,
                              uint64_t path_len,
                              const uint8_t *options,
                              uint64_t options_len,
                              uint64_t *out_store,
                              uint64_t *out_job);

// Opens the store whose array file is `path`. `options` is JSON: `read_only`, `durable`. See `out_job` above.
int32_t forcings_store_open(const uint8_t *path,
                            uint64_t path_len,
                            const uint8_t *options,
                            uint64_t options_len,
                            uint64_t *out_store,
                            uint64_t *out_job);

// Creates a store in memory.
int32_t forcings_store_memory(uint64_t *out_store);

// Flushes and closes a store; an open transaction is undone. After an error the store is still open. See `out_job`
// above.
int32_t forcings_store_close(uint64_t store,
                             uint64_t *out_job);

// Writes everything to disk. See `out_job` above.
int32_t forcings_store_flush(uint64_t store, uint64_t *out_job);

// Reads `n` series, whole or in a range of time. `range` is JSON: `from`, `to`, each null or an object of `ms` and `kind`
// (`floating` fits every series, `utc` those that are not zoneless, `zoneless` those that are); the range is half-open.
//
// Two tables: the rows of `forcings_store_list`, of what was read, and their features. The first has more columns: `values`,
// their `shape` (see `ForcingsSeries`), `timestamps_ms`. A derived forecast has the values of its regular series that its
// windows cover, with the shape of these. See `out_job` above.
int32_t forcings_store_read(uint64_t store,
                            const int64_t *ids,
                            uint64_t n,
                            const uint8_t *range,
                            uint64_t range_len,
                            struct ForcingsTable **out_table,
                            struct ForcingsTable **out_features,
                            uint64_t *out_job);

// Lists the series that match `filter`, by ascending id. `filter` is a JSON object with any of `owner_id`, `owner_type`,
// `owner_category`, `name`, `name_glob`, `resolution`, `interval`, `series_type`, `initial_ms`, `length`, `zoneless`,
// `features` (among others), `exact_features` (no others), `ids`; a period is `{"ms": 3600000}` or `{"months": 1}`.
//
// The first table has one row per series: `id`, `name`, `type`, `owner_id`, `owner_type`, `owner_category`, `initial_ms`,
// `length` (not of forecasts), `count` (of windows), `scenarios`, `percentiles`, `dtype`, `element_shape`,
// `time_reference`, `units`, `ext`, and for each of the periods `resolution`, `horizon` and `interval` two columns, its name
// with `_ms` or `_months` behind it. The second has one line per feature: `row` (from 0), `key`, `kind` (0 `int`, 1
// `float`, 2 `bool`, 3 `text`) and the columns of these names. See `out_job` above.
int32_t forcings_store_list(uint64_t store,
                            const uint8_t *filter,
                            uint64_t filter_len,
                            struct ForcingsTable **out_table,
                            struct ForcingsTable **out_features,
                            uint64_t *out_job);

// Whether any series matches `filter`, as `forcings_store_list` takes it. See `out_job` above.
int32_t forcings_store_has(uint64_t store,
                           const uint8_t *filter,
                           uint64_t filter_len,
                           uint8_t *out_found,
                           uint64_t *out_job);

// Removes `n` series: all of them or none. See `out_job` above.
int32_t forcings_store_remove(uint64_t store, const int64_t *ids, uint64_t n, uint64_t *out_job);

// Begins a transaction, which may be within another one. See `out_job` above.
int32_t forcings_store_begin(uint64_t store, uint64_t *out_job);

// Ends the innermost transaction and keeps its changes. See `out_job` above.
int32_t forcings_store_commit(uint64_t store, uint64_t *out_job);

// Undoes the innermost transaction. See `out_job` above.
int32_t forcings_store_rollback(uint64_t store, uint64_t *out_job);

// Counts. `out_counts` receives one row: `components`, `attributes` (owners of series), `static_series`, `forecasts`,
// `static_arrays`, `forecast_arrays`, `arrays` (distinct ones). `out_types` receives one row per type that the store has:
// `type`, `series`. See `out_job` above.
int32_t forcings_store_counts(uint64_t store,
                              struct ForcingsTable **out_counts,
                              struct ForcingsTable **out_types,
                              uint64_t *out_job);

// The series, grouped by what they have in common: with `forecasts` 0 the static ones, with 1 the forecasts.
//
// The table has one row per group: `owner_type`, `owner_category`, `type`, `name`, `initial_ms`, `resolution_ms` or
// `resolution_months`, `length`, `horizon_ms` or `horizon_months`, `interval_ms` or `interval_months`, `count`, and
// `series`, how many they are. See `out_job` above.
int32_t forcings_store_summary(uint64_t store,
                               uint8_t forecasts,
                               struct ForcingsTable **out_table,
                               uint64_t *out_job);

// The windows of one forecast, with the `resolution` and the `interval` of the JSON object `windows` if they are there: a
// table with at most one row, `initial_ms`, `resolution_ms` or `resolution_months`, `horizon_ms` or `horizon_months`,
// `interval_ms` or `interval_months`, `count`. See `out_job` above.
int32_t forcings_store_forecast_parameters(uint64_t store,
                                           const uint8_t *windows,
                                           uint64_t windows_len,
                                           struct ForcingsTable **out_table,
                                           uint64_t *out_job);

// The distinct values of a field, ascending. `field` is `name` or `owner_type`: a table with a column `value` of texts;
// `component_id` or `attribute_id`, the owners of series: one of integers; or `resolution` or `interval`, in the order of
// their ISO texts: the columns `value_ms` and `value_months`, of which each row has one. See `out_job` above.
int32_t forcings_store_distinct(uint64_t store,
                                const uint8_t *field,
                                uint64_t field_len,
                                struct ForcingsTable **out_table,
                                uint64_t *out_job);

// The number of rows and columns of a table.
int32_t forcings_table_size(const struct ForcingsTable *table,
                            uint64_t *out_rows,
                            uint64_t *out_columns);

// One column of a table, counted from 0. What the pointers point to lives as long as the table.
//
// `out_kind` receives 0 for `int64_t`, 1 for `double`, 2 for bytes that are 0 or 1, 3 for texts, 4 for lists of
// `int64_t`, 5 for arrays, 6 for lists of `double`. For kinds 3, 4 and 6 `out_values` points to all bytes or numbers in one run and `out_ends` to
// the end of each row in it; for kind 5 `out_values` points to one address per row and `out_ends` to the lengths in
// bytes. `out_nulls` points to one byte per row, 1 where a row has no value, or is null when every row has one.
int32_t forcings_table_column(const struct ForcingsTable *table,
                              uint64_t column,
                              const uint8_t **out_name,
                              uint64_t *out_name_len,
                              int32_t *out_kind,
                              const void **out_values,
                              const uint64_t **out_ends,
                              const uint8_t **out_nulls);

// Frees a table; null is ignored.
void forcings_table_free(struct ForcingsTable *table);

// Derives a forecast from every regular series that matches, all or none. `options` is JSON: `horizon`, `interval`
// (periods), `filter` (see `forcings_store_list`).
//
// `out_sources` receives the number of series that match. The table has the column `id`, the new forecasts by ascending
// source; a series that had the same forecast already has none there. See `out_job` above.
int32_t forcings_store_transform(uint64_t store,
                                 const uint8_t *options,
                                 uint64_t options_len,
                                 uint64_t *out_sources,
                                 struct ForcingsTable **out_table,
                                 uint64_t *out_job);

// A provider of the same files or series that gives only `window`, a selection in its wire form.
int32_t forcings_provider_with_window(uint64_t provider,
                                      const uint8_t *window,
                                      uint64_t window_len,
                                      uint64_t *out_provider);

// Decodes the data in force at `t` under each window of a list, which is JSON: selections in their wire form. The sample
// has one member for each window, in their order, as `forcings_provider_with_window` and `forcings_provider_sample_at`
// would give it; what they have in common is decoded once. See `out_job` above.
int32_t forcings_provider_sample_windows_at(uint64_t provider,
                                            double t,
                                            const uint8_t *windows,
                                            uint64_t windows_len,
                                            struct ForcingsSample **out_sample,
                                            uint64_t *out_job);

// Finds the cells whose coordinates lie in closed intervals: `names` is a JSON list of coordinates, `bounds` has a lower
// and an upper one for each. A longitude goes east from the first to the second. The table has one row for each
// coordinate: `dim`, and in `indices` the cells, counted from 0, unless they are those of `start` up to, not including,
// `stop`. Opens the file of the first refresh time, and fetches it if it is behind a URL;
// a provider over a reader has no such coordinates. See `out_job` above.
int32_t forcings_provider_coord_window(uint64_t provider,
                                       const uint8_t *names,
                                       uint64_t names_len,
                                       const double *bounds,
                                       uint64_t n,
                                       struct ForcingsTable **out_table,
                                       uint64_t *out_job);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FORCINGS_H */
