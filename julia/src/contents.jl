# The contents of a store: adding, reading and removing series.

"""
    add!(store, owner, series; features = (;), units = nothing, ext = nothing) -> id
    add!(store, items) -> ids

Adds one series, or many at once: all of them or, on an error, none. Many at once are far faster. An item is a tuple
`(owner, series)` or `(owner, series, keywords)`, the keywords as a named tuple. See [`Forcings.bulk_add`](@ref) for more
than memory holds.

- `owner::Owner`, `series::Forcings.Series`: of any type, and types may be mixed. A
  [`DeterministicSingleTimeSeries`](@ref) is derived from its `SingleTimeSeries`, which is added too unless it is there
- `features`: a named tuple or dictionary of numbers, `Bool`s and texts; together with owner, name, resolution, interval and
  type they identify a series
- `units`, `ext`: texts that are kept with it

Returns the number of the series, an `Int64` that the store never issues twice.

Throws `Forcings.DuplicateTimeSeriesError` when the store has a series of this identity,
`Forcings.InvalidParameterError`, `Forcings.ReadOnlyStoreError`, `Forcings.ClosedError`.

```julia
store = memory_store()
series = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))
id = add!(store, Owner(1, "Bus"), series; features = (scenario = "high",), units = "MW")
ids = add!(store, [(Owner(bus, "Bus"), series) for bus in 2:1000])
```
"""
function add!(store::Store, owner::Owner, series::Series; features = (;), units = nothing, ext = nothing)
    options = (features = features, units = units, ext = ext)
    return only_one(add_items(store, [(owner, series, options)], 0))
end

add!(store::Store, items) = add_items(store, collect(items), 1)

only_one(ids) = ids[1]

function add_items(store, items, mode)
    isderived = [
        item isa Union{Tuple, Pair} && length(item) > 1 && item[2] isa DeterministicSingleTimeSeries
        for item in items
    ]
    any(isderived) || return add_stored(store, items, mode)
    return transaction(store) do s
        ids = Vector{Int64}(undef, length(items))
        ids[.!isderived] = add_stored(s, items[.!isderived], 1)
        # After the others, among which their series may be.
        for i in findall(isderived)
            ids[i] = add_derived(s, items[i]...)
        end
        ids
    end
end

function add_derived(store, owner::Owner, f::DeterministicSingleTimeSeries, options = (;))
    features = get(options, :features, (;))
    identity = (type = SingleTimeSeries, name = f.name, resolution = f.resolution, exact_features = features)
    known = list_series(store; owner = owner, identity...)
    source = isempty(known) ? add!(store, owner, f.series; options...) : source_of(store, f, known[1].id)
    made = transform_single_time_series!(store, f.horizon, f.interval; ids = [source]).ids
    isempty(made) && throw(DuplicateTimeSeriesError("$(described(f)) is in the store; its series has the id $source"))
    return only_one(made)
end

# The series `id`, if `f` is derived from its values.
function source_of(store, f, id)
    stored = read_series(store, id)
    isequal(DeterministicSingleTimeSeries(stored; horizon = f.horizon, interval = f.interval), f) && return id
    throw(DuplicateTimeSeriesError("$(described(f)) is derived from another series than the one of its name, id $id"))
end

function add_stored(store, items, mode)
    parts = ItemParts[item isa Union{Tuple, Pair} ? item_parts(item...) : item_parts(item) for item in items]
    ids = Vector{Int64}(undef, length(parts))
    GC.@preserve parts ids begin
        table = map(SeriesItem, parts)
        GC.@preserve table background(
            job -> forcings_store_add(store, pointer(table), length(table), mode, pointer(ids), job),
        )
    end
    return ids
end

function item_parts(owner::Owner, @nospecialize(series::Series), options = (;))
    return ItemParts(json(meta_object(owner, series; options...)), series, stored_values(series))
end
function item_parts(item...)
    throw(invalid("an item to add is (owner, series) or (owner, series, keywords), not $(map(typeof, item))"))
end

function meta_object(owner::Owner, @nospecialize(s::Series); features = (;), units = nothing, ext = nothing)
    return (
        owner = owner_object(owner),
        name = s.name,
        features = feature_object(features),
        units = optional_text("units", units),
        ext = optional_text("ext", ext),
    )
end

"""
    Forcings.bulk_add(store, items; batch_bytes = 64 * 2^20) -> ids

Adds the series of any iterable, as [`add!`](@ref) does: all of them or, on an error, none. Items are taken one by one and
written in batches of about `batch_bytes` of values, so that they need not fit into memory together; larger batches make
reading by instants faster. More than one batch is one [`transaction`](@ref).

Its progress goes to Julia's logging with the key `progress`, at a level that only loggers made for it show.

```julia
store = memory_store()
series(bus) = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))
ids = Forcings.bulk_add(store, ((Owner(bus, "Bus"), series(bus)) for bus in 1:1000))
```
"""
function bulk_add(store::Store, items; batch_bytes::Integer = 64 << 20)
    batch, next = take_batch(items, iterate(items), batch_bytes)
    next === nothing && return add_items(store, batch, 1)
    total = Base.IteratorSize(items) isa Union{Base.HasLength, Base.HasShape} ? length(items) : nothing
    id = gensym(:bulk_add)
    report(progress) = @logmsg Logging.LogLevel(-1) "Adding series" progress = progress _id = id
    try
        return transaction(store) do s
            ids = add_items(s, batch, 1)
            while next !== nothing
                report(total === nothing ? nothing : length(ids) / total)
                batch, next = take_batch(items, next, batch_bytes)
                append!(ids, add_items(s, batch, 1))
            end
            ids
        end
    finally
        report("done")
    end
end

# The items from the state `next` of an iteration on, until they are large enough, and the state behind them.
function take_batch(items, next, batch_bytes)
    batch, bytes = Any[], 0
    while next !== nothing && bytes < batch_bytes
        item, state = next
        push!(batch, item)
        # A row of the catalog counts too.
        bytes += 512 + (item isa Tuple && length(item) > 1 && item[2] isa Series ? sizeof(contents(item[2])) : 0)
        next = iterate(items, state)
    end
    return batch, next
end

"""
    read_series(store, id; from = nothing, to = nothing, as_stored = false) -> Forcings.Series
    read_series(store, ids; from = nothing, to = nothing, as_stored = false) -> Vector

Reads whole series, or what of them lies in the time from `from` up to, not including, `to`. The result has the type of the
series; its values are copies. Many at once are faster than one by one.

A forecast derived by [`Forcings.transform_single_time_series!`](@ref) is read as the [`Deterministic`](@ref) that it stands
for. With `as_stored = true` it is a [`DeterministicSingleTimeSeries`](@ref), with the steps of the series that its windows
cover: overlapping windows share their values, in memory too.

| type | the part of a range |
|---|---|
| [`SingleTimeSeries`](@ref) | the steps that overlap it: a start inside a step begins with that step |
| [`NonSequentialTimeSeries`](@ref) | the instants inside |
| [`PersistentTimeSeries`](@ref) | the breakpoint in force at `from`, and those inside |
| forecasts | the windows that begin inside; `from` must be the start of one, or lie before the first |

A bound is a `DateTime`, or strict: [`Forcings.Utc`](@ref), [`Forcings.Zoneless`](@ref). What lies outside the series is left
out. Of a monthly series from the 29th or later, a range of several steps must begin at a month that has that day: from 28
February, months would lead to 28 March.

Throws `Forcings.NotFoundError` for an unknown id, `Forcings.InvalidParameterError` when `to` lies before `from`, when a bound
does not fit a series, or the part between them is no series of its own.

```julia
store = memory_store()
id = add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
read_series(store, id; from = DateTime(2030, 1, 1, 12)).values    # the last twelve
```
"""
function read_series(store::Store, id::Integer; options...)
    return only_one(read_series(store, [id]; options...))
end

function read_series(
    store::Store,
    ids::AbstractVector{<:Integer};
    from = nothing,
    to = nothing,
    as_stored::Bool = false,
)
    numbers = id_vector(ids)
    range = json((from = bound(from), to = bound(to)))
    table, features = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve numbers range background(
        job -> forcings_store_read(
            store,
            pointer(numbers),
            length(numbers),
            range,
            sizeof(range),
            table,
            features,
            job,
        ),
    )
    return with_tables((rows, _) -> series_of(rows, as_stored), table, features)
end

function series_of(table, as_stored)
    isempty(table[:id]) && return Series[]
    return [as_stored ? series_at(table, i) : windowed(series_at(table, i)) for i in eachindex(table[:id])]
end

windowed(@nospecialize(series)) = series
windowed(forecast::DeterministicSingleTimeSeries) = Deterministic(forecast)

"""
    remove!(store, id)
    remove!(store, ids)

Removes series: all of them or, on an error, none. Values that another series shares stay.

Throws `Forcings.NotFoundError` for an unknown id.
"""
remove!(store::Store, id::Integer) = remove!(store, [id])

function remove!(store::Store, ids::AbstractVector{<:Integer})
    numbers = id_vector(ids)
    GC.@preserve numbers background(job -> forcings_store_remove(store, pointer(numbers), length(numbers), job))
    return nothing
end
