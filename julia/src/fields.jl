# Decoded data: fields with named dimensions, as arrays over the library's memory.

# The native object that a sample's memory belongs to.
const SampleOwner = Owned{typeof(forcings_sample_release)}

"""
    Forcings.Field{T,N} <: DenseArray{T,N}

A decoded variable, without a copy: an array over the library's memory, which it keeps. Dimensions are in Julia's order,
the reverse of the file's: a variable `(time, lat, lon)` has the dimensions `(lon, lat)` in the sample of a time. A field
is read-only; `Array(field)` is a copy of your own, and `copyto!(buffer, field)` fills one: a kernel that passes over the
values many times is faster on that.

[`Forcings.dims`](@ref) names its dimensions, [`Forcings.attributes`](@ref) gives its attributes,
[`Forcings.fileorder`](@ref) is the field in the file's order. After the sample it came from was released, by
[`take!(f, group, k)`](@ref), a use is a `Forcings.ClosedError`.
"""
struct Field{T, N} <: DenseArray{T, N}
    start::Ptr{T}
    extents::NTuple{N, Int}
    owner::SampleOwner
    member::Int
    name::String
end

"""
    Forcings.Dataset

The variables and coordinates of a sample: `data["uwnd"]` is a [`Forcings.Field`](@ref), or an array of `String`s for a
text variable. `keys` lists the names, data variables first; [`Forcings.variables`](@ref) and [`Forcings.coords`](@ref)
tell them apart, and [`Forcings.attributes`](@ref) gives those of the file. It is read-only.
"""
struct Dataset
    owner::SampleOwner
    member::Int
end

const FIELD_TYPES = Dict{Int32, DataType}(0 => Float64, 1 => Float32, 2 => Int64, 3 => Int32, 5 => Bool)
const STRING_FIELD = 6

function check_open(owner::SampleOwner)
    isopen(owner) || throw(ClosedError("this sample was released; copy in the block what you need after it"))
    return nothing
end

function Base.size(f::Field)
    check_open(f.owner)
    return f.extents
end

Base.IndexStyle(::Type{<:Field}) = IndexLinear()

@inline function Base.getindex(f::Field, i::Int)
    @boundscheck checkbounds(f, i)
    owner = f.owner
    return GC.@preserve owner unsafe_load(f.start, i)
end

Base.setindex!(::Field, _...) = throw(invalid("a field is read-only; change a copy of it: Array(field)"))
Base.strides(f::Field{T, N}) where {T, N} = ntuple(i -> prod(f.extents[1:(i - 1)]), N)
Base.elsize(::Type{<:Field{T}}) where {T} = sizeof(T)
Base.cconvert(::Type{Ptr{T}}, f::Field{T}) where {T} = f

function Base.unsafe_convert(::Type{Ptr{T}}, f::Field{T}) where {T}
    check_open(f.owner)
    return f.start
end

function Base.copyto!(target::Array{T}, f::Field{T}) where {T}
    length(target) >= length(f) || throw(BoundsError(target, length(f)))
    GC.@preserve target f unsafe_copyto!(pointer(target), pointer(f), length(f))
    return target
end

function Base.deepcopy_internal(::Field, ::IdDict)
    throw(invalid("a field belongs to the library and cannot be copied deeply; Array(field) is a copy"))
end

# Another process receives the values: an address means nothing there.
Serialization.serialize(s::Serialization.AbstractSerializer, f::Field) = Serialization.serialize(s, Array(f))

# Over the array that Julia's compiler knows best: element by element, keeping the owner alive costs a loop its vector
# instructions.
Base.mapreduce(op, reduce, f::Field; options...) = with_array(a -> mapreduce(op, reduce, a; options...), f)

# Calls `g(array)` with an array over the field's memory, which must not escape.
function with_array(g, f::Field)
    owner = f.owner
    GC.@preserve owner begin
        check_open(owner)
        return g(unsafe_wrap(Array, f.start, f.extents))
    end
end

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
            wrap_field(FIELD_TYPES[type[]], start[], extents, data, text)
        end
    end
end

function wrap_field(::Type{T}, start, extents::NTuple{N, Int}, data, name) where {T, N}
    return Field{T, N}(Ptr{T}(start), extents, data.owner, data.member, name)
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
    Forcings.dims(field) -> Vector{String}
    Forcings.dims(data, name)

The names of the dimensions, in Julia's order.
"""
dims(f::Field) = dims(Dataset(f.owner, f.member), f.name)
dims(data::Dataset, name) = reverse(sample_table(table -> table[:dim], forcings_sample_dims, data, String(name)))

"""
    Forcings.fileorder(field)

The field with its dimensions in the order of the file: a lazy permutation.
"""
fileorder(f::Field{T, N}) where {T, N} = PermutedDimsArray(f, ntuple(i -> N - i + 1, N))

"""
    Forcings.attributes(field) -> Dict{String,Any}
    Forcings.attributes(data, name)
    Forcings.attributes(data)

The attributes of a variable, or of the file: texts, numbers, or vectors of them.
"""
attributes(f::Field) = attributes(Dataset(f.owner, f.member), f.name)
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

Base.keys(data::Dataset) = vcat(field_names(data)...)
Base.haskey(data::Dataset, name::AbstractString) = find_field(data, name) !== nothing
Base.get(data::Dataset, name::AbstractString, default) = something(find_field(data, name), Some(default))
Base.length(data::Dataset) = length(keys(data))
Base.eltype(::Type{Dataset}) = Pair{String, Any}

function Base.iterate(data::Dataset, (list, i) = (keys(data), 1))
    i > length(list) && return nothing
    return (list[i] => data[list[i]]), (list, i + 1)
end
