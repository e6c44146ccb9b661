# What a time series is: owners, types of series, and their form on the way into the library and back.

"""
    Owner(id, type; category = :component)

The owner of series: `id` is an integer, unique within its `category` (`:component` or `:attribute`, a supplemental
attribute that components share); `type` is free text such as `"Generator"`, and does not tell owners apart.

```julia
Owner(7, "Bus")
Owner(7, "Outage"; category = :attribute)   # another owner than the bus
```
"""
struct Owner
    id::Int64
    type::String
    category::Symbol
    function Owner(id::Integer, type::AbstractString; category::Symbol = :component)
        category_name(category)
        return new(id, type, category)
    end
end

# The types of stored values, in the order of their numbers in the library.
const STORED_TYPES = (Float64, Float32, Int64, Int32, UInt64, Bool)
const StoredType = Union{STORED_TYPES...}

function type_code(::Type{T}) where {T}
    code = findfirst(==(T), STORED_TYPES)
    code === nothing || return code - 1
    throw(invalid("values of type $T cannot be stored; convert them to one of $(join(STORED_TYPES, ", "))"))
end

"""
    SingleTimeSeries(name, initial, resolution, values)

Values on a regular grid: step `i` begins at `initial + (i - 1) * resolution` and its value covers the step.

- `initial::DateTime`: the first instant (UTC)
- `resolution::Period`: positive; months and years are counted by calendar, everything else is fixed, and
  `Hour(730) + Minute(30)` is one fixed period
- `values`: time is the first dimension: `(steps,)` for scalars, `(steps, e...)` for elements of shape `e`. The element
  type is `Float64`, `Float32`, `Int64`, `Int32`, `UInt64` or `Bool`

Fields: `name`, `initial`, `resolution`, `values`. [`Forcings.timestamps`](@ref) gives the instants.

```julia
SingleTimeSeries("load", DateTime(2030), Hour(1), rand(8760))
SingleTimeSeries("cost", DateTime(2030), Month(1), rand(12, 3))   # three coefficients a month
```
"""
struct SingleTimeSeries{T <: StoredType, N}
    name::String
    initial::DateTime
    resolution::Union{Period, Dates.CompoundPeriod}
    values::Array{T, N}
    function SingleTimeSeries(
        name::AbstractString,
        initial::DateTime,
        resolution::Union{Period, Dates.CompoundPeriod},
        values::AbstractArray{T, N},
    ) where {T, N}
        type_code(T)
        N > 0 || throw(invalid("the values of a series need a time dimension, the first one"))
        return new{T, N}(name, initial, resolution, values)
    end
end

function Base.:(==)(a::SingleTimeSeries, b::SingleTimeSeries)
    return a.name == b.name && a.initial == b.initial && a.resolution == b.resolution && a.values == b.values
end

# Equal resolutions may be of different types, with different hashes.
Base.hash(s::SingleTimeSeries, h::UInt) = hash(s.values, hash(s.initial, hash(s.name, hash(:SingleTimeSeries, h))))

"""
    Forcings.timestamps(series::SingleTimeSeries) -> Vector{DateTime}

The instants at which the steps of `series` begin. Calendar periods are counted from the first instant, so a monthly
series from 31 January has its second step on the last day of February and its third on 31 March.
"""
timestamps(s::SingleTimeSeries) = [step_at(s.initial, s.resolution, i) for i in 0:(size(s.values, 1) - 1)]

step_at(initial, p::Period, i) = initial + i * p
function step_at(initial, p::Dates.CompoundPeriod, i)
    length = wire(p)
    return haskey(length, :ms) ? initial + Millisecond(i * length.ms) : initial + Month(i * length.months)
end

# Row-major on the library's side: the first dimension of Julia's array varies slowest there.
rowmajor(values::Vector) = values
rowmajor(values::Array) = permutedims(values, ndims(values):-1:1)

# The array of type `T` and shape `(steps, element...)` whose row-major bytes begin at `source`.
function from_rowmajor(::Type{T}, source::Ptr{UInt8}, shape::Vector{Int}) where {T}
    flat = copy_from(Ptr{T}(source), prod(shape))
    length(shape) == 1 && return flat
    return permutedims(reshape(flat, reverse(shape)...), length(shape):-1:1)
end

function category_name(category)
    category === :component && return "Component"
    category === :attribute && return "SupplementalAttribute"
    throw(invalid("the category of an owner is :component or :attribute, not $(repr(category))"))
end

category_symbol(name) = name == "Component" ? :component : :attribute

owner_object(o::Owner) = (id = o.id, type = o.type, category = category_name(o.category))

feature(value::Union{Bool, AbstractString, AbstractFloat}) = value
feature(value::Symbol) = String(value)
feature(value) = throw(invalid("a feature must be a number, a Bool or a text, not $(repr(value))"))
function feature(value::Integer)
    typemin(Int64) <= value <= typemax(Int64) || throw(invalid("the feature $value does not fit into an Int64"))
    return value
end

function feature_object(features::Union{NamedTuple, AbstractDict})
    return Dict(string(key) => feature(value) for (key, value) in pairs(features))
end
function feature_object(features)
    throw(invalid("features are a named tuple, as in (scenario = \"high\",), or a dictionary, not $(repr(features))"))
end

optional_text(what, x::Union{AbstractString, Symbol, Nothing}) = x
optional_text(what, x) = throw(invalid("$what must be a text, not $(repr(x))"))

function series_object(owner::Owner, s::SingleTimeSeries; features = (;), units = nothing, ext = nothing)
    return (
        owner = owner_object(owner),
        name = s.name,
        features = feature_object(features),
        units = optional_text("units", units),
        ext = optional_text("ext", ext),
        series = (type = "SingleTimeSeries", initial_ms = to_millis(s.initial), resolution = wire(s.resolution)),
    )
end
