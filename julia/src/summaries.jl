# Questions about a store as a whole: counts, distinct values, groups of series, and all of these as one report.

"""
    Forcings.Overview

What a store holds, from [`Forcings.overview`](@ref): `counts` as [`Forcings.counts`](@ref), `static_series` and
`forecasts` as [`Forcings.static_summary`](@ref) and [`Forcings.forecast_summary`](@ref).
"""
struct Overview{C, S, F}
    counts::C
    static_series::Vector{S}
    forecasts::Vector{F}
end

"""
    Forcings.overview(store) -> Forcings.Overview

What a store holds: how many series of which types and whose, the grids of the regular ones, the windows of the
forecasts, and the names. Prints as a report.

```julia
store = memory_store()
add!(store, [(Owner(n, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))) for n in 1:3])
Forcings.overview(store)
```
"""
overview(store::Store) = Overview(counts(store), static_summary(store), forecast_summary(store))

"""
    Forcings.counts(store) -> named tuple

How many series there are, and whose: `components` and `attributes` that own series, `static_series`, `forecasts`,
distinct arrays of either (`static_arrays`, `forecast_arrays`; a derived forecast shares that of its source) and of all
(`arrays`), and `types`, pairs of a type and its number of series.

```julia
Forcings.counts(memory_store()).static_series
```
"""
function counts(store::Store)
    table, types = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    background(job -> forcings_store_counts(store, table, types, job))
    return with_tables(table, types) do all, by_type
        one(name) = all[name][1]
        (
            components = one(:components),
            attributes = one(:attributes),
            static_series = one(:static_series),
            forecasts = one(:forecasts),
            static_arrays = one(:static_arrays),
            forecast_arrays = one(:forecast_arrays),
            arrays = one(:arrays),
            types = [Symbol(by_type[:type][i]) => by_type[:series][i] for i in eachindex(by_type[:type])],
        )
    end
end

"""
    Forcings.static_summary(store) -> Vector of named tuples

The series that are no forecasts, grouped by what they have in common, ordered by owner type, category, type and name:
`owner_type, owner_category, type, name, initial, resolution, length, series`, the last their number. `missing` stands
for what a type does not have.
"""
function static_summary(store::Store)
    return summary_rows(store, false) do table, i
        (; shared_fields(table, i)..., length = table[:length][i], series = table[:series][i])
    end
end

"""
    Forcings.forecast_summary(store) -> Vector of named tuples

The forecasts, derived ones included, as [`Forcings.static_summary`](@ref): `owner_type, owner_category, type, name,
initial, resolution, horizon, interval, count, series`; `count` is the number of windows.
"""
function forecast_summary(store::Store)
    return summary_rows(store, true) do table, i
        (; shared_fields(table, i)..., window_fields(table, i)..., series = table[:series][i])
    end
end

"""
    Forcings.forecast_parameters(store; resolution = nothing, interval = nothing) -> named tuple or nothing

The windows of one forecast, with this resolution and interval if they are given: the first `Deterministic`, else the
first `DeterministicSingleTimeSeries`, `Probabilistic` or `Scenarios`; `initial, resolution, horizon, interval, count`.
`nothing` if there is no forecast.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(48)))
Forcings.transform_single_time_series!(store, Hour(24), Hour(12))
Forcings.forecast_parameters(store).count
```
"""
function forecast_parameters(store::Store; resolution = nothing, interval = nothing)
    optional(what, period) = period === nothing ? nothing : period_object(what, period)
    text = json((resolution = optional("resolution", resolution), interval = optional("interval", interval)))
    table = Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve text background(job -> forcings_store_forecast_parameters(store, text, sizeof(text), table, job))
    return with_tables(table) do found
        isempty(found[:count]) && return nothing
        (; grid_fields(found, 1)..., window_fields(found, 1)...)
    end
end

"""
    Forcings.series_names(store) -> Vector{String}

The names of all series, each once, ascending.
"""
series_names(store::Store) = distinct(table -> table[:value], store, "name")

"""
    Forcings.owner_types(store) -> Vector{String}

The types of all owners of series, each once, ascending.
"""
owner_types(store::Store) = distinct(table -> table[:value], store, "owner_type")

"""
    Forcings.owner_ids(store; category = :component) -> Vector{Int64}

The ids of the owners of series in a category, `:component` or `:attribute`, ascending.
"""
function owner_ids(store::Store; category = :component)
    category_name(category)
    return distinct(table -> table[:value], store, "$(category)_id")
end

"""
    Forcings.resolutions(store) -> Vector

The resolutions of all series that have one, each once: `Month` for calendar periods, else a fixed period. They are in
the order of their ISO 8601 texts.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Minute(15), rand(4)))
Forcings.resolutions(store)
```
"""
resolutions(store::Store) = distinct(periods_from, store, "resolution")

"""
    Forcings.intervals(store) -> Vector

The intervals of all forecasts, each once, as [`Forcings.resolutions`](@ref).
"""
intervals(store::Store) = distinct(periods_from, store, "interval")

function distinct(f, store, field)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve field background(job -> forcings_store_distinct(store, field, sizeof(field), table, job))
    return with_tables(f, table)
end

periods_from(table) = Period[period_at(table, :value, i) for i in eachindex(table[:value_ms])]

function summary_rows(row, store, forecasts)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    background(job -> forcings_store_summary(store, forecasts, table, job))
    return with_tables(groups -> [row(groups, i) for i in eachindex(groups[:name])], table)
end

function shared_fields(table, i)
    return (;
        owner_type = table[:owner_type][i],
        owner_category = category_symbol(table[:owner_category][i]),
        type = Symbol(table[:type][i]),
        name = table[:name][i],
        grid_fields(table, i)...,
    )
end

function grid_fields(table, i)
    return (initial = map_missing(from_millis, table[:initial_ms][i]), resolution = period_at(table, :resolution, i))
end

function window_fields(table, i)
    return (
        horizon = period_at(table, :horizon, i),
        interval = period_at(table, :interval, i),
        count = table[:count][i],
    )
end

series_in(x::Overview) = x.counts.static_series + x.counts.forecasts

function Base.show(io::IO, x::Overview)
    print(io, "Overview(", count_of(series_in(x), "series"), ", ", count_of(x.counts.arrays, "array"), ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", x::Overview)
    print(io, "Overview: ", count_of(series_in(x), "series"), ", ", count_of(x.counts.arrays, "distinct array"))
    series_in(x) == 0 && return nothing
    print(io, "\n  owners   ", count_of(x.counts.components, "component"), ", ")
    print(io, count_of(x.counts.attributes, "attribute"))
    section(io, "types", ["$n $type" for (type, n) in x.counts.types])
    section(io, "grids", [grid_line(key, n) for (key, n) in tally(grid_of, x.static_series)])
    section(io, "windows", [window_line(key, n) for (key, n) in tally(windows_of, x.forecasts)])
    section(io, "names", [name_line(key, n) for (key, n) in tally(name_of, [x.static_series; x.forecasts])])
    return nothing
end

# A title and its lines; of long lists the first ones, where the display asks for that.
function section(io, title, lines)
    shown = get(io, :limit, false) && length(lines) > 20 ? [lines[1:19]; "… and $(length(lines) - 19) more"] : lines
    for (i, line) in enumerate(shown)
        print(io, "\n  ", i == 1 ? rpad(title, 9) : " "^9, line)
    end
    return nothing
end

# The numbers of series of groups with the same key, in the order of their first groups; groups without a key are left
# out.
function tally(key, groups)
    order, numbers = [], Dict{Any, Int}()
    for group in groups
        k = key(group)
        k === nothing && continue
        haskey(numbers, k) || push!(order, k)
        numbers[k] = get(numbers, k, 0) + group.series
    end
    return [k => numbers[k] for k in order]
end

grid_of(g) = g.resolution === missing ? nothing : (g.resolution, g.initial, g.length)
windows_of(g) = (g.horizon, g.interval, g.resolution, g.initial, g.count)
name_of(g) = (g.owner_type, g.name, g.type)

function grid_line((resolution, initial, length), n)
    return "$resolution: $(count_of(length, "step")) from $initial, $(count_of(n, "series"))"
end

function window_line((horizon, interval, resolution, initial, count), n)
    grid = "$horizon every $interval in steps of $resolution"
    return "$grid: $(count_of(count, "window")) from $initial, $(count_of(n, "series"))"
end

name_line((owner_type, name, type), n) = "$(repr(name)) of $owner_type, $n $type"
