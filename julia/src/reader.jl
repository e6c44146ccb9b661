# Readers: the values of many series at one instant, in buffers that are reused.

# The series of one element type and shape.
struct ReaderGroup
    element_type::DataType
    element_shape::Tuple
    columns::Int
end

"""
    StaticReader(store; resolution, filters...)

A plan for walking the timeline of the [`SingleTimeSeries`](@ref) that match: made once, it reads the values of every one
of them at an instant with about one chunk read, into buffers that each read overwrites. All series must lie on one grid.
The filters are those of [`list_series`](@ref); when nothing matches, the reader has no steps and no groups. Series that
are added later are not in it.

Series are grouped by element type and element shape; groups and the columns in them count from 1 (columns in ascending
order of the ids).

- [`read!(reader, t)`](@ref read!(::StaticReader, ::DateTime)) and [`readstep!`](@ref) read an instant or a step
- [`values(reader, group)`](@ref values(::StaticReader, ::Integer)) are the values of the last read
- `length(reader)` is the number of steps; [`Forcings.timestamps`](@ref), [`Forcings.index_at`](@ref),
  [`Forcings.groups`](@ref) and [`Forcings.entries`](@ref) describe it
- `for (t, row) in reader` reads step after step; `row` is a tuple with the values of each group, valid until the next
  step. `collect(reader)` copies them

A reader serves one task at a time.

Throws `Forcings.InvalidParameterError` when the series that match do not share a grid, naming two that differ.

```julia
store = memory_store()
add!(store, [(Owner(bus, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))) for bus in 1:3])
reader = StaticReader(store; name = "load", resolution = Hour(1))
for (t, (loads,)) in reader
    sum(loads)
end
```
"""
mutable struct StaticReader <: Managed
    handle::UInt64
    length::Int
    groups::Vector{ReaderGroup}
    # One array over the library's buffer for each group, made by the first read.
    arrays::Vector{AbstractArray}
    # Whether the last read filled them.
    filled::Bool
    function StaticReader(handle::UInt64, length::Integer, groups)
        return manage(new(handle, length, groups, AbstractArray[], false))
    end
end

function StaticReader(store::Store; resolution, filters...)
    filter = json(filter_object(; resolution = resolution, filters...))
    handle = Ref{UInt64}(0)
    GC.@preserve filter background(job -> forcings_reader_build(store, filter, sizeof(filter), handle, job))
    length, table = Ref{UInt64}(0), Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_length(handle[], length))
    check(forcings_reader_groups(handle[], table))
    return StaticReader(handle[], length[], with_tables(groups_from_table, table))
end

function groups_from_table(table)
    return map(table[:dtype], table[:element_shape], table[:columns]) do dtype, shape, columns
        ReaderGroup(STORED_TYPES[dtype + 1], Tuple(shape), columns)
    end
end

# The buffer of a group without a copy. The array keeps the buffer, also beyond the reader's own end.
function wrap_buffer(reader, i)
    group = reader.groups[i]
    address, bytes, buffer = Ref{Ptr{Cvoid}}(C_NULL), Ref{UInt64}(0), Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_values(reader, i - 1, address, bytes, buffer))
    array = unsafe_wrap(Array, Ptr{group.element_type}(address[]), reverse((group.columns, group.element_shape...)))
    sizeof(array) == bytes[] ||
        throw(InternalError("the buffer of group $i has $(bytes[]) bytes, not $(sizeof(array))"))
    held = buffer[]
    when_unused(() -> forcings_buffer_release(held), array)
    return ndims(array) == 1 ? array : PermutedDimsArray(array, ndims(array):-1:1)
end

"""
    read!(reader, t) -> reader

Reads the values at the instant `t`, a `DateTime`, or seconds since 1970 as a floating-point number. `t` must be an
instant of the reader's grid. An integer is refused, since it could be meant as a step: see [`readstep!`](@ref).

Throws `Forcings.OffGridError`, `Forcings.ClosedError`.
"""
Base.read!(reader::StaticReader, t::DateTime) = read_at!(reader, to_millis(t))

function Base.read!(reader::StaticReader, t::AbstractFloat)
    ms = round(t * 1000)
    abs(ms) <= 2.0^53 || throw(invalid("$t is not a number of seconds since 1970"))
    return read_at!(reader, Int64(ms))
end

function Base.read!(::StaticReader, t::Integer)
    throw(invalid(
        "the integer $t could be a time or a step: read!(reader, t) takes a DateTime or seconds since 1970 as a " *
            "floating-point number, readstep!(reader, i) takes the number of a step",
    ))
end

function Base.read!(::StaticReader, t)
    throw(invalid("an instant must be a DateTime or seconds since 1970 as a floating-point number, not $(repr(t))"))
end

function read_at!(reader, ms)
    reader.filled = false
    check(forcings_reader_read(reader, ms))
    return filled!(reader)
end

function filled!(reader)
    isempty(reader.arrays) && append!(reader.arrays, [wrap_buffer(reader, i) for i in eachindex(reader.groups)])
    reader.filled = true
    return reader
end

"""
    readstep!(reader, i) -> reader

Reads the values of step `i`, from 1 to `length(reader)`.

Throws `Forcings.OffGridError`, `Forcings.ClosedError`.
"""
function readstep!(reader::StaticReader, i::Integer)
    reader.filled = false
    if !(1 <= i <= reader.length) && isopen(reader)
        throw(OffGridError("there is no step $i; the reader has the steps 1 to $(reader.length)"))
    end
    check(forcings_reader_read_step(reader, i - 1))
    return filled!(reader)
end

"""
    values(reader, group) -> array
    values(reader) -> tuple of the arrays of all groups

The values of the last read, of shape `(columns,)`, or `(columns, e...)` for elements of shape `e`. The array is the
reader's own buffer, which the next read overwrites: copy what you keep, and do not write to it.

Throws `Forcings.InvalidParameterError` before the first read and after one that failed.
"""
function Base.values(reader::StaticReader, group::Integer)
    checkbounds(Bool, reader.groups, group) || throw(no_group(reader, group))
    check_filled(reader)
    return reader.arrays[group]
end

function Base.values(reader::StaticReader)
    check_filled(reader)
    return Tuple(reader.arrays)
end

check_filled(reader) = reader.filled ? nothing : throw(invalid("the reader has no values: read an instant first"))
no_group(reader, group) = invalid("there is no group $group; the reader has $(length(reader.groups))")

"""
    close(reader)

Closes the reader. Arrays from `values` stay valid, with the values of the last read. Closing twice does nothing.
"""
Base.close(reader::StaticReader) = check(forcings_reader_close(reader))

Base.length(reader::StaticReader) = reader.length
Base.eltype(::Type{StaticReader}) = Tuple{DateTime, Tuple}

function Base.iterate(reader::StaticReader, step = 1)
    step > reader.length && return nothing
    readstep!(reader, step)
    return (time_at(reader, step), values(reader)), step + 1
end

Base.collect(reader::StaticReader) = [(t, map(copy, row)) for (t, row) in reader]

"""
    Forcings.timestamps(reader::StaticReader) -> Vector{DateTime}

The instants of the reader's grid.
"""
timestamps(reader::StaticReader) = [time_at(reader, step) for step in 1:(reader.length)]

function time_at(reader, step)
    ms = Ref{Int64}(0)
    check(forcings_reader_time_at(reader, step - 1, ms))
    return from_millis(ms[])
end

"""
    Forcings.index_at(reader, t::DateTime) -> Int

The step, counted from 1, whose instant is `t`. Throws `Forcings.OffGridError` when there is none.
"""
function index_at(reader::StaticReader, t::DateTime)
    index = Ref{UInt64}(0)
    check(forcings_reader_index_at(reader, to_millis(t), index))
    return Int(index[]) + 1
end

"""
    Forcings.groups(reader) -> Vector of named tuples

The groups of a reader: `element_type`, `element_shape` and the number of `columns`.
"""
function groups(reader::StaticReader)
    return [
        (element_type = g.element_type, element_shape = g.element_shape, columns = g.columns)
        for g in reader.groups
    ]
end

"""
    Forcings.entries(reader, group) -> Vector of named tuples

The series of a group, one row per column of its values, with the fields of [`list_series`](@ref).
"""
function entries(reader::StaticReader, group::Integer)
    checkbounds(Bool, reader.groups, group) || throw(no_group(reader, group))
    table, features = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_reader_columns(reader, group - 1, table, features))
    return with_tables(rows_from_table, table, features)
end
