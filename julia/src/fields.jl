# Decoded data: fields with named dimensions, as arrays over the library's memory.

# The native object that a sample's memory belongs to.
const SampleOwner = Owned{typeof(forcings_sample_release)}

"""
    Forcings.Field{T,N} <: DenseArray{T,N}

A decoded variable, without a copy: an array over the library's memory, which it keeps. Dimensions are in Julia's order,
the reverse of the file's: a variable `(time, lat, lon)` has the dimensions `(lon, lat)` in the sample of a time. A field
is read-only; `Array(field)` is a copy of your own, and `copyto!(buffer, field)` fills one. Loops over a field are compiled
as those over an `Array`.

Dimensions may be named wherever an index is given; indices count from 1:

- `field["lat" => 3, "lon" => 1:10]` copies, as indexing does; dimensions that are not named are whole
- `view(field, "lat" => 3)` and `selectdim(field, "lat", 3)` are lazy, and know the names of the dimensions they keep
- `size(field, "lat")` is the extent of one

[`Forcings.dims`](@ref), [`Forcings.attributes`](@ref), [`Forcings.coordinate`](@ref) and [`Forcings.fileorder`](@ref) take
fields and such views. After the sample it came from was released, by [`take!(f, group, k)`](@ref), a use is a
`Forcings.ClosedError`.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
data = sample_at(Provider(file), DateTime(2001))
u = data["uwnd"]
south = view(u, "lat" => 1:2)
Forcings.dims(south), Forcings.coordinate(south, "lat")
```
"""
struct Field{T, N} <: DenseArray{T, N}
    # It keeps the library's memory by itself, so that a loop may use it alone.
    array::Array{T, N}
    owner::SampleOwner
    member::Int
    name::String
end

"""
    Forcings.Dataset

The variables and coordinates of a sample: `data["uwnd"]` is a [`Forcings.Field`](@ref), or an array of `String`s for a
text variable. It is a collection of pairs like a dictionary, and read-only: `keys`, `values`, `haskey`, `get`, `length`,
and iteration. The names are in the order of the file, data variables first; [`Forcings.variables`](@ref) and
[`Forcings.coords`](@ref) tell them apart, and [`Forcings.attributes`](@ref) gives those of the file.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
data = sample_at(Provider(file), DateTime(2001))
for (name, field) in data
    size(field)
end
haskey(data, "uwnd"), Forcings.coords(data)
```
"""
struct Dataset
    owner::SampleOwner
    member::Int
end

const STRING_FIELD = 6

check_open(owner::SampleOwner) = owner.held.isopen ? nothing : throw_released()
@noinline throw_released() = throw(ClosedError("this sample was released; copy in the block what you need after it"))

function Base.size(f::Field)
    check_open(f.owner)
    return size(f.array)
end

Base.IndexStyle(::Type{<:Field}) = IndexLinear()

@inline function Base.getindex(f::Field, i::Int)
    @boundscheck checkbounds(f, i)
    return @inbounds f.array[i]
end

Base.setindex!(::Field, _...) = throw(invalid("a field is read-only; change a copy of it: Array(field)"))
Base.strides(f::Field) = strides(f.array)
Base.elsize(::Type{<:Field{T}}) where {T} = sizeof(T)
Base.cconvert(::Type{Ptr{T}}, f::Field{T}) where {T} = f

function Base.unsafe_convert(::Type{Ptr{T}}, f::Field{T}) where {T}
    check_open(f.owner)
    return pointer(f.array)
end

function Base.copyto!(target::Array{T}, f::Field{T}) where {T}
    check_open(f.owner)
    return copyto!(target, f.array)
end

function Base.deepcopy_internal(::Field, ::IdDict)
    throw(invalid("a field belongs to the library and cannot be copied deeply; Array(field) is a copy"))
end

# Another process receives the values: an address means nothing there.
Serialization.serialize(s::Serialization.AbstractSerializer, f::Field) = Serialization.serialize(s, Array(f))

function Base.getindex(data::Dataset, name::AbstractString)
    found = find_field(data, name)
    found === nothing || return found
    throw(NotFoundError("there is no variable \"$name\" here; there are $(join(repr.(keys(data)), ", "))"))
end

# The field, or `nothing` if there is none of that name.
function find_field(data::Dataset, name)
    check_open(data.owner)
    text = String(name)
    type, rank = Ref{Int32}(0), Ref{UInt64}(0)
    shape, start, found = Ref{Ptr{UInt64}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL), Ref{UInt8}(0)
    owner = data.owner
    return GC.@preserve owner begin
        check(forcings_sample_field(owner, data.member, text, sizeof(text), found, type, rank, shape, start))
        found[] == 0 && return nothing
        extents = ntuple(i -> Int(unsafe_load(shape[], rank[] - i + 1)), Int(rank[]))
        if type[] == STRING_FIELD
            reshape(texts(data, text), extents)
        else
            wrap_field(STORED_TYPES[type[] + 1], start[], extents, data, text)
        end
    end
end

function wrap_field(::Type{T}, start, extents::NTuple{N, Int}, data, name) where {T, N}
    array = unsafe_wrap(Array, Ptr{T}(start), extents)
    # Without elements there is no memory to keep.
    isempty(array) || keep(data.owner, array)
    return Field{T, N}(array, data.owner, data.member, name)
end

# One table about the variable `name`.
function sample_table(f, call, data::Dataset, name)
    check_open(data.owner)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(call(data.owner, data.member, name, sizeof(name), table))
    return with_tables(f, table)
end

texts(data, name) = sample_table(table -> table[:text], forcings_sample_strings, data, name)

"""
    Forcings.attributes(field) -> Dict{String,Any}
    Forcings.attributes(data, name)
    Forcings.attributes(data)

The attributes of a variable, or of the file: texts, numbers, or vectors of them.
"""
attributes(data::Dataset, name = "") = sample_table(attributes_of, forcings_sample_attributes, data, String(name))

function attributes_of(lines)
    attributes = Dict{String, Any}()
    for (i, key) in enumerate(lines[:key])
        value = attribute_value(lines, i)
        if !lines[:is_list][i]
            attributes[key] = value
        elseif value === nothing
            attributes[key] = Float64[]
        else
            attributes[key] = haskey(attributes, key) ? push!(attributes[key], value) : [value]
        end
    end
    return attributes
end

# The value of one line; `nothing` stands for an empty list.
function attribute_value(lines, i)
    kind = lines[:kind][i]
    kind == 0 && return lines[:int][i]
    kind == 1 && return lines[:float][i]
    kind == 2 && return lines[:text][i]
    kind == 3 && return reinterpret(UInt64, lines[:int][i])
    return nothing
end

"""
    Forcings.variables(data) -> Vector{String}

The names of the data variables, in the order of the file.
"""
variables(data::Dataset) = first(field_names(data))

"""
    Forcings.coords(data) -> Vector{String}

The names of the coordinates, in the order of the file.
"""
coords(data::Dataset) = last(field_names(data))

function field_names(data::Dataset)
    check_open(data.owner)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_sample_names(data.owner, data.member, table))
    return with_tables(t -> (t[:name][.!t[:is_coord]], t[:name][t[:is_coord]]), table)
end

# The dimensions of a variable, in Julia's order, without a look at its values.
dims(data::Dataset, name) = reverse(sample_table(table -> table[:dim], forcings_sample_dims, data, String(name)))

Base.keys(data::Dataset) = vcat(field_names(data)...)
Base.values(data::Dataset) = (data[name] for name in keys(data))
Base.pairs(data::Dataset) = data
Base.haskey(data::Dataset, name::AbstractString) = find_field(data, name) !== nothing
Base.get(data::Dataset, name::AbstractString, default) = something(find_field(data, name), Some(default))
Base.length(data::Dataset) = length(keys(data))
Base.eltype(::Type{Dataset}) = Pair{String, Any}

function Base.iterate(data::Dataset, (list, i) = (keys(data), 1))
    i > length(list) && return nothing
    return Pair{String, Any}(list[i], data[list[i]]), (list, i + 1)
end
