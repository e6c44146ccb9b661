# The contents of a store: adding, reading, listing and removing series.

# One series on its way to the library; the struct of the header. `meta`, `shape` and `values` point into Julia's memory.
struct SeriesItem
    size::UInt64
    meta::Ptr{UInt8}
    meta_len::UInt64
    shape::Ptr{UInt64}
    rank::UInt64
    values::Ptr{UInt8}
    values_len::UInt64
    dtype::UInt64
end

"""
    add!(store, owner, series; features = (;), units = nothing, ext = nothing) -> id
    add!(store, items) -> ids

Adds one series, or many at once: all of them or, on an error, none. Many at once are far faster. An item is a tuple
`(owner, series)` or `(owner, series, keywords)`, the keywords as a named tuple.

- `owner::Owner`, `series::SingleTimeSeries`
- `features`: a named tuple or dictionary of numbers, `Bool`s and texts; together with owner, name, resolution and type
  they identify a series
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
function add!(store::Store, owner::Owner, series::SingleTimeSeries; features = (;), units = nothing, ext = nothing)
    options = (features = features, units = units, ext = ext)
    return only_one(add_items(store, [(owner, series, options)], 0))
end

add!(store::Store, items) = add_items(store, collect(items), 1)

only_one(ids) = ids[1]

function add_items(store, items, mode)
    metas = [json(item isa Union{Tuple, Pair} ? item_object(item...) : item_object(item)) for item in items]
    arrays = [rowmajor(item[2].values) for item in items]
    shapes = [UInt64[size(item[2].values)...] for item in items]
    ids = Vector{Int64}(undef, length(items))
    GC.@preserve metas arrays shapes ids begin
        table = map(metas, arrays, shapes) do meta, array, shape
            SeriesItem(
                sizeof(SeriesItem),
                pointer(meta),
                sizeof(meta),
                pointer(shape),
                length(shape),
                Ptr{UInt8}(pointer(array)),
                sizeof(array),
                type_code(eltype(array)),
            )
        end
        GC.@preserve table background(
            job -> forcings_store_add(store, pointer(table), length(table), mode, pointer(ids), job),
        )
    end
    return ids
end

item_object(owner::Owner, series::SingleTimeSeries, options = (;)) = series_object(owner, series; options...)
function item_object(item...)
    throw(invalid("an item to add is (owner, series) or (owner, series, keywords), not $(map(typeof, item))"))
end

"""
    read_series(store, id; from = nothing, to = nothing) -> SingleTimeSeries
    read_series(store, ids; from = nothing, to = nothing) -> Vector

Reads whole series, or the steps from the one that covers `from` to the last one that begins before `to` (`DateTime`s;
what lies outside the series is left out). The values are copies, time first. Many at once are faster than one by one.
Of a monthly series from the 29th or later, a range of several steps must begin at a month that has that day: from 28
February, months would lead to 28 March.

Throws `Forcings.NotFoundError` for an unknown id, `Forcings.InvalidParameterError` when `to` lies before `from`, or the
steps between them are no series of their own.
"""
function read_series(store::Store, id::Integer; from = nothing, to = nothing)
    return only_one(read_series(store, [id]; from = from, to = to))
end

function read_series(store::Store, ids::AbstractVector{<:Integer}; from = nothing, to = nothing)
    numbers = convert(Vector{Int64}, ids)
    first, last = optional_millis(from), optional_millis(to)
    table, features = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    bound(ms) = ms === nothing ? Int64[] : Int64[ms]
    lower, upper = bound(first), bound(last)
    address(bound) = isempty(bound) ? Ptr{Int64}(C_NULL) : pointer(bound)
    GC.@preserve numbers lower upper background(
        job -> forcings_store_read(
            store,
            pointer(numbers),
            length(numbers),
            address(lower),
            address(upper),
            table,
            features,
            job,
        ),
    )
    return with_tables(series_from_table, table, features)
end

function series_from_table(table, _)
    return map(eachindex(table[:id])) do i
        source, _ = table[:values][i]
        shape = Int[table[:length][i]; table[:element_shape][i]]
        values = from_rowmajor(STORED_TYPES[table[:dtype][i] + 1], source, shape)
        SingleTimeSeries(table[:name][i], from_millis(table[:initial_ms][i]), resolution_at(table, i), values)
    end
end

function resolution_at(table, i)
    months = table[:resolution_months][i]
    months === missing || return Month(months)
    ms = table[:resolution_ms][i]
    return ms === missing ? missing : from_fixed(ms)
end

"""
    list_series(store; owner, owner_type, category, name, resolution, features, ids) -> Vector of named tuples

Lists series in ascending order of their ids; each keyword narrows the list.

- `owner`: an [`Owner`](@ref) (its id and category count, not its type), or an id in any category
- `owner_type`, `name`: texts; `category`: `:component` or `:attribute`
- `resolution::Period`; `ids`: a vector of ids
- `features`: a named tuple or dictionary; a series that has more of them is listed too

Each row has `id, name, type, owner_id, owner_type, owner_category, initial, resolution, length, element_type,
element_shape, units, ext, features`; `missing` stands for what a series does not have. Any Tables.jl sink takes the
result.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
[row.name for row in list_series(store; owner = 1)]
```
"""
function list_series(store::Store; filters...)
    filter = json(filter_object(; filters...))
    table, features = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve filter background(job -> forcings_store_list(store, filter, sizeof(filter), table, features, job))
    return with_tables(rows_from_table, table, features)
end

function rows_from_table(table, lines)
    features = features_of(lines, length(table[:id]))
    return [
        (
            id = table[:id][i],
            name = table[:name][i],
            type = Symbol(table[:type][i]),
            owner_id = table[:owner_id][i],
            owner_type = table[:owner_type][i],
            owner_category = category_symbol(table[:owner_category][i]),
            initial = map_missing(from_millis, table[:initial_ms][i]),
            resolution = resolution_at(table, i),
            length = table[:length][i],
            element_type = STORED_TYPES[table[:dtype][i] + 1],
            element_shape = Tuple(table[:element_shape][i]),
            units = table[:units][i],
            ext = table[:ext][i],
            features = features[i],
        )
        for i in eachindex(table[:id])
    ]
end

map_missing(f, x) = x === missing ? missing : f(x)

function filter_object(;
    owner = nothing,
    owner_type = nothing,
    category = nothing,
    name = nothing,
    resolution = nothing,
    features = nothing,
    ids = nothing,
)
    category in (nothing, :component, :attribute) ||
        throw(invalid("a category is :component or :attribute, not $(repr(category))"))
    owner isa Union{Owner, Integer, Nothing} ||
        throw(invalid("the keyword owner takes an Owner or an id, not $(repr(owner)); types go to owner_type"))
    ids isa Union{AbstractVector{<:Integer}, Nothing} || throw(invalid("ids are a vector of ids, not $(repr(ids))"))
    if owner isa Owner
        category in (nothing, owner.category) || throw(invalid("the owner is not of the category $(repr(category))"))
        category = owner.category
        owner = owner.id
    end
    return (
        owner_id = owner,
        owner_type = optional_text("owner_type", owner_type),
        owner_category = category === nothing ? nothing : category_name(category),
        name = optional_text("the name", name),
        resolution = resolution === nothing ? nothing : wire(resolution),
        features = features === nothing ? nothing : feature_object(features),
        ids = ids,
    )
end

"""
    remove!(store, id)
    remove!(store, ids)

Removes series: all of them or, on an error, none. Values that another series shares stay.

Throws `Forcings.NotFoundError` for an unknown id.
"""
remove!(store::Store, id::Integer) = remove!(store, [id])

function remove!(store::Store, ids::AbstractVector{<:Integer})
    numbers = convert(Vector{Int64}, ids)
    GC.@preserve numbers background(job -> forcings_store_remove(store, pointer(numbers), length(numbers), job))
    return nothing
end
