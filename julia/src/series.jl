# Static series: one value, or one array, at each of their instants.

# The types of stored values, in the order of their numbers in the library.
const STORED_TYPES = (Float64, Float32, Int64, Int32, UInt64, Bool)
const StoredType = Union{STORED_TYPES...}

type_code(::Type{T}) where {T <: StoredType} = findfirst(==(T), STORED_TYPES) - 1

"""
    Forcings.Series{T, N}

A time series: a name, a time axis, and an array of `N` dimensions with elements of the type `T`, one of `Float64`,
`Float32`, `Int64`, `Int32`, `UInt64` and `Bool`. Subtypes are `Forcings.StaticSeries` ([`SingleTimeSeries`](@ref),
[`NonSequentialTimeSeries`](@ref), [`PersistentTimeSeries`](@ref)) and `Forcings.Forecast` ([`Deterministic`](@ref),
[`DeterministicSingleTimeSeries`](@ref), [`Probabilistic`](@ref), [`Scenarios`](@ref)).

Constructors take arrays of narrower types too (`Int16` becomes `Int32`, `UInt32` becomes `Int64`, `Float16` becomes
`Float32`). An `Array` of a stored type is not copied: it is the caller's.

A static series is indexed by its steps, a forecast by its windows: `s[i]` counts from 1, `s[t]` takes an instant, and
`length`, iteration, `first`, `last` and `eltype` go by the same items. `values(s)` is the whole array, `size(s)` its size,
[`Forcings.timestamps`](@ref) the instants. `==` compares all of it; `isequal` and `hash` do for NaN.
"""
abstract type Series{T <: StoredType, N} end

abstract type StaticSeries{T <: StoredType, N} <: Series{T, N} end

# What the last argument of a constructor says of `time_reference`; see `SingleTimeSeries`.
reference_text(::Nothing) = nothing
reference_text(x::Symbol) = reference_text(String(x))
function reference_text(x::AbstractString)
    m = match(r"^([+-])(\d\d)(?::?(\d\d))?$", x)
    m === nothing && return String(x)
    minutes = m[3] === nothing ? "00" : m[3]
    return (m[2] == minutes == "00" ? "+" : m[1]) * m[2] * ":" * minutes
end
function reference_text(x)
    throw(invalid("a time reference is :utc, :zoneless, an offset like \"-07:00\" or a zone, not $(repr(x))"))
end

"""
    SingleTimeSeries(name, initial_timestamp, resolution, values; time_reference = nothing)

Values on a regular grid: step `i` begins at `initial_timestamp + (i - 1) * resolution` and its value covers the step.

- `resolution::Period`: positive; months and years are counted by calendar, everything else is fixed, and
  `Hour(730) + Minute(30)` is one fixed period
- `values`: time is the first dimension: `(steps,)` for scalars, `(steps, e...)` for elements of shape `e`. See
  [`Forcings.Series`](@ref) for the types
- `time_reference`: what the instants are. `:utc`, an offset such as `"-07:00"` or the name of a zone such as
  `"America/Denver"`: instants in UTC, that are to be shown in that way; `:zoneless`: the face of a wall clock, which is no
  instant; `nothing`: that is not said, and they count as instants. It never changes the `DateTime`s, and a zone takes
  no steps of a day or more

Throws `Forcings.InvalidParameterError`, naming the series and the rule that is broken.

```julia
load = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(8760))
load[24], load[DateTime(2030, 1, 1, 23)]                          # the same value
cost = SingleTimeSeries("cost", DateTime(2030), Month(1), rand(12, 3))
cost[2]                                                           # three coefficients, those of February
SingleTimeSeries("tariff", DateTime(2030), Hour(1), rand(24); time_reference = :zoneless)
```
"""
struct SingleTimeSeries{T <: StoredType, N} <: StaticSeries{T, N}
    name::String
    initial_timestamp::DateTime
    resolution::Period
    values::Array{T, N}
    time_reference::Union{String, Nothing}
    # Without checks: for what the library returned.
    function SingleTimeSeries{T, N}(name, initial_timestamp, resolution, values, time_reference) where {T, N}
        return new{T, N}(name, initial_timestamp, resolution, values, time_reference)
    end
end

function SingleTimeSeries(
    name::AbstractString,
    initial_timestamp,
    resolution,
    @nospecialize(values::AbstractArray);
    time_reference = nothing,
)
    v = stored_array(SingleTimeSeries, name, values)
    timed(SingleTimeSeries, name, v)
    start, step = instant(initial_timestamp), plain_period(resolution)
    return checked(typeof_series(SingleTimeSeries, v)(name, start, step, v, reference_text(time_reference)))
end

"""
    NonSequentialTimeSeries(name, timestamps, values; time_reference = nothing)

Values at listed instants, and none between them: outages, prices of single hours, measurements.

- `timestamps`: `DateTime`s, strictly ascending; there may be none
- `values`: time is the first dimension, with one row for each instant; `time_reference`: as for
  [`SingleTimeSeries`](@ref)

Throws `Forcings.InvalidParameterError`, naming the series and the rule that is broken.

```julia
times = [DateTime(2030, 1, 3, 7, 30), DateTime(2030, 2, 11)]
outages = NonSequentialTimeSeries("outage", times, [40.0, 15.0])
outages[DateTime(2030, 2, 11)]
```
"""
struct NonSequentialTimeSeries{T <: StoredType, N} <: StaticSeries{T, N}
    name::String
    timestamps::Vector{DateTime}
    values::Array{T, N}
    time_reference::Union{String, Nothing}
    function NonSequentialTimeSeries{T, N}(name, timestamps, values, time_reference) where {T, N}
        return new{T, N}(name, timestamps, values, time_reference)
    end
end

"""
    PersistentTimeSeries(name, timestamps, values; time_reference = nothing)

A step function: each value holds from its breakpoint to the next, the last one without end. Before the first breakpoint
there is no value, and asking for one is an error.

- `timestamps`: the breakpoints, `DateTime`s, strictly ascending
- `values`: time is the first dimension, with one row for each breakpoint; `time_reference`: as for
  [`SingleTimeSeries`](@ref)

Throws `Forcings.InvalidParameterError`, naming the series and the rule that is broken.

```julia
price = PersistentTimeSeries("price", [DateTime(2030), DateTime(2030, 4)], [31.5, 29.0])
price[DateTime(2030, 3, 31, 12)]                  # 31.5, the price in force
```
"""
struct PersistentTimeSeries{T <: StoredType, N} <: StaticSeries{T, N}
    name::String
    timestamps::Vector{DateTime}
    values::Array{T, N}
    time_reference::Union{String, Nothing}
    function PersistentTimeSeries{T, N}(name, timestamps, values, time_reference) where {T, N}
        return new{T, N}(name, timestamps, values, time_reference)
    end
end

const IrregularSeries = Union{NonSequentialTimeSeries, PersistentTimeSeries}

for S in (:NonSequentialTimeSeries, :PersistentTimeSeries)
    @eval function $S(
        name::AbstractString,
        timestamps::AbstractVector,
        @nospecialize(values::AbstractArray);
        time_reference = nothing,
    )
        v = stored_array($S, name, values)
        timed($S, name, v)
        size(v, 1) == length(timestamps) ||
            throw(named(
                $S,
                name,
                "there are $(length(timestamps)) timestamps, but the values have $(size(v, 1)) rows; their first " *
                    "dimension is time",
            ))
        times = timestamps isa Vector{DateTime} ?
            timestamps :
            copyto!(Vector{DateTime}(undef, length(timestamps)), (instant(t) for t in timestamps))
        return checked(typeof_series($S, v)(name, times, v, reference_text(time_reference)))
    end
end

typeof_series(@nospecialize(S::Type), @nospecialize(v::Array)) = S{eltype(v), ndims(v)}

# An error that names the series.
named(S::Type, name, text) = invalid("$(nameof(S)) $(repr(name)): $text")

function timed(S, name, @nospecialize(values))
    ndims(values) > 0 || throw(named(S, name, "the values need a time dimension, the first one"))
    return nothing
end

# The type in which values are stored: their own, or the next wider one.
stored_type(::Type{T}) where {T <: StoredType} = T
stored_type(::Type{<:Union{Int8, Int16, UInt8, UInt16}}) = Int32
stored_type(::Type{UInt32}) = Int64
stored_type(::Type{Float16}) = Float32
stored_type(::Type) = nothing

stored_array(S, name, @nospecialize(values::Array{<:StoredType})) = values
function stored_array(S, name, values::AbstractArray{T, N}) where {T, N}
    stored = stored_type(T)
    # By position: an array may count from elsewhere than 1.
    stored === nothing || return copyto!(Array{stored, N}(undef, size(values)), values)
    hint = Missing <: T ? "; write NaN for what is missing" : ""
    throw(named(
        S,
        name,
        "values of the type $T cannot be stored; convert them to one of $(join(STORED_TYPES, ", "))$hint",
    ))
end

"""
    Forcings.timestamps(series) -> Vector{DateTime}

The instants of a static series: those at which the steps of a [`SingleTimeSeries`](@ref) begin, the listed ones of the
other types. Calendar periods are counted from the first instant, so a monthly series from 31 January has its second step
on the last day of February and its third on 31 March.
"""
timestamps(s::SingleTimeSeries) = [step_at(s.initial_timestamp, s.resolution, i) for i in 0:(length(s) - 1)]
timestamps(s::IrregularSeries) = s.timestamps

"""
    Forcings.index_at(series, t) -> Int

The step of a static series, or the window of a forecast, that begins at the instant `t`, counted from 1; of a
[`PersistentTimeSeries`](@ref) the breakpoint in force at `t`.

Throws `Forcings.OffGridError` when there is none.
"""
function index_at(s::SingleTimeSeries, t)
    k = steps_to(s.initial_timestamp, s.resolution, instant(t))
    k !== nothing && k < length(s) && return Int(k) + 1
    throw(OffGridError("$(described(s)) has no step at $t"))
end

function index_at(s::NonSequentialTimeSeries, t)
    i = searchsortedfirst(s.timestamps, instant(t))
    i <= length(s) && s.timestamps[i] == t && return i
    throw(OffGridError("$(described(s)) has no value at $t"))
end

function index_at(s::PersistentTimeSeries, t)
    i = searchsortedlast(s.timestamps, instant(t))
    i > 0 && return i
    first = isempty(s.timestamps) ? "it has no breakpoint" : "its first breakpoint is $(s.timestamps[1])"
    throw(OffGridError("$(described(s)) has no value at $t: $first"))
end

described(s::Series) = "$(nameof(typeof(s))) $(repr(s.name))"

Base.values(s::Series) = s.values
Base.size(s::Series) = size(s.values)
Base.size(s::Series, d::Integer) = d <= ndims(s) ? size(s)[d] : 1
Base.ndims(::Series{T, N}) where {T, N} = N
Base.firstindex(::Series) = 1
Base.lastindex(s::Series) = length(s)
Base.eachindex(s::Series) = Base.OneTo(length(s))
Base.keys(s::Series) = eachindex(s)
Base.getindex(s::Series, t::Dates.TimeType) = s[index_at(s, t)]
Base.iterate(s::Series, i = 1) = i > length(s) ? nothing : (s[i], i + 1)

Base.length(s::StaticSeries) = size(s.values, 1)
Base.eltype(::Type{<:StaticSeries{T, 1}}) where {T} = T
Base.eltype(::Type{<:StaticSeries{T, N}}) where {T, N} = AbstractArray{T, N - 1}
Base.getindex(s::StaticSeries{<:Any, 1}, i::Integer) = s.values[i]
Base.getindex(s::StaticSeries, i::Integer) = selectdim(s.values, 1, i)

# What of a series makes it what it is, periods in their stored form: equal for equal periods of other units.
function identity_of(@nospecialize(s::SingleTimeSeries))
    return (s.name, s.initial_timestamp, period_numbers(s.resolution), s.time_reference)
end
identity_of(@nospecialize(s::IrregularSeries)) = (s.name, s.timestamps, s.time_reference)

# Types are compared without their parameters: equal numbers of two types are equal.
same_kind(@nospecialize(a::Series), @nospecialize(b::Series)) = nameof(typeof(a)) === nameof(typeof(b))

function Base.:(==)(@nospecialize(a::Series), @nospecialize(b::Series))
    return same_kind(a, b) && identity_of(a) == identity_of(b) && contents(a) == contents(b)
end
function Base.isequal(@nospecialize(a::Series), @nospecialize(b::Series))
    return same_kind(a, b) && isequal(identity_of(a), identity_of(b)) && isequal(contents(a), contents(b))
end
Base.hash(s::Series, h::UInt) = hash(contents(s), hash(identity_of(s), hash(nameof(typeof(s)), h)))

# The stored values.
contents(@nospecialize(s::Series)) = s.values

# A series with arrays of its own.
Base.copy(s::S) where {S <: SingleTimeSeries} = S(
    s.name,
    s.initial_timestamp,
    s.resolution,
    copy(s.values),
    s.time_reference,
)
Base.copy(s::S) where {S <: IrregularSeries} = S(s.name, copy(s.timestamps), copy(s.values), s.time_reference)
