"""
Time-dependent data for solvers: time series in a content-addressed store, and gridded fields decoded ahead of the solver
on native threads, forward and backward in time.

- [`create_store`](@ref), [`add!`](@ref), [`list_series`](@ref): a store of time series in two files
- [`StaticReader`](@ref), [`ForecastReader`](@ref): every series' value or window at an instant, in buffers that are reused
- [`Provider`](@ref), [`sample_at`](@ref): gridded files as data at a time
- [`Cache`](@ref): files behind URLs, fetched once for all processes
- [`PrefetchGroup`](@ref), [`take!`](@ref take!(::PrefetchGroup, ::Integer)): the coming epochs of many providers
- [`Forcings.EpochFeed`](@ref), [`Forcings.revolve`](@ref): for integrators with callbacks, for adjoints with few states
"""
module Forcings

using Dates
using Logging: Logging, @logmsg
import Libdl
import Serialization

export create_store, open_store, memory_store, transaction
export Owner, SingleTimeSeries, NonSequentialTimeSeries, PersistentTimeSeries
export Deterministic, DeterministicSingleTimeSeries, Probabilistic, Scenarios
export add!, read_series, list_series, remove!
export StaticReader, ForecastReader, readstep!
export Cache, Provider, refresh_times, refresh, materialize, sample_at
export with_window, sample_windows_at, DimWindow, CoordWindow
export PrefetchGroup, boundaries, start!, cancel!, stats

# What is used while other files are loaded comes first: exception types, signatures, owners.
include("compat.jl")
include("errors.jl")
include("capi.jl")
include("library.jl")
include("handles.jl")
include("session.jl")
include("json.jl")
include("periods.jl")
include("tables.jl")

include("owners.jl")
include("series.jl")
include("forecasts.jl")
include("items.jl")
include("store.jl")
include("contents.jl")
include("listing.jl")
include("operations.jl")
include("associations.jl")
include("summaries.jl")
include("maintenance.jl")
include("reader.jl")
include("forecast_reader.jl")
include("window.jl")
include("fields.jl")
include("named.jl")
include("cache.jl")
include("provider.jl")
include("provider_windows.jl")
include("members.jl")
include("host.jl")
include("epochs.jl")
include("prefetch.jl")
include("group_stats.jl")
include("trace.jl")
include("epoch_feed.jl")
include("revolve.jl")
include("show.jl")
include("show_fields.jl")
include("show_prefetch.jl")
include("show_series.jl")
include("show_reader.jl")

function __init__()
    open_library(find_library())
    atexit(shutdown)
    return nothing
end

# Stores are flushed and threads joined before the process ends. An error here has nobody to go to but the terminal.
function shutdown()
    close_session()
    check(forcings_shutdown())
    return nothing
end

end
