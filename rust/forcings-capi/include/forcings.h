/* The C interface of Forcings. Generated from the Rust sources by `make header`; never edited.
 *
 * A function returns a status: 0, or the number of an error kind:
 *   1 invalid parameter   2 not found            3 duplicate time series  4 duplicate association
 *   5 off the grid        6 selection           20 format                21 integrity
 *  22 incompatible format 23 unsupported        40 input/output          41 catalog
 *  42 HDF5                43 cache miss         60 read-only store       61 store in use
 *  62 store exists        63 closed             64 group state           99 internal error (a panic)
 * `forcings_last_error` has its text. Out-parameters are zeroed first and written only on success.
 * A handle (uint64_t) names a store, a reader, a provider, a group or a job; it may be closed twice and in any order,
 * and its use after that is the status 63. Pointers to opaque types are counted: one free or release for each.
 * Text is UTF-8, a pointer and a length in bytes; structured arguments are JSON text; times are milliseconds since 1970
 * where they are integers.
 * Every function may be called on any thread; a reader and a group serve one caller at a time.
 * A function with `out_job` runs on the caller's thread when that is null. Otherwise it returns at once with a handle
 * in it: wait until `forcings_job_wait`, then `forcings_job_finish` returns the status and writes the other
 * out-parameters; they, and the arguments said to be borrowed, must stay valid until then.
 */


#ifndef FORCINGS_H
#define FORCINGS_H

#include <stdint.h>

// The version of this interface: `major * 65536 + minor`. Another major version is another interface; a larger
// minor version only adds.
#define FORCINGS_ABI_VERSION 65536

// A result with named, typed columns of one length. Read-only; may be read on any thread.
typedef struct ForcingsTable ForcingsTable;

// A function like libuv's `uv_async_send`: may be called on any thread, wakes an event loop.
typedef int32_t (*ForcingsWake)(void*);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the loaded library, to be compared with `FORCINGS_ABI_VERSION` of the header.
uint32_t forcings_abi_version(void);

// Describes the last failure on this thread and returns its status, 0 if no call failed on it yet.
//
// `out_text` and `out_text_len` receive a text that stays valid until the next failure on this thread. For an error of
// kind `Group`, `out_state` receives 1 not started, 2 exhausted, 3 cancelled, 4 failed, 5 wrong epoch or 6 closed (0 for
// every other kind), and `out_numbers`, an array of two, holds for state 4 the epoch to start from, for state 5 the
// epoch asked for and the one that comes next; epochs count from 0, and -1 stands for none.
int32_t forcings_last_error(const uint8_t **out_text,
                            uint64_t *out_text_len,
                            int64_t *out_state,
                            int64_t *out_numbers);

// Whether `handle` names something that is not closed. Any number may be asked about.
int32_t forcings_handle_is_open(uint64_t handle, uint8_t *out_open);

// Closes a handle of any kind soon, on a native thread. Never waits and never fails: made for finalizers.
void forcings_handle_release(uint64_t handle);

// Counts what is alive: handles that are not closed, and counted pointers that were not given back.
int32_t forcings_live_count(uint64_t *out_handles, uint64_t *out_pointers);

// Closes everything: prefetch groups with their threads, readers and providers, then stores. For the end of the
// process; calls that come later find closed handles. Returns the first error of a close.
int32_t forcings_shutdown(void);

// Waits until the job has ended, at most `timeout_ms`, and tells whether it has. With 0 it only asks.
int32_t forcings_job_wait(uint64_t job,
                          uint64_t timeout_ms,
                          uint8_t *out_done);

// Ends a job that is done: writes the out-parameters of the call that started it, returns that call's status and
// frees the handle. A job that still runs is the status `InvalidParameter`, and stays.
int32_t forcings_job_finish(uint64_t job);

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

// The number of rows and columns of a table.
int32_t forcings_table_size(const ForcingsTable *table, uint64_t *out_rows, uint64_t *out_columns);

// One column of a table, counted from 0. What the pointers point to lives as long as the table.
//
// `out_kind` receives 0 for `int64_t`, 1 for `double`, 2 for bytes that are 0 or 1, 3 for texts, 4 for lists of
// `int64_t`, 5 for arrays. For kinds 3 and 4 `out_values` points to all bytes or numbers in one run and `out_ends` to
// the end of each row in it; for kind 5 `out_values` points to one address per row and `out_ends` to the lengths in
// bytes. `out_nulls` points to one byte per row, 1 where a row has no value, or is null when every row has one.
int32_t forcings_table_column(const ForcingsTable *table,
                              uint64_t column,
                              const uint8_t **out_name,
                              uint64_t *out_name_len,
                              int32_t *out_kind,
                              const void **out_values,
                              const uint64_t **out_ends,
                              const uint8_t **out_nulls);

// Frees a table; null is ignored.
void forcings_table_free(ForcingsTable *table);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FORCINGS_H */
