# Changes to series that are in a store: other names and owners, copies, removal by what series have in common, and
# forecasts derived from them.

"""
    Forcings.TransformReport

What [`Forcings.transform_single_time_series!`](@ref) did: `sources` is the number of series that matched, `ids` are the
new forecasts by ascending source, and `existing` is the number of series that had the same forecast already.
"""
struct TransformReport
    sources::Int
    ids::Vector{Int64}
    existing::Int
end

"""
    Forcings.transform_single_time_series!(store, horizon, interval; filters...) -> Forcings.TransformReport

Derives a forecast from every `SingleTimeSeries` that matches, all or, on an error, none: its windows are slices of the
series, `horizon` long, that begin every `interval`. No values are copied. A series has as many windows as fit into it;
with an interval of zero it is one window, which must be the whole series. Transforming again adds nothing.
[`read_series`](@ref) gives a derived forecast back as a [`Deterministic`](@ref).

- `horizon`, `interval`: periods that are whole numbers of steps, the interval no longer than the horizon
- `filters`: as those of [`list_series`](@ref)

Throws `Forcings.InvalidParameterError`, naming the series, for windows that do not fit it or another forecast that is in
the way; `Forcings.IntegrityError` when series of one resolution are on different grids.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(48)))
report = Forcings.transform_single_time_series!(store, Hour(24), Hour(12); name = "load")
read_series(store, report.ids[1])[DateTime(2030, 1, 1, 12)]       # 24 values
```
"""
function transform_single_time_series!(store::Store, horizon, interval; filters...)
    options = json((
        horizon = period_object("horizon", horizon),
        interval = period_object("interval", interval),
        filter = filter_object(; filters...),
    ))
    sources, table = Ref{UInt64}(0), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve options background(
        job -> forcings_store_transform(store, options, sizeof(options), sources, table, job),
    )
    ids = with_tables(made -> made[:id], table)
    return TransformReport(sources[], ids, Int(sources[]) - length(ids))
end

"""
    Forcings.rename(store, id, name)

Gives a series another name; its id and everything else stay.

Throws `Forcings.NotFoundError` for an unknown id, `Forcings.DuplicateTimeSeriesError` when its owner has a series of
that name that is the same otherwise.

```julia
store = memory_store()
id = add!(store, Owner(1, "Bus"), SingleTimeSeries("laod", DateTime(2030), Hour(1), rand(24)))
Forcings.rename(store, id, "load")
```
"""
function rename(store::Store, id::Integer, name)
    text = String(required_text("the name", name))
    GC.@preserve text background(job -> forcings_store_rename(store, id, text, sizeof(text), job))
    return nothing
end

"""
    Forcings.copy_series!(store, id, owner; name = nothing) -> id

Adds a series with the values, the features and everything else of `id` for another [`Owner`](@ref) of the same
category. The values are shared, not copied. Without a `name` the copy keeps that of its source.

Throws `Forcings.NotFoundError` for an unknown id, `Forcings.DuplicateTimeSeriesError` when the owner has such a series,
`Forcings.InvalidParameterError` for an owner of the other category.

```julia
store = memory_store()
id = add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
Forcings.copy_series!(store, id, Owner(2, "Bus"))
```
"""
function copy_series!(store::Store, id::Integer, owner::Owner; name = nothing)
    options = json((owner = owner_object(owner), name = optional_text("the name", name)))
    copy = Ref{Int64}(0)
    GC.@preserve options background(job -> forcings_store_copy(store, id, options, sizeof(options), copy, job))
    return copy[]
end

"""
    Forcings.replace_owner!(store, old, new; category = :component) -> Int

Moves every series of the owner `old` to the owner `new`, each an [`Owner`](@ref) or the id of one of this category, and
returns how many they are. The owner's type stays as it was; [`Forcings.replace_component!`](@ref) does the same for
associations.

Throws `Forcings.DuplicateTimeSeriesError` when both have a series of one identity: then none moves.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
Forcings.replace_owner!(store, 1, 101)
```
"""
function replace_owner!(store::Store, old, new; category = nothing)
    category === nothing && (category = something(category_of(old), category_of(new), :component))
    from, to = owner_key("old owner", old, category), owner_key("new owner", new, category)
    options = json((old = from.id, new = to.id, category = from.category))
    return counted(forcings_store_replace_owner, store, options)
end

"""
    remove!(store; filters...) -> Int

Removes the series that match, all of them or, on an error, none, and returns how many they were. The filters are those
of [`list_series`](@ref); at least one is needed, and [`Forcings.clear!`](@ref) removes everything.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)); features = (year = 2030,))
remove!(store; name = "load", features = (year = 2030,))
```
"""
function remove!(store::Store; filters...)
    object = filter_object(; filters...)
    all(matches_all(name, value) for (name, value) in pairs(object)) &&
        throw(invalid("no filter was given, which would remove every series; to do that, call Forcings.clear!(store)"))
    return counted(forcings_store_remove_matching, store, json(object))
end

# A part of a filter that selects nothing away.
matches_all(name, value) = value === nothing || (name === :features && isempty(value))

"""
    Forcings.clear!(store) -> Int
    Forcings.clear!(store, owner; category = :component) -> Int

Removes every series, or every series of one owner (an [`Owner`](@ref), or the id of one of this category), and returns
how many they were. Associations stay, and ids are not issued again.

```julia
store = memory_store()
add!(store, [(Owner(n, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))) for n in 1:3])
Forcings.clear!(store, Owner(1, "Bus"))
Forcings.clear!(store)
```
"""
function clear!(store::Store)
    removed = Ref{UInt64}(0)
    background(job -> forcings_store_clear(store, C_NULL, 0, removed, job))
    return Int(removed[])
end

function clear!(store::Store, owner; category = nothing)
    return counted(forcings_store_clear, store, json(owner_key("owner", owner, category)))
end

# What identifies an owner, in the form of the library.
function owner_key(what, owner, category)
    owner isa Union{Owner, Integer} || throw(invalid("the $what is an Owner or an id, not $(repr(owner))"))
    own = category_of(owner)
    category in (nothing, own) ||
        own === nothing ||
        throw(invalid("the $what is of the category $(repr(own)), not of $(repr(category))"))
    id = owner isa Owner ? owner.id : int64("the id of an owner", owner)
    return (id = id, category = category_name(something(own, category, :component)))
end

category_of(owner::Owner) = owner.category
category_of(_) = nothing

period_object(_, period::Union{Period, Dates.CompoundPeriod}) = wire(period)
period_object(what, x) = throw(invalid("the $what must be a period such as Hour(1), not $(repr(x))"))

required_text(what, x) = x === nothing ? throw(invalid("$what must be a text")) : optional_text(what, x)

# The number that a call on a store with one text answers.
function counted(call, store, text)
    n = Ref{UInt64}(0)
    GC.@preserve text background(job -> call(store, text, sizeof(text), n, job))
    return Int(n[])
end

function Base.show(io::IO, report::TransformReport)
    print(io, "TransformReport(", report.sources, " series, ", count_of(length(report.ids), "new forecast"), ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", report::TransformReport)
    print(io, "TransformReport: ", count_of(report.sources, "series"), " matched")
    print(io, "\n  derived      ", count_of(length(report.ids), "forecast"))
    isempty(report.ids) || print(io, ", ids ", span(report.ids))
    print(io, "\n  there before ", report.existing)
    return nothing
end

# Ids in few words.
function span(ids)
    length(ids) <= 5 && return join(ids, ", ")
    consecutive = last(ids) - first(ids) == length(ids) - 1 && issorted(ids)
    return consecutive ? "$(first(ids)) to $(last(ids))" : "$(join(ids[1:5], ", ")), …"
end
