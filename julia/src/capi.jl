# Every foreign signature of the package, once. A test compares them with the library's header.

struct Foreign
    name::Symbol
    arguments::Vector{DataType}
    returns::DataType
    slot::Base.RefValue{Ptr{Cvoid}}
end

# What `open_library` fills in.
const FOREIGN = Foreign[]

# `@foreign f(a::A, b::B)::R` defines `f(a, b)`, which calls the function of that name in the library. The arguments
# are converted as by `ccall`.
macro foreign(signature)
    call, returns = signature.args
    name = call.args[1]
    arguments = [argument.args[1] for argument in call.args[2:end]]
    types = [argument.args[2] for argument in call.args[2:end]]
    slot = Symbol(:SLOT_, name)
    return esc(
        quote
            const $slot = Base.RefValue{Ptr{Cvoid}}(C_NULL)
            push!(FOREIGN, Foreign($(QuoteNode(name)), DataType[$(types...)], $returns, $slot))
            function $name($(arguments...))
                address = $slot[]
                return ccall(address, $returns, ($(types...),), $(arguments...))
            end
        end,
    )
end

@foreign forcings_abi_version()::UInt32

@foreign forcings_last_error(
    out_text::Ptr{Ptr{UInt8}},
    out_text_len::Ptr{UInt64},
    out_state::Ptr{Int64},
    out_numbers::Ptr{Int64},
)::Int32

@foreign forcings_handle_is_open(handle::UInt64, out_open::Ptr{UInt8})::Int32
@foreign forcings_handle_release(handle::UInt64)::Cvoid

@foreign forcings_live_count(out_handles::Ptr{UInt64}, out_pointers::Ptr{UInt64})::Int32

@foreign forcings_shutdown()::Int32

@foreign forcings_job_wait(job::UInt64, timeout_ms::UInt64, out_done::Ptr{UInt8})::Int32
@foreign forcings_job_finish(job::UInt64)::Int32

@foreign forcings_session_attach(context::Ptr{Cvoid}, wake::Ptr{Cvoid})::Int32
@foreign forcings_session_drain(out_handles::Ptr{UInt64}, capacity::UInt64, out_count::Ptr{UInt64})::Int32
@foreign forcings_session_detach()::Int32

@foreign forcings_table_size(table::Ptr{Cvoid}, out_rows::Ptr{UInt64}, out_columns::Ptr{UInt64})::Int32
@foreign forcings_table_column(
    table::Ptr{Cvoid},
    column::UInt64,
    out_name::Ptr{Ptr{UInt8}},
    out_name_len::Ptr{UInt64},
    out_kind::Ptr{Int32},
    out_values::Ptr{Ptr{Cvoid}},
    out_ends::Ptr{Ptr{UInt64}},
    out_nulls::Ptr{Ptr{UInt8}},
)::Int32
@foreign forcings_table_free(table::Ptr{Cvoid})::Cvoid

@foreign forcings_series_check(series::Ptr{Cvoid})::Int32

@foreign forcings_store_create(
    path::Ptr{UInt8},
    path_len::UInt64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_store::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_open(
    path::Ptr{UInt8},
    path_len::UInt64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_store::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_memory(out_store::Ptr{UInt64})::Int32
@foreign forcings_store_close(store::UInt64, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_flush(store::UInt64, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_begin(store::UInt64, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_commit(store::UInt64, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_rollback(store::UInt64, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_add(
    store::UInt64,
    items::Ptr{Cvoid},
    n::UInt64,
    mode::Int32,
    out_ids::Ptr{Int64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_read(
    store::UInt64,
    ids::Ptr{Int64},
    n::UInt64,
    range::Ptr{UInt8},
    range_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
    out_features::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_list(
    store::UInt64,
    filter::Ptr{UInt8},
    filter_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
    out_features::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_has(
    store::UInt64,
    filter::Ptr{UInt8},
    filter_len::UInt64,
    out_found::Ptr{UInt8},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_remove(store::UInt64, ids::Ptr{Int64}, n::UInt64, out_job::Ptr{UInt64})::Int32

@foreign forcings_reader_build(
    store::UInt64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_reader::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_forecast_reader_build(
    store::UInt64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_reader::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_reader_close(reader::UInt64)::Int32
@foreign forcings_reader_describe(reader::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_reader_timestamps(reader::UInt64, out_ms::Ptr{Int64}, capacity::UInt64, out_count::Ptr{UInt64})::Int32
@foreign forcings_reader_groups(reader::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_reader_columns(
    reader::UInt64,
    group::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
    out_features::Ptr{Ptr{Cvoid}},
)::Int32
@foreign forcings_reader_slots(reader::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_reader_entries(reader::UInt64, out_table::Ptr{Ptr{Cvoid}}, out_features::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_reader_values(
    reader::UInt64,
    part::UInt64,
    out_values::Ptr{Ptr{Cvoid}},
    out_len::Ptr{UInt64},
    out_buffer::Ptr{Ptr{Cvoid}},
)::Int32
@foreign forcings_reader_read(reader::UInt64, at_ms::Int64)::Int32
@foreign forcings_reader_read_step(reader::UInt64, step::UInt64)::Int32
@foreign forcings_reader_index_at(reader::UInt64, at_ms::Int64, out_step::Ptr{UInt64})::Int32

@foreign forcings_buffer_release(buffer::Ptr{Cvoid})::Cvoid

@foreign forcings_cache_open(options::Ptr{UInt8}, options_len::UInt64, out_cache::Ptr{UInt64})::Int32
@foreign forcings_cache_close(cache::UInt64)::Int32
@foreign forcings_cache_describe(cache::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_cache_usage(cache::UInt64, out_table::Ptr{Ptr{Cvoid}}, out_job::Ptr{UInt64})::Int32
@foreign forcings_cache_clear(
    cache::UInt64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_files::Ptr{UInt64},
    out_bytes::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32

@foreign forcings_provider_prefetch(
    provider::UInt64,
    from::Float64,
    to::Float64,
    out_files::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_provider_open(
    options::Ptr{UInt8},
    options_len::UInt64,
    out_provider::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_provider_close(provider::UInt64)::Int32
@foreign forcings_provider_times(
    provider::UInt64,
    out_times::Ptr{Float64},
    capacity::UInt64,
    out_count::Ptr{UInt64},
)::Int32
@foreign forcings_provider_describe(provider::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_provider_sample_at(
    provider::UInt64,
    t::Float64,
    out_sample::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_provider_refresh(
    provider::UInt64,
    t::Float64,
    out_sample::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_provider_peek(
    provider::UInt64,
    t::Float64,
    select::Ptr{UInt8},
    select_len::UInt64,
    out_sample::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_provider_materialize(provider::UInt64, out_sample::Ptr{Ptr{Cvoid}}, out_job::Ptr{UInt64})::Int32
@foreign forcings_provider_with_window(
    provider::UInt64,
    window::Ptr{UInt8},
    window_len::UInt64,
    out_provider::Ptr{UInt64},
)::Int32
@foreign forcings_provider_sample_windows_at(
    provider::UInt64,
    t::Float64,
    windows::Ptr{UInt8},
    windows_len::UInt64,
    out_sample::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_provider_coord_window(
    provider::UInt64,
    names::Ptr{UInt8},
    names_len::UInt64,
    bounds::Ptr{Float64},
    n::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32

@foreign forcings_sample_release(sample::Ptr{Cvoid})::Cvoid
@foreign forcings_sample_members(
    sample::Ptr{Cvoid},
    out_anchors::Ptr{Float64},
    out_changed::Ptr{UInt8},
    out_first::Ptr{UInt64},
    out_values::Ptr{UInt64},
    capacity::UInt64,
    out_time::Ptr{Float64},
)::Int32
@foreign forcings_sample_field(
    sample::Ptr{Cvoid},
    dataset::UInt64,
    name::Ptr{UInt8},
    name_len::UInt64,
    out_found::Ptr{UInt8},
    out_type::Ptr{Int32},
    out_rank::Ptr{UInt64},
    out_shape::Ptr{Ptr{UInt64}},
    out_values::Ptr{Ptr{Cvoid}},
)::Int32
@foreign forcings_sample_names(sample::Ptr{Cvoid}, member::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_sample_dims(
    sample::Ptr{Cvoid},
    dataset::UInt64,
    name::Ptr{UInt8},
    name_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
)::Int32
@foreign forcings_sample_strings(
    sample::Ptr{Cvoid},
    dataset::UInt64,
    name::Ptr{UInt8},
    name_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
)::Int32
@foreign forcings_sample_attributes(
    sample::Ptr{Cvoid},
    dataset::UInt64,
    name::Ptr{UInt8},
    name_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
)::Int32

@foreign forcings_group_build(
    options::Ptr{UInt8},
    options_len::UInt64,
    members::Ptr{UInt64},
    n::UInt64,
    out_group::Ptr{UInt64},
)::Int32
@foreign forcings_group_close(group::UInt64, out_job::Ptr{UInt64})::Int32
@foreign forcings_group_boundaries(
    group::UInt64,
    out_times::Ptr{Float64},
    capacity::UInt64,
    out_count::Ptr{UInt64},
)::Int32
@foreign forcings_group_start(group::UInt64, order::Int32, epochs::Ptr{UInt64}, n::UInt64, from::Int64)::Int32
@foreign forcings_group_try_take(group::UInt64, k::UInt64, out_sample::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_group_wait(group::UInt64, k::UInt64, timeout_ms::UInt64, out_ready::Ptr{UInt8})::Int32
@foreign forcings_group_decode_one(group::UInt64, out_decoded::Ptr{UInt8})::Int32
@foreign forcings_group_is_ready(group::UInt64, k::UInt64, out_ready::Ptr{UInt8})::Int32
@foreign forcings_group_cancel(group::UInt64, wait::UInt8, out_job::Ptr{UInt64})::Int32
@foreign forcings_group_note_wait(group::UInt64, k::UInt64, nanoseconds::UInt64)::Int32
@foreign forcings_group_alive(group::UInt64, out_slots::Ptr{UInt64}, out_bytes::Ptr{UInt64})::Int32
@foreign forcings_group_stats(group::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_group_trace(group::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_group_snapshot(group::UInt64, out_table::Ptr{Ptr{Cvoid}})::Int32
@foreign forcings_group_next_host_job(
    group::UInt64,
    out_job::Ptr{UInt64},
    out_member::Ptr{UInt64},
    out_epoch::Ptr{UInt64},
    out_time::Ptr{Float64},
    out_sample::Ptr{Ptr{Cvoid}},
)::Int32
@foreign forcings_group_wait_host(group::UInt64, timeout_ms::UInt64, out_work::Ptr{Int32})::Int32

@foreign forcings_host_member(
    times::Ptr{Float64},
    n::UInt64,
    at::Ptr{Float64},
    anchors::Ptr{Float64},
    m::UInt64,
    out_member::Ptr{UInt64},
)::Int32
@foreign forcings_host_complete(job::UInt64, value::UInt64, bytes::UInt64)::Int32
@foreign forcings_host_fail(job::UInt64, value::UInt64, text::Ptr{UInt8}, text_len::UInt64)::Int32
@foreign forcings_host_drain(out_values::Ptr{UInt64}, capacity::UInt64, out_count::Ptr{UInt64})::Int32

@foreign forcings_store_transform(
    store::UInt64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_sources::Ptr{UInt64},
    out_table::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_rename(
    store::UInt64,
    id::Int64,
    name::Ptr{UInt8},
    name_len::UInt64,
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_copy(
    store::UInt64,
    id::Int64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_id::Ptr{Int64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_replace_owner(
    store::UInt64,
    options::Ptr{UInt8},
    options_len::UInt64,
    out_series::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_remove_matching(
    store::UInt64,
    filter::Ptr{UInt8},
    filter_len::UInt64,
    out_series::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_clear(
    store::UInt64,
    owner::Ptr{UInt8},
    owner_len::UInt64,
    out_series::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32

@foreign forcings_relation_add(
    store::UInt64,
    relation::Int32,
    associations::Ptr{UInt8},
    associations_len::UInt64,
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_relation_remove(
    store::UInt64,
    relation::Int32,
    filter::Ptr{UInt8},
    filter_len::UInt64,
    out_associations::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_relation_list(
    store::UInt64,
    relation::Int32,
    filter::Ptr{UInt8},
    filter_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_relation_count(
    store::UInt64,
    relation::Int32,
    filter::Ptr{UInt8},
    filter_len::UInt64,
    out_associations::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_relation_types(
    store::UInt64,
    relation::Int32,
    filter::Ptr{UInt8},
    filter_len::UInt64,
    out_from::Ptr{Ptr{Cvoid}},
    out_to::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_relation_replace(
    store::UInt64,
    relation::Int32,
    category::Int32,
    old::Int64,
    new::Int64,
    out_associations::Ptr{UInt64},
    out_job::Ptr{UInt64},
)::Int32

@foreign forcings_store_counts(
    store::UInt64,
    out_counts::Ptr{Ptr{Cvoid}},
    out_types::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_summary(
    store::UInt64,
    forecasts::UInt8,
    out_table::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_forecast_parameters(
    store::UInt64,
    windows::Ptr{UInt8},
    windows_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_distinct(
    store::UInt64,
    field::Ptr{UInt8},
    field_len::UInt64,
    out_table::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32

@foreign forcings_store_verify(
    store::UInt64,
    out_counts::Ptr{Ptr{Cvoid}},
    out_findings::Ptr{Ptr{Cvoid}},
    out_series::Ptr{Ptr{Cvoid}},
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_check(store::UInt64, out_table::Ptr{Ptr{Cvoid}}, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_compact(store::UInt64, out_table::Ptr{Ptr{Cvoid}}, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_compact_physical(store::UInt64, out_table::Ptr{Ptr{Cvoid}}, out_job::Ptr{UInt64})::Int32
@foreign forcings_store_persist(
    store::UInt64,
    path::Ptr{UInt8},
    path_len::UInt64,
    overwrite::UInt8,
    out_job::Ptr{UInt64},
)::Int32
@foreign forcings_store_state(
    store::UInt64,
    out_known::Ptr{UInt8},
    out_series::Ptr{UInt64},
    out_in_transaction::Ptr{UInt8},
)::Int32
