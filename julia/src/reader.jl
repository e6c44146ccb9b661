# Readers: the values of many series at one instant, in buffers that are reused. What both kinds share, and the one of
# static series.

# What the library returns as one array: a group of series, or the window of a slot.
struct ReaderPart
    element_type::DataType
    # In the library's order, whose first dimension varies slowest.
    shape::Tuple{Vararg{Int}}
    # The library's dimension that each dimension here is.
    order::Tuple{Vararg{Int}}
end

# A reader has the fields `handle`, `store`, `type`, `length`, `resolution`, `interval`, `time_reference`, `readahead`,
# `parts`, and
# - `times`: the instants, once they were asked for
# - `row`: the arrays over the library's buffers, made by the first read; their types are known to the compiler
# - `filled`: whether the last read succeeded
abstract type Reader <: Managed end

"""
    StaticReader(store; type = SingleTimeSeries, resolution, filters..., start = nothing, extent = nothing, readahead)

A plan for walking the timeline of the static series that match: made once, it reads the values of every one of them at an
instant with about one chunk read, into buffers that each read overwrites. The filters are those of
[`list_series`](@ref); when nothing matches, the reader has no steps and no groups. Series that are added later are not in
it.

| `type` | the timeline |
|---|---|
| [`SingleTimeSeries`](@ref) | the grid that all series have, or a window that all of them cover; needs a `resolution` |
| [`NonSequentialTimeSeries`](@ref) | the instants that all series have |
| [`PersistentTimeSeries`](@ref) | every breakpoint of any series; at each of them, and at any instant between, a series has the value of its own last breakpoint |

- `start`, `extent`: a window of regular series that are not on one grid: `extent` steps from `start` on, or as many as
  every series has. `start` is a `DateTime`, or strict: [`Forcings.Utc`](@ref), [`Forcings.Zoneless`](@ref). It must be a
  step of every series, and a series that does not cover the window is an error
- `initial_timestamp`, `length`: filters, which leave out the series that are not on that grid
- `readahead`: how many bytes a sweep in one direction may decode ahead on native threads, 16 MiB unless given; 0 for none

Series are grouped by element type and element shape; groups, and the columns in them, count from 1. Columns are in the
order of owner id, owner category, name and features.

- [`read!(reader, t)`](@ref read!(::Forcings.Reader, ::Any)) and [`readstep!`](@ref) read an instant or a step
- [`values(reader, group)`](@ref values(::Forcings.Reader, ::Integer)) are the values of the last read
- `length(reader)` is the number of steps; [`Forcings.timestamps`](@ref), [`Forcings.index_at`](@ref),
  [`Forcings.groups`](@ref) and [`Forcings.entries`](@ref) describe it; `reader.type`, `reader.resolution` and
  `reader.time_reference` say what its series have in common
- `for (t, row) in reader` reads step after step; `row` is a tuple with the values of each group, valid until the next
  step: `[row for (t, row) in reader]` holds the last one many times. `collect(reader)` copies each. In a function that
  takes the reader as an argument, a step allocates nothing

A reader serves one task at a time and keeps its store open until the store is closed.

Throws `Forcings.InvalidParameterError` when the series that match have no timeline together, naming two that differ or the
one that does not cover the window.

```julia
store = memory_store()
add!(store, [(Owner(bus, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))) for bus in 1:3])
reader = StaticReader(store; name = "load", resolution = Hour(1))
for (t, (loads,)) in reader
    sum(loads)
end
noon = StaticReader(store; resolution = Hour(1), start = DateTime(2030, 1, 1, 12), extent = 6)
Forcings.timestamps(noon)
```
"""
mutable struct StaticReader{R <: Tuple} <: Reader
    handle::UInt64
    store::Store
    type::Symbol
    length::Int
    resolution::Union{Period, Nothing}
    interval::Nothing
    time_reference::Union{String, Nothing}
    readahead::Int
    parts::Vector{ReaderPart}
    times::Vector{DateTime}
    row::Union{R, Nothing}
    filled::Bool
    function StaticReader(handle::UInt64, store, about, readahead, parts)
        R = Tuple{map(array_type, parts)...}
        return manage(new{R}(
            handle,
            store,
            about.type,
            about.length,
            about.resolution,
            nothing,
            about.time_reference,
            readahead,
            parts,
            DateTime[],
            nothing,
            false,
        ))
    end
end

const DEFAULT_READAHEAD = 16 << 20

function StaticReader(
    store::Store;
    type = SingleTimeSeries,
    start = nothing,
    extent = nothing,
    readahead = DEFAULT_READAHEAD,
    filters...,
)
    options = (
        filter = filter_object(; type = type, filters...),
        start = bound(start),
        extent = extent === nothing ? nothing : whole_number("extent", "steps", extent),
        readahead = whole_number("readahead", "bytes", readahead),
    )
    handle = build_reader(forcings_reader_build, store, options)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_groups(handle, table))
    return StaticReader(handle, store, about_reader(handle), readahead, with_tables(groups_from_table, table))
end

function whole_number(keyword, unit, n)
    n isa Integer && 0 <= n <= typemax(Int) && return Int(n)
    throw(invalid("the keyword $keyword takes a number of $unit, not $(repr(n))"))
end

function build_reader(build, store, options)
    text, handle = json(options), Ref{UInt64}(0)
    GC.@preserve text background(job -> build(store, text, sizeof(text), handle, job))
    return handle[]
end

function about_reader(handle)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_describe(handle, table))
    return with_tables(table) do about
        known(x) = x === missing ? nothing : x
        (
            type = Symbol(about[:type][1]),
            series = about[:series][1],
            length = about[:length][1],
            resolution = known(period_at(about, :resolution, 1)),
            interval = known(period_at(about, :interval, 1)),
            time_reference = known(about[:time_reference][1]),
        )
    end
end

function groups_from_table(table)
    return map(table[:dtype], table[:element_shape], table[:columns]) do dtype, element, columns
        shape = (columns, element...)
        ReaderPart(STORED_TYPES[dtype + 1], shape, ntuple(identity, length(shape)))
    end
end

extents(part::ReaderPart) = map(d -> part.shape[d], part.order)

# An array over the library's memory with the dimensions in the order of `part`.
function in_order(part, array)
    order = map(d -> ndims(array) + 1 - d, part.order)
    return order == ntuple(identity, ndims(array)) ? array : PermutedDimsArray(array, order)
end

array_type(part) = typeof(in_order(part, Array{part.element_type}(undef, map(_ -> 0, part.shape))))

# The buffer of a part without a copy. The array keeps the buffer, also beyond the reader's own end.
function wrap_buffer(reader, i)
    part = reader.parts[i]
    address, bytes, buffer = Ref{Ptr{Cvoid}}(C_NULL), Ref{UInt64}(0), Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_values(reader, i - 1, address, bytes, buffer))
    held, shape = buffer[], reverse(part.shape)
    if bytes[] != prod(shape) * sizeof(part.element_type)
        forcings_buffer_release(held)
        throw(InternalError("the buffer $i of a reader has $(bytes[]) bytes, which does not fit the shape $shape"))
    elseif bytes[] == 0
        # An array without elements may have no address.
        forcings_buffer_release(held)
        return in_order(part, Array{part.element_type}(undef, shape))
    end
    array = unsafe_wrap(Array, Ptr{part.element_type}(address[]), shape)
    when_unused(() -> forcings_buffer_release(held), array)
    return in_order(part, array)
end

wrap_buffers(reader::StaticReader) = Tuple(Any[wrap_buffer(reader, i) for i in eachindex(reader.parts)])

"""
    read!(reader, t) -> reader

Reads the values at the instant `t`, a `DateTime`, or seconds since 1970 as a floating-point number. `t` must be an
instant of the reader's timeline, for a [`ForecastReader`](@ref) the start of a window; only step functions have values
between, too. An integer is refused, since it could be meant as a step: see [`readstep!`](@ref).

After an error the reader has no values until the next read that succeeds.

Throws `Forcings.OffGridError`, naming the series where one has no value yet; `Forcings.NotFoundError` when a series was
removed and no other has its values, or the reader has none; `Forcings.ClosedError`.
"""
function Base.read!(reader::Reader, t)
    ms = reader_millis(t)
    reader.filled = false
    check(forcings_reader_read(reader, ms))
    return filled!(reader)
end

reader_millis(t::DateTime) = to_millis(t)

function reader_millis(t::AbstractFloat)
    ms = round(t * 1000)
    abs(ms) <= 2.0^53 || throw(invalid("$t is not a number of seconds since 1970"))
    return Int64(ms)
end

function reader_millis(t::Integer)
    throw(invalid(
        "the integer $t could be a time or a step: read!(reader, t) takes a DateTime or seconds since 1970 as a " *
            "floating-point number, readstep!(reader, i) takes the number of a step",
    ))
end

function reader_millis(t)
    throw(invalid("an instant must be a DateTime or seconds since 1970 as a floating-point number, not $(repr(t))"))
end

function filled!(reader)
    reader.row === nothing && (reader.row = wrap_buffers(reader))
    reader.filled = true
    return reader
end

"""
    readstep!(reader, i) -> reader

Reads the values of step `i`, from 1 to `length(reader)`; of a [`ForecastReader`](@ref), those of window `i`.

Throws what [`read!(reader, t)`](@ref read!(::Forcings.Reader, ::Any)) throws.
"""
function readstep!(reader::Reader, i::Integer)
    reader.filled = false
    exists = 1 <= i <= reader.length
    # A reader that is closed or over nothing has an error of its own.
    exists || isempty(reader.parts) || !isopen(reader) || throw(no_step(reader, i))
    check(forcings_reader_read_step(reader, exists ? i - 1 : 0))
    return filled!(reader)
end

function no_step(reader, i)
    step = step_noun(reader)
    range = reader.length == 0 ? "no $(step)s" : "the $(step)s 1 to $(reader.length)"
    return OffGridError("there is no $step $i; the reader has $range")
end

step_noun(::StaticReader) = "step"
part_noun(::StaticReader) = "group"

"""
    values(reader, i) -> array
    values(reader) -> the arrays of all groups, or of all slots

The values of the last read. Of a [`StaticReader`](@ref), those of group `i`: of size `(columns,)`, or `(columns, e...)`
for elements of shape `e`. Of a [`ForecastReader`](@ref), the window of slot `i`, with the dimensions of
[`Forcings.window`](@ref). The array is the reader's own buffer, which the next read overwrites: `copy` what you keep, and
do not write to it.

Throws `Forcings.InvalidParameterError` before the first read and after one that failed.
"""
# Inlined, so that the compiler knows the type of a group whose number is written out.
@inline function Base.values(reader::Reader, i::Integer)
    check_part(reader, i)
    return values(reader)[i]
end

function Base.values(reader::Reader)
    row = reader.row
    (row === nothing || !reader.filled) && throw(invalid("the reader has no values: read an instant first"))
    return row
end

function check_part(reader, i)
    checkbounds(Bool, reader.parts, i) && return nothing
    throw(invalid("there is no $(part_noun(reader)) $i; the reader has $(length(reader.parts))"))
end

"""
    close(reader)

Closes the reader. Arrays from `values` stay valid, with the values of the last read. Closing twice does nothing.
"""
Base.close(reader::Reader) = check(forcings_reader_close(reader))

Base.length(reader::Reader) = reader.length
Base.isempty(reader::Reader) = reader.length == 0
Base.eltype(::Type{StaticReader{R}}) where {R} = Tuple{DateTime, R}

# Inlined, so that the tuple that it returns needs no memory.
@inline function Base.iterate(reader::Reader, step::Int = 1)
    step > reader.length && return nothing
    readstep!(reader, step)
    return (instants(reader)[step], values(reader)), step + 1
end

Base.collect(reader::Reader) = [(t, map(copy, row)) for (t, row) in reader]

"""
    Forcings.timestamps(reader) -> Vector{DateTime}

The instants of the reader's timeline; of a [`ForecastReader`](@ref), the starts of the windows.
"""
timestamps(reader::Reader) = copy(instants(reader))

function instants(reader)
    isempty(reader.times) && reader.length > 0 && load_instants!(reader)
    return reader.times
end

@noinline function load_instants!(reader)
    ms, count = Vector{Int64}(undef, reader.length), Ref{UInt64}(0)
    GC.@preserve ms check(forcings_reader_timestamps(reader, pointer(ms), length(ms), count))
    reader.times = map(from_millis, ms)
    return nothing
end

"""
    Forcings.index_at(reader, t) -> Int

The step, counted from 1, whose instant is `t`, or the window that begins at `t`: a `DateTime`, or seconds since 1970 as a
floating-point number. Of step functions it is the last step that is not later than `t`.

Throws `Forcings.OffGridError` when there is none.
"""
function index_at(reader::Reader, t)
    index = Ref{UInt64}(0)
    check(forcings_reader_index_at(reader, reader_millis(t), index))
    return Int(index[]) + 1
end

"""
    Forcings.groups(reader::StaticReader) -> Vector of named tuples

The groups of a reader: `element_type`, `element_shape` and the number of `columns`.
"""
function groups(reader::StaticReader)
    return [
        (element_type = p.element_type, element_shape = Base.tail(p.shape), columns = p.shape[1])
        for p in reader.parts
    ]
end

"""
    Forcings.entries(reader::StaticReader, group) -> vector of named tuples

The series of a group, one row per column of its values, with the fields of [`list_series`](@ref): `id`, `name`, `owner_id`,
`features` and the others.
"""
function entries(reader::StaticReader, group::Integer)
    check_part(reader, group)
    table, features = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_columns(reader, group - 1, table, features))
    return with_tables(rows_from_table, table, features)
end
