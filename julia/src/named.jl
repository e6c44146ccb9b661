# Dimensions by name: of fields, of lazy views of them, and of both in the file's order.

const Permuted{P} = PermutedDimsArray{<:Any, <:Any, <:Any, <:Any, <:P}
const FieldView = SubArray{<:Any, <:Any, <:Field}

# Arrays whose dimensions have names.
const Named = Union{
    Field,
    FieldView,
    Permuted{Field},
    Permuted{FieldView},
    SubArray{<:Any, <:Any, <:Permuted{Field}},
    SubArray{<:Any, <:Any, <:Permuted{FieldView}},
}

const DimName = Union{AbstractString, Symbol}
const NamedIndex = Pair{<:DimName, <:Any}

"""
    Forcings.dims(field) -> Vector{String}
    Forcings.dims(data, name)

The names of the dimensions, in Julia's order; of a view, those that it keeps.
"""
dims(f::Field) = dims(Dataset(f.owner, f.member), f.name)
dims(v::Union{SubArray, PermutedDimsArray}) = dims_of(v)
dims(a::AbstractArray) = throw(nameless(a))

nameless(a) = invalid("the dimensions of this array, of size $(size(a)), are not those of a field, and have no names")

function dims_of(v::SubArray)
    names, indices = dims(parent(v)), parentindices(v)
    all(i -> ndims(i) <= 1, indices) || throw(nameless(v))
    return [name for (name, i) in zip(names, indices) if ndims(i) == 1]
end
dims_of(p::PermutedDimsArray{<:Any, <:Any, order}) where {order} = dims(parent(p))[[order...]]

"""
    Forcings.fileorder(field)

The field with its dimensions in the order of the file: a lazy permutation.
"""
fileorder(f::Union{Field, FieldView}) = PermutedDimsArray(f, ntuple(i -> ndims(f) - i + 1, ndims(f)))

field_of(f::Field) = f
field_of(v::Union{SubArray, PermutedDimsArray}) = field_of(parent(v))

attributes(a::Named) = (f = field_of(a); attributes(Dataset(f.owner, f.member), f.name))

"""
    Forcings.coords(field) -> Vector{String}

The names of the dimensions that have a coordinate; see [`Forcings.coordinate`](@ref).
"""
coords(a::Named) = (f = field_of(a); present = coords(Dataset(f.owner, f.member)); filter(in(present), dims(a)))

"""
    Forcings.coordinate(field, name)

The coordinate along a dimension: as many values as the field, or the view of one, has there.

Throws `Forcings.NotFoundError` for a dimension that it does not have, or that has no coordinate.
"""
function coordinate(a::Named, name::DimName)
    dim = dims(a)[dim_position(a, name)]
    f = field_of(a)
    data = Dataset(f.owner, f.member)
    dim in coords(data) || throw(NotFoundError("the dimension \"$dim\" has no coordinate here"))
    return narrowed(a, dim, data[dim])
end

narrowed(::Field, _, values) = values
narrowed(p::PermutedDimsArray, dim, values) = narrowed(parent(p), dim, values)
function narrowed(v::SubArray, dim, values)
    index = parentindices(v)[dim_position(parent(v), dim)]
    return view(narrowed(parent(v), dim, values), index)
end

function dim_position(a, name)
    names = dims(a)
    i = findfirst(==(String(name)), names)
    i === nothing || return i
    has = isempty(names) ? "none" : join(repr.(names), ", ")
    throw(NotFoundError("\"$(field_of(a).name)\" has no dimension \"$name\" here; it has $has"))
end

# The indices in the places of their dimensions.
function placed(a, named)
    indices = Any[Colon() for _ in 1:ndims(a)]
    taken = falses(ndims(a))
    for (name, index) in named
        i = dim_position(a, name)
        taken[i] && throw(invalid("the dimension \"$name\" is indexed twice"))
        indices[i], taken[i] = index, true
    end
    return indices
end

Base.getindex(a::Named, first::NamedIndex, rest::NamedIndex...) = a[placed(a, (first, rest...))...]
Base.view(a::Named, first::NamedIndex, rest::NamedIndex...) = view(a, placed(a, (first, rest...))...)
Base.selectdim(a::Named, dim::DimName, index) = view(a, dim => index)
Base.size(a::Named, dim::DimName) = size(a, dim_position(a, dim))
Base.axes(a::Named, dim::DimName) = axes(a, dim_position(a, dim))
