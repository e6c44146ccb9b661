# Readers of forecasts: a window of many forecasts at once, in buffers that are reused.

"""
    ForecastReader(store; type, resolution, interval, filters..., readahead)

A plan for walking the windows of the forecasts that match: made once, it reads the window of every one of them that begins
at an instant, into buffers that each read overwrites. All forecasts must have one timeline of windows: `resolution`,
`interval`, the first window and their number. The horizon may differ.

- `type`: [`Deterministic`](@ref), which includes derived forecasts, [`DeterministicSingleTimeSeries`](@ref) alone,
  [`Probabilistic`](@ref) or [`Scenarios`](@ref)
- `resolution` is required; it and the other filters are those of [`list_series`](@ref). When nothing matches, the reader
  has no windows
- `readahead`: as for [`StaticReader`](@ref)

Forecasts with the same values share a slot, which is read once; slots count from 1.

- [`read!(reader, t)`](@ref read!(::Forcings.Reader, ::Any)) and [`readstep!`](@ref) read the windows that begin at `t`, or
  those of a number
- [`values(reader, slot)`](@ref values(::Forcings.Reader, ::Integer)) is the window of a slot as of the last read: `(steps,
  e...)`, with percentiles or scenarios as the second dimension where the type has them
- [`Forcings.entries`](@ref) lists the forecasts, each with its `slot`, and [`Forcings.slots`](@ref) the slots
- `length(reader)` is the number of windows; [`Forcings.timestamps`](@ref) and [`Forcings.index_at`](@ref) are about their
  starts; `reader.type`, `reader.resolution`, `reader.interval` and `reader.time_reference` say what the forecasts have in
  common
- `for (t, windows) in reader` reads one window after the other; `windows` is a vector with the window of each slot, valid
  until the next step. `collect(reader)` copies them. In a function that takes the reader as an argument, a step allocates
  nothing when the windows of all slots have one type and number of dimensions

A reader serves one task at a time and keeps its store open until the store is closed.

Throws `Forcings.InvalidParameterError` when the forecasts do not share a timeline, naming two that differ.

```julia
store = memory_store()
series(plant) = Deterministic("wind", DateTime(2030), Hour(1), rand(24, 7); interval = Day(1))
add!(store, [(Owner(plant, "Plant"), series(plant)) for plant in 1:3])
reader = ForecastReader(store; type = Deterministic, resolution = Hour(1), name = "wind")
slots = [entry.slot for entry in Forcings.entries(reader)]
for (t, windows) in reader
    total = sum(windows[slot] for slot in slots)          # 24 values
end
```
"""
mutable struct ForecastReader{W <: AbstractArray} <: Reader
    handle::UInt64
    store::Store
    type::Symbol
    length::Int
    resolution::Union{Period, Nothing}
    interval::Union{Period, Nothing}
    time_reference::Union{String, Nothing}
    readahead::Int
    parts::Vector{ReaderPart}
    forecasts::Int
    times::Vector{DateTime}
    row::Union{Vector{W}, Nothing}
    filled::Bool
    function ForecastReader(handle::UInt64, store, about, readahead, parts)
        W = reduce(typejoin, unique(map(array_type, parts)); init = Union{})
        return manage(new{W === Union{} ? AbstractArray : W}(
            handle,
            store,
            about.type,
            about.length,
            about.resolution,
            about.interval,
            about.time_reference,
            readahead,
            parts,
            about.series,
            DateTime[],
            nothing,
            false,
        ))
    end
end

function ForecastReader(store::Store; type = nothing, readahead = DEFAULT_READAHEAD, filters...)
    options = (
        filter = filter_object(; type = type, filters...),
        readahead = whole_number("readahead", "bytes", readahead),
    )
    handle = build_reader(forcings_forecast_reader_build, store, options)
    about, slots = about_reader(handle), Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_slots(handle, slots))
    parts = with_tables(table -> slots_from_table(table, about.type), slots)
    return ForecastReader(handle, store, about, readahead, parts)
end

# The library has percentiles and scenarios in front of the steps.
function slots_from_table(table, type)
    swapped = type in (:Probabilistic, :Scenarios)
    return map(table[:dtype], table[:window_shape]) do dtype, window
        order = ntuple(d -> swapped && d <= 2 ? 3 - d : d, length(window))
        ReaderPart(STORED_TYPES[dtype + 1], Tuple(window), order)
    end
end

wrap_buffers(reader::ForecastReader{W}) where {W} = W[wrap_buffer(reader, i) for i in eachindex(reader.parts)]

step_noun(::ForecastReader) = "window"
part_noun(::ForecastReader) = "slot"

Base.eltype(::Type{ForecastReader{W}}) where {W} = Tuple{DateTime, Vector{W}}

"""
    Forcings.slots(reader::ForecastReader) -> Vector of named tuples

The slots of a reader: `element_type`, and the `size` of a window.
"""
slots(reader::ForecastReader) = [(element_type = p.element_type, size = extents(p)) for p in reader.parts]

"""
    Forcings.entries(reader::ForecastReader) -> Vector of named tuples

The forecasts of a reader in the order of owner id, owner category, name and features: the number of the `slot` with the
values, and the fields of [`list_series`](@ref).
"""
function entries(reader::ForecastReader)
    table, features = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_entries(reader, table, features))
    return with_tables(table, features) do rows, lines
        [merge((slot = slot + 1,), row) for (slot, row) in zip(rows[:slot], rows_from_table(rows, lines))]
    end
end
