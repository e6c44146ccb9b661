# Listings: the rows that describe series, and the filters that choose them.

const SeriesRow = NamedTuple{
    (
        :id,
        :name,
        :type,
        :owner_id,
        :owner_type,
        :owner_category,
        :initial_timestamp,
        :resolution,
        :length,
        :horizon,
        :interval,
        :count,
        :percentiles,
        :scenarios,
        :element_type,
        :element_shape,
        :time_reference,
        :units,
        :ext,
        :features,
    ),
    Tuple{
        Int64,
        String,
        Symbol,
        Int64,
        String,
        Symbol,
        Union{Missing, DateTime},
        Union{Missing, Period},
        Union{Missing, Int64},
        Union{Missing, Period},
        Union{Missing, Period},
        Union{Missing, Int64},
        Union{Missing, Vector{Float64}},
        Union{Missing, Int64},
        DataType,
        Tuple{Vararg{Int}},
        Union{Missing, String},
        Union{Missing, String},
        Union{Missing, String},
        Dict{String, FeatureValue},
    },
}

"""
What [`list_series`](@ref) returns: a vector of named tuples, one per series, that prints as a table.
"""
struct Listing <: AbstractVector{SeriesRow}
    rows::Vector{SeriesRow}
end

Base.size(l::Listing) = size(l.rows)
Base.IndexStyle(::Type{Listing}) = IndexLinear()
Base.getindex(l::Listing, i::Int) = l.rows[i]

"""
    list_series(store; filters...) -> vector of named tuples

Lists series in ascending order of their ids; each keyword narrows the list.

- `owner`: an [`Owner`](@ref) (its id and category count, not its type), or an id in any category
- `owner_type`: a text; `category`: `:component` or `:attribute`
- `type`: a type such as `SingleTimeSeries`, or its name; `Deterministic` includes `DeterministicSingleTimeSeries`
- `name`: a text; `name_glob`: a pattern, in which `*` stands for any characters, `?` for one, `[a-z]` for one of a set, and
  `[[]` for the character `[`
- `resolution`, `interval`: periods; series without one never match
- `initial_timestamp`: the first instant; `length`: the number of steps of a static series
- `zoneless`: `true` for series that are the readings of a wall clock, `false` for all others
- `features`: a named tuple or dictionary; a series that has more of them is listed too. `exact_features`: one that has
  exactly these
- `ids`: a vector of ids

Each row has `id, name, type, owner_id, owner_type, owner_category, initial_timestamp, resolution, length, horizon, interval,
count, percentiles, scenarios, element_type, element_shape, time_reference, units, ext, features`; `missing` stands for what
a series does not have (`length`: forecasts have the `count` of their windows). Any Tables.jl sink takes the result.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
[row.name for row in list_series(store; owner = 1, type = SingleTimeSeries)]
```
"""
function list_series(store::Store; filters...)
    filter = json(filter_object(; filters...))
    table, features = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve filter background(job -> forcings_store_list(store, filter, sizeof(filter), table, features, job))
    return with_tables(rows_from_table, table, features)
end

"""
    Forcings.has_series(store; filters...) -> Bool

Whether any series matches; the filters are those of [`list_series`](@ref).

```julia
store = memory_store()
Forcings.has_series(store; owner = 1, name = "load")     # false
```
"""
function has_series(store::Store; filters...)
    filter, found = json(filter_object(; filters...)), Ref{UInt8}(0)
    GC.@preserve filter background(job -> forcings_store_has(store, filter, sizeof(filter), found, job))
    return found[] != 0
end

function rows_from_table(table, lines)
    n = length(table[:id])
    column(f, name) = map(x -> map_missing(f, x), table[name])
    periods(name) = map(period_of, period_columns(table, name)...)
    return Listing(series_rows(
        table[:id],
        table[:name],
        map(Symbol, table[:type]),
        table[:owner_id],
        table[:owner_type],
        map(category_symbol, table[:owner_category]),
        column(from_millis, :initial_ms),
        periods(:resolution),
        table[:length],
        periods(:horizon),
        periods(:interval),
        table[:count],
        table[:percentiles],
        table[:scenarios],
        DataType[STORED_TYPES[code + 1] for code in table[:dtype]],
        Tuple{Vararg{Int}}[Tuple(shape) for shape in table[:element_shape]],
        table[:time_reference],
        table[:units],
        table[:ext],
        features_of(lines, n),
    ))
end

# Rows from columns, whose types are known in here.
function series_rows(
    id,
    name,
    type,
    owner_id,
    owner_type,
    owner_category,
    initial_timestamp,
    resolution,
    length,
    horizon,
    interval,
    count,
    percentiles,
    scenarios,
    element_type,
    element_shape,
    time_reference,
    units,
    ext,
    features,
)
    return SeriesRow[
        SeriesRow((
            id[i],
            name[i],
            type[i],
            owner_id[i],
            owner_type[i],
            owner_category[i],
            initial_timestamp[i],
            resolution[i],
            length[i],
            horizon[i],
            interval[i],
            count[i],
            percentiles[i],
            scenarios[i],
            element_type[i],
            element_shape[i],
            time_reference[i],
            units[i],
            ext[i],
            features[i],
        ))
        for i in eachindex(id)
    ]
end

map_missing(f, x) = x === missing ? missing : f(x)

function filter_object(;
    owner = nothing,
    owner_type = nothing,
    category = nothing,
    type = nothing,
    name = nothing,
    name_glob = nothing,
    resolution = nothing,
    interval = nothing,
    initial_timestamp = nothing,
    length = nothing,
    zoneless = nothing,
    features = nothing,
    exact_features = nothing,
    ids = nothing,
)
    category in (nothing, :component, :attribute) ||
        throw(invalid("a category is :component or :attribute, not $(repr(category))"))
    owner isa Union{Owner, Integer, Nothing} ||
        throw(invalid("the keyword owner takes an Owner or an id, not $(repr(owner)); types go to owner_type"))
    ids isa Union{AbstractVector{<:Integer}, Nothing} || throw(invalid("ids are a vector of ids, not $(repr(ids))"))
    zoneless isa Union{Bool, Nothing} || throw(invalid("zoneless is true or false, not $(repr(zoneless))"))
    length === nothing ||
        (length isa Integer && !(length isa Bool) && length >= 0) ||
        throw(invalid("a length is a number of steps, not $(repr(length))"))
    if owner isa Owner
        category in (nothing, owner.category) || throw(invalid("the owner is not of the category $(repr(category))"))
        category = owner.category
        owner = owner.id
    end
    return (
        owner_id = owner === nothing ? nothing : int64("the id of an owner", owner),
        owner_type = optional_text("owner_type", owner_type),
        owner_category = category === nothing ? nothing : category_name(category),
        series_type = type_name(type),
        name = optional_text("the name", name),
        name_glob = optional_text("the pattern of the name", name_glob),
        resolution = resolution === nothing ? nothing : wire(resolution),
        interval = interval === nothing ? nothing : wire(interval),
        initial_ms = optional_millis(initial_timestamp),
        length = length === nothing ? nothing : int64("a length", length),
        zoneless = zoneless,
        features = features === nothing ? nothing : feature_object(features),
        exact_features = exact_features === nothing ? nothing : feature_object(exact_features),
        ids = ids === nothing ? nothing : id_vector(ids),
    )
end

type_name(::Nothing) = nothing
type_name(::Type{S}) where {S <: Series} = type_name(nameof(S))
function type_name(name::Union{Symbol, AbstractString})
    haskey(SERIES_READERS, string(name)) && return string(name)
    throw(invalid("there is no type $name of series; there are $(join(sort!(collect(keys(SERIES_READERS))), ", "))"))
end
type_name(x) = throw(invalid("the keyword type takes a type such as SingleTimeSeries, not $(repr(x))"))
