# Forecasts: many windows of time, each with its own values.

"""
A [`Forcings.Series`](@ref) with windows: [`Deterministic`](@ref), [`DeterministicSingleTimeSeries`](@ref),
[`Probabilistic`](@ref), [`Scenarios`](@ref). `forecast[w]` and `forecast[t]`, by number or start, are the values of one
window, `(steps, ...)`, without a copy; `length` is the number of windows, and iterating goes through them.
"""
abstract type Forecast{T <: StoredType, N} <: Series{T, N} end

"""
    Deterministic(name, initial_timestamp, resolution, values; interval, horizon, time_reference = nothing)
    Deterministic(name, windows::AbstractDict, resolution; interval, horizon, time_reference = nothing)

A forecast with one future per window. Window `w` begins at `initial_timestamp + (w - 1) * interval`; its step `s` at
`(s - 1) * resolution` after that.

- `values`: of size `(steps, windows)`, or `(steps, windows, e...)` for elements of shape `e`
- `interval::Period`: from the start of a window to that of the next; windows may overlap, or leave gaps. It may be zero
  for a single window
- `horizon::Period`: the span of a window; `steps * resolution` unless it is given, and nothing else
- `time_reference`: as for [`SingleTimeSeries`](@ref)

The second form takes a dictionary of the windows' starts and values, each of size `(steps, e...)`; `interval` is the
distance of the starts unless it is given, as it must be for calendar periods.

`forecast[w]`, `forecast[t]` and [`Forcings.window`](@ref) are the values of a window; [`Forcings.timestamps`](@ref) the
instants.

Throws `Forcings.InvalidParameterError`, naming the series and the rule that is broken.

```julia
forecast = Deterministic("wind", DateTime(2030), Hour(1), rand(24, 365); interval = Day(1))
forecast[DateTime(2030, 7, 1)]                    # the 24 values of that day's window
Forcings.timestamps(forecast, 2)                  # when the steps of the second window begin
Deterministic("wind", Dict(DateTime(2030) => rand(24), DateTime(2030, 1, 2) => rand(24)), Hour(1))
```
"""
struct Deterministic{T <: StoredType, N} <: Forecast{T, N}
    name::String
    initial_timestamp::DateTime
    resolution::Period
    horizon::Period
    interval::Period
    values::Array{T, N}
    time_reference::Union{String, Nothing}
    # Without checks: for what the library returned.
    function Deterministic{T, N}(
        name,
        initial_timestamp,
        resolution,
        horizon,
        interval,
        values,
        time_reference,
    ) where {T, N}
        return new{T, N}(name, initial_timestamp, resolution, horizon, interval, values, time_reference)
    end
end

"""
    Probabilistic(name, initial_timestamp, resolution, values; percentiles, interval, horizon, time_reference = nothing)
    Probabilistic(name, windows::AbstractDict, resolution; percentiles, interval, horizon, time_reference = nothing)

A forecast with a value per percentile. `values` is of size `(steps, windows, percentiles)`, or `(steps, windows,
percentiles, e...)` for elements of shape `e`; a window is `(steps, percentiles, e...)`. `percentiles` are finite numbers,
strictly ascending. Everything else is as for [`Deterministic`](@ref).

```julia
levels = [0.1, 0.5, 0.9]
forecast = Probabilistic("wind", DateTime(2030), Hour(1), rand(24, 7, 3); percentiles = levels, interval = Day(1))
forecast[1]                                       # 24 × 3: the first day
```
"""
struct Probabilistic{T <: StoredType, N} <: Forecast{T, N}
    name::String
    initial_timestamp::DateTime
    resolution::Period
    horizon::Period
    interval::Period
    percentiles::Vector{Float64}
    values::Array{T, N}
    time_reference::Union{String, Nothing}
    function Probabilistic{T, N}(
        name,
        initial_timestamp,
        resolution,
        horizon,
        interval,
        percentiles,
        values,
        time_reference,
    ) where {T, N}
        return new{T, N}(name, initial_timestamp, resolution, horizon, interval, percentiles, values, time_reference)
    end
end

"""
    Scenarios(name, initial_timestamp, resolution, values; interval, horizon, time_reference = nothing)
    Scenarios(name, windows::AbstractDict, resolution; interval, horizon, time_reference = nothing)

A forecast with several equally likely futures. `values` is of size `(steps, windows, scenarios)`, or `(steps, windows,
scenarios, e...)` for elements of shape `e`; a window is `(steps, scenarios, e...)`. Everything else is as for
[`Deterministic`](@ref).

```julia
forecast = Scenarios("wind", DateTime(2030), Hour(1), rand(24, 7, 100); interval = Day(1))
size(forecast[1])                                 # (24, 100)
```
"""
struct Scenarios{T <: StoredType, N} <: Forecast{T, N}
    name::String
    initial_timestamp::DateTime
    resolution::Period
    horizon::Period
    interval::Period
    values::Array{T, N}
    time_reference::Union{String, Nothing}
    function Scenarios{T, N}(
        name,
        initial_timestamp,
        resolution,
        horizon,
        interval,
        values,
        time_reference,
    ) where {T, N}
        return new{T, N}(name, initial_timestamp, resolution, horizon, interval, values, time_reference)
    end
end

const DenseForecast = Union{Deterministic, Probabilistic, Scenarios}

# The dimensions that a window has, and those in front of the shape of an element.
leading(::Type{<:Deterministic}) = ("steps", "windows")
leading(::Type{<:Probabilistic}) = ("steps", "windows", "percentiles")
leading(::Type{<:Scenarios}) = ("steps", "windows", "scenarios")

for S in (:Deterministic, :Scenarios)
    @eval function $S(
        name::AbstractString,
        initial_timestamp,
        resolution,
        @nospecialize(values::AbstractArray);
        interval,
        horizon = nothing,
        time_reference = nothing,
    )
        v = stored_array($S, name, values)
        step, span = window_span($S, name, v, resolution, horizon)
        start, gap, reference = instant(initial_timestamp), plain_period(interval), reference_text(time_reference)
        return checked(typeof_series($S, v)(name, start, step, span, gap, v, reference))
    end
end

function Probabilistic(
    name::AbstractString,
    initial_timestamp,
    resolution,
    @nospecialize(values::AbstractArray);
    percentiles,
    interval,
    horizon = nothing,
    time_reference = nothing,
)
    v = stored_array(Probabilistic, name, values)
    step, span = window_span(Probabilistic, name, v, resolution, horizon)
    levels = convert(Vector{Float64}, collect(percentiles))
    length(levels) == size(v, 3) ||
        throw(named(
            Probabilistic,
            name,
            "there are $(length(levels)) percentiles, but the third dimension of the values has $(size(v, 3))",
        ))
    start, gap, reference = instant(initial_timestamp), plain_period(interval), reference_text(time_reference)
    return checked(typeof_series(Probabilistic, v)(name, start, step, span, gap, levels, v, reference))
end

for S in (:Deterministic, :Probabilistic, :Scenarios)
    @eval function $S(name::AbstractString, windows::AbstractDict, resolution; interval = nothing, keywords...)
        starts, values = stacked($S, name, windows)
        gap = interval === nothing ? distance($S, name, starts) : interval
        forecast = $S(name, first(starts), resolution, values; interval = gap, keywords...)
        timestamps(forecast) == starts ||
            throw(named($S, name, "the windows do not begin at an interval of $(forecast.interval)"))
        return forecast
    end
end

# Resolution and horizon as single periods, checked against the shape of the values.
function window_span(S, name, @nospecialize(values), resolution, horizon)
    expected = leading(S)
    ndims(values) >= length(expected) ||
        throw(named(
            S,
            name,
            "the values have the size $(size(values)); they need the dimensions ($(join(expected, ", ")))",
        ))
    step = plain_period(resolution)
    horizon === nothing && return step, times(size(values, 1), step)
    span = plain_period(horizon)
    whole_steps(span, step) == size(values, 1) ||
        throw(named(S, name, "the values have $(size(values, 1)) steps of $step, which is not the horizon of $span"))
    return step, span
end

# `n` periods, without an overflow.
times(n, p::Period) = typeof(p)(fitting(p, Int128(n) * Dates.value(p)))

# The starts of the windows in ascending order, and their values side by side: windows are the second dimension.
function stacked(S, name, windows)
    isempty(windows) && throw(named(S, name, "there is no window"))
    starts = sort!(DateTime[instant(t) for t in keys(windows)])
    parts = [stored_array(S, name, window) for (_, window) in sort!(collect(windows); by = first)]
    shape = size(first(parts))
    odd = findfirst(part -> size(part) != shape, parts)
    odd === nothing ||
        throw(named(S, name, "the window at $(starts[odd]) has the size $(size(parts[odd])), the first one $shape"))
    isempty(shape) && throw(named(S, name, "the values of a window need a dimension of steps, the first one"))
    values = Array{eltype(first(parts))}(undef, shape[1], length(parts), Base.tail(shape)...)
    for (w, part) in enumerate(parts)
        copyto!(selectdim(values, 2, w), part)
    end
    return starts, values
end

# The interval of equidistant starts.
function distance(S, name, starts)
    length(starts) > 1 || return Millisecond(0)
    return from_fixed(Dates.value(starts[2] - starts[1]))
end

"""
    DeterministicSingleTimeSeries(series::SingleTimeSeries; horizon, interval)

A deterministic forecast whose windows are slices of a regular series: window `w` has the steps of `horizon` from
`(w - 1) * interval` after the start of `series` on. There are as many windows as fit, and no value is copied. `horizon` and
`interval` are whole numbers of steps, the interval not longer than the horizon; with the interval zero the one window is
the whole series.

In a store such a forecast shares the values of a series that is there: [`Forcings.transform_single_time_series!`](@ref)
derives many at once, [`add!`](@ref) adds the series too where it is missing. [`read_series`](@ref) gives it back as a
[`Deterministic`](@ref), with `as_stored = true` in this form. `Deterministic(forecast)` copies the windows.

Fields: `series`, `horizon`, `interval`, `count`; `name`, `initial_timestamp`, `resolution` and `time_reference` are those of
the series.

```julia
load = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))
forecast = DeterministicSingleTimeSeries(load; horizon = Hour(4), interval = Hour(2))
length(forecast)                                  # 11
forecast[2] == load.values[3:6]
```
"""
struct DeterministicSingleTimeSeries{T <: StoredType, N, M} <: Forecast{T, N}
    series::SingleTimeSeries{T, M}
    horizon::Period
    interval::Period
    count::Int
    # Without checks: for what the library returned.
    function DeterministicSingleTimeSeries{T, N, M}(series, horizon, interval, count) where {T, N, M}
        return new{T, N, M}(series, horizon, interval, count)
    end
end

function DeterministicSingleTimeSeries(series::SingleTimeSeries; horizon, interval)
    span, gap = plain_period(horizon), plain_period(interval)
    steps, stride = whole_steps(span, series.resolution), whole_steps(gap, series.resolution)
    wrong(text) = throw(named(DeterministicSingleTimeSeries, series.name, text))
    (steps === nothing || steps == 0) &&
        wrong("the horizon $span is not a whole, positive number of steps of $(series.resolution)")
    stride === nothing && wrong("the interval $gap is not a whole number of steps of $(series.resolution)")
    steps <= length(series) || wrong("a window has $steps steps, the series only $(length(series))")
    stride <= steps || wrong("windows of $span leave gaps at the interval $gap")
    stride > 0 ||
        steps == length(series) ||
        wrong(
            "with the interval zero the one window must be the whole series: it has $steps of $(length(series)) steps",
        )
    count = stride == 0 ? 1 : (length(series) - steps) ÷ stride + 1
    return derived(series, span, gap, Int(count))
end

function derived(series::SingleTimeSeries{T, M}, horizon, interval, count) where {T, M}
    return DeterministicSingleTimeSeries{T, M + 1, M}(series, horizon, interval, count)
end

const FORWARDED = (:name, :initial_timestamp, :resolution, :time_reference)

function Base.getproperty(f::DeterministicSingleTimeSeries, name::Symbol)
    return name in FORWARDED ? getfield(getfield(f, :series), name) : getfield(f, name)
end
Base.propertynames(::DeterministicSingleTimeSeries) = (FORWARDED..., :series, :horizon, :interval, :count)

steps_of(f::DeterministicSingleTimeSeries) = Int(whole_steps(f.horizon, f.resolution))
stride_of(f::DeterministicSingleTimeSeries) = Int(whole_steps(f.interval, f.resolution))

function Deterministic(f::DeterministicSingleTimeSeries)
    v = values(f)
    S = typeof_series(Deterministic, v)
    return S(f.name, f.initial_timestamp, f.resolution, f.horizon, f.interval, v, f.time_reference)
end

function Base.values(f::DeterministicSingleTimeSeries{T, N}) where {T, N}
    array = Array{T, N}(undef, size(f))
    for w in eachindex(f)
        copyto!(selectdim(array, 2, w), f[w])
    end
    return array
end

Base.size(f::DeterministicSingleTimeSeries) = (steps_of(f), f.count, Base.tail(size(f.series.values))...)
Base.length(f::DeterministicSingleTimeSeries) = f.count

Base.length(f::DenseForecast) = size(f.values, 2)
Base.eltype(::Type{<:Forecast{T, N}}) where {T, N} = AbstractArray{T, N - 1}

Base.getindex(f::Forecast, w::Integer) = window(f, w)

"""
    Forcings.window(forecast, w) -> array
    Forcings.window(forecast, t) -> array

The values of one window, by its number from 1 on or its start: `(steps, e...)`, with percentiles or scenarios as the second
dimension where the type has them. The array is a view: it shares the forecast's memory. The same as `forecast[w]`.

Throws `BoundsError`, or `Forcings.OffGridError` when no window begins at `t`.
"""
window(f::Forecast, t::Dates.TimeType) = window(f, index_at(f, t))
window(f::DenseForecast, w::Integer) = selectdim(f.values, 2, w)
function window(f::DeterministicSingleTimeSeries{T, N, M}, w::Integer) where {T, N, M}
    1 <= w <= f.count || throw(BoundsError(f, w))
    first = (w - 1) * stride_of(f)
    return view(f.series.values, (first + 1):(first + steps_of(f)), ntuple(_ -> :, Val(M - 1))...)
end

"""
    Forcings.timestamps(forecast) -> Vector{DateTime}
    Forcings.timestamps(forecast, w) -> Vector{DateTime}

The starts of the windows, or the instants of the steps of one window, by its number from 1 on or its start.
"""
timestamps(f::Forecast) = [step_at(f.initial_timestamp, f.interval, w) for w in 0:(length(f) - 1)]
timestamps(f::Forecast, t::Dates.TimeType) = timestamps(f, index_at(f, t))
function timestamps(f::Forecast, w::Integer)
    1 <= w <= length(f) || throw(BoundsError(f, w))
    start = step_at(f.initial_timestamp, f.interval, w - 1)
    return [step_at(start, f.resolution, s) for s in 0:(size(f, 1) - 1)]
end

function index_at(f::Forecast, t)
    k = steps_to(f.initial_timestamp, f.interval, instant(t))
    k !== nothing && k < length(f) && return Int(k) + 1
    throw(OffGridError("$(described(f)) has no window that begins at $t"))
end

function grid_of(f::Forecast)
    periods = map(period_numbers, (f.resolution, f.horizon, f.interval))
    return (f.name, f.initial_timestamp, periods, f.time_reference)
end
identity_of(f::Forecast) = grid_of(f)
identity_of(@nospecialize(f::Probabilistic)) = (grid_of(f), f.percentiles)
identity_of(@nospecialize(f::DeterministicSingleTimeSeries)) = (grid_of(f), f.count)
# The steps that no window has do not count.
function contents(f::DeterministicSingleTimeSeries)
    covered = f.count == 0 ? 0 : (f.count - 1) * stride_of(f) + steps_of(f)
    return selectdim(f.series.values, 1, 1:covered)
end

function Base.copy(f::S) where {S <: Union{Deterministic, Scenarios}}
    v = copy(f.values)
    return S(f.name, f.initial_timestamp, f.resolution, f.horizon, f.interval, v, f.time_reference)
end
function Base.copy(f::S) where {S <: Probabilistic}
    levels, v = copy(f.percentiles), copy(f.values)
    return S(f.name, f.initial_timestamp, f.resolution, f.horizon, f.interval, levels, v, f.time_reference)
end
Base.copy(f::DeterministicSingleTimeSeries) = derived(copy(f.series), f.horizon, f.interval, f.count)
