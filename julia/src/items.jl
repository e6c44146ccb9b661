# Series on their way to the library and back: the struct that describes one, and the order of its values.

# One series; the struct of the header.
struct SeriesItem
    size::UInt64
    meta::Ptr{UInt8}
    meta_len::UInt64
    time_reference::Ptr{UInt8}
    time_reference_len::UInt64
    series_type::UInt64
    initial_ms::Int64
    resolution_ms::Int64
    resolution_months::Int64
    horizon_ms::Int64
    horizon_months::Int64
    interval_ms::Int64
    interval_months::Int64
    timestamps::Ptr{Int64}
    timestamps_len::UInt64
    percentiles::Ptr{Float64}
    percentiles_len::UInt64
    shape::Ptr{UInt64}
    rank::UInt64
    values::Ptr{UInt8}
    values_len::UInt64
    dtype::UInt64
end

# What an item points to, and its numbers. Must stay reachable while the library uses the item.
struct ItemParts
    meta::String
    time_reference::Union{String, Nothing}
    series_type::UInt64
    initial_ms::Int64
    resolution::Tuple{Int64, Int64}
    horizon::Tuple{Int64, Int64}
    interval::Tuple{Int64, Int64}
    timestamps::Vector{Int64}
    percentiles::Vector{Float64}
    shape::Vector{UInt64}
    values::Array
end

const NO_PERIOD = (0, 0)
const NO_INSTANTS = Int64[]
const NO_NUMBERS = Float64[]

# The values are given apart: in the library's order, or as they are where their order does not matter.
#
# Here and below nothing is compiled for each of the many types of series: no loop over values depends on it.
function ItemParts(meta, @nospecialize(s::SingleTimeSeries), @nospecialize(values))
    grid = (to_millis(s.initial_timestamp), period_numbers(s.resolution), NO_PERIOD, NO_PERIOD)
    return ItemParts(meta, s.time_reference, 0, grid..., NO_INSTANTS, NO_NUMBERS, stored_shape(s), values)
end

function ItemParts(meta, @nospecialize(s::IrregularSeries), @nospecialize(values))
    instants, grid = map(to_millis, s.timestamps), (0, NO_PERIOD, NO_PERIOD, NO_PERIOD)
    type = s isa NonSequentialTimeSeries ? 1 : 2
    return ItemParts(meta, s.time_reference, type, grid..., instants, NO_NUMBERS, stored_shape(s), values)
end

function ItemParts(meta, @nospecialize(f::DenseForecast), @nospecialize(values))
    grid = (to_millis(f.initial_timestamp), map(period_numbers, (f.resolution, f.horizon, f.interval))...)
    type = f isa Deterministic ? 3 : f isa Probabilistic ? 5 : 6
    levels = f isa Probabilistic ? f.percentiles : NO_NUMBERS
    return ItemParts(meta, f.time_reference, type, grid..., NO_INSTANTS, levels, stored_shape(f), values)
end

function SeriesItem(p::ItemParts)
    reference = p.time_reference
    return SeriesItem(
        sizeof(SeriesItem),
        pointer(p.meta),
        sizeof(p.meta),
        reference === nothing ? C_NULL : pointer(reference),
        reference === nothing ? 0 : sizeof(reference),
        p.series_type,
        p.initial_ms,
        p.resolution...,
        p.horizon...,
        p.interval...,
        pointer(p.timestamps),
        length(p.timestamps),
        pointer(p.percentiles),
        length(p.percentiles),
        pointer(p.shape),
        length(p.shape),
        Ptr{UInt8}(pointer(p.values)),
        sizeof(p.values),
        type_code(eltype(p.values)),
    )
end

# The series, if it keeps the rules that need no store.
function checked(@nospecialize(s::Series))
    parts = ItemParts("", s, s.values)
    item = Ref(SeriesItem(parts))
    status = GC.@preserve parts forcings_series_check(item)
    status == 0 || throw(named(typeof(s), s.name, last_error(status).message))
    return s
end

# The dimensions of Julia's array in the order of the library, whose first one varies slowest. Percentiles and scenarios
# stand in front there.
function library_order(@nospecialize(S::Type), rank::Int)
    S <: Union{Probabilistic, Scenarios} || return ntuple(identity, rank)
    return ntuple(i -> i == 1 ? 3 : i <= 3 ? i - 1 : i, rank)
end

function stored_shape(@nospecialize(s::Series))
    shape = size(s.values)
    return UInt64[shape[d] for d in library_order(typeof(s), length(shape))]
end

# The values in the library's order: a copy, unless they are a vector.
function stored_values(@nospecialize(s::Series))
    v = s.values
    return ndims(v) == 1 ? v : permutedims(v, reverse(library_order(typeof(s), ndims(v))))
end

# The array of a series of the type `S` from the library's bytes at `source`, whose shape there is `shape`.
function from_stored(@nospecialize(S::Type), ::Type{T}, source::Ptr{UInt8}, shape::NTuple{N, Int}) where {T, N}
    order::NTuple{N, Int} = library_order(S, N)
    target = Array{T, N}(undef, map(i -> shape[i], invperm(order)))
    # An array without elements may have no address.
    isempty(target) && return target
    permutedims!(target, unsafe_wrap(Array, Ptr{T}(source), reverse(shape)), invperm(reverse(order)))
    return target
end
function from_stored(@nospecialize(S::Type), ::Type{T}, source::Ptr{UInt8}, shape::NTuple{1, Int}) where {T}
    return copy_from(Ptr{T}(source), shape[1])
end

# The series in the row `i` of a table.
function series_at(table, i)
    series = SERIES_READERS[table[:type][i]]
    return series(table, i, STORED_TYPES[table[:dtype][i] + 1])
end

function values_at(S, T, table, i)
    source, _ = table[:values][i]
    return from_stored(S, T, source, Tuple(table[:shape][i]))
end

reference_at(table, i) = (text = table[:time_reference][i]; text === missing ? nothing : text)

function single_at(table, i, T)
    v = values_at(SingleTimeSeries, T, table, i)
    start = from_millis(table[:initial_ms][i])
    S = typeof_series(SingleTimeSeries, v)
    return S(table[:name][i], start, resolution_at(table, i), v, reference_at(table, i))
end

function irregular_at(S, table, i, T)
    v = values_at(S, T, table, i)
    times = map(from_millis, table[:timestamps_ms][i])
    return typeof_series(S, v)(table[:name][i], times, v, reference_at(table, i))
end

function derived_at(table, i, T)
    source = single_at(table, i, T)
    return derived(source, period_at(table, :horizon, i), period_at(table, :interval, i), table[:count][i])
end

function forecast_at(S, table, i, T)
    v = values_at(S, T, table, i)
    start = from_millis(table[:initial_ms][i])
    periods = map(name -> period_at(table, name, i), (:resolution, :horizon, :interval))
    levels = S === Probabilistic ? (table[:percentiles][i],) : ()
    return typeof_series(S, v)(table[:name][i], start, periods..., levels..., v, reference_at(table, i))
end

const SERIES_READERS = Dict{String, Function}(
    "SingleTimeSeries" => single_at,
    "NonSequentialTimeSeries" => (arguments...) -> irregular_at(NonSequentialTimeSeries, arguments...),
    "PersistentTimeSeries" => (arguments...) -> irregular_at(PersistentTimeSeries, arguments...),
    "Deterministic" => (arguments...) -> forecast_at(Deterministic, arguments...),
    "DeterministicSingleTimeSeries" => derived_at,
    "Probabilistic" => (arguments...) -> forecast_at(Probabilistic, arguments...),
    "Scenarios" => (arguments...) -> forecast_at(Scenarios, arguments...),
)

# The two columns of a period.
period_columns(table, name) = (table[Symbol(name, :_ms)], table[Symbol(name, :_months)])

# A period of a row: `missing` for a series that has none.
period_at(table, name, i) = period_of(map(column -> column[i], period_columns(table, name))...)
period_of(ms, ::Missing) = from_fixed(ms)
period_of(::Missing, months) = from_months(months)
period_of(::Missing, ::Missing) = missing

resolution_at(table, i) = period_at(table, :resolution, i)
