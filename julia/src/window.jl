# Windows: which part of named dimensions a provider reads, and their wire form.

"""
    DimWindow("dim" => selector, ...)

Part of a grid, by the names of its dimensions, wherever they stand in a variable. In a selector everything counts from
0, as in the files' own conventions:

- `(start, stop)` or `(start, stop, step)`: the indices from `start` up to, not including, `stop`
- a vector of indices: these, in this order, repeats kept; `[1150, 1151, 0, 1]` is a window across a seam
- `:all`: the whole dimension, as for every dimension that is not named

A dimension is never dropped: one index leaves an extent of 1. A Julia range is refused, since it would count from 1 and
include its end.

Wherever a `DimWindow` is taken, its wire form is too: a dictionary as it stands in a JSON file, such as
`Dict("dims" => Dict("lat" => Dict("slice" => [120, 218]), "lon" => Dict("indices" => [7, 0]), "lev" => "all"))`.

[`CoordWindow`](@ref) finds the indices of coordinate values.

```julia
DimWindow("lat" => (120, 218), "lon" => [1150, 1151, 0, 1], "lev" => :all)
```
"""
struct DimWindow
    dims::Dict{String, Any}
    function DimWindow(dims::Pair...)
        selectors = Dict{String, Any}(String(name) => selector(name, s) for (name, s) in dims)
        length(selectors) == length(dims) || throw(invalid("a window names each dimension once, not $(first.(dims))"))
        return new(selectors)
    end
end

DimWindow(dims::AbstractDict) = DimWindow(collect(dims)...)

Base.:(==)(a::DimWindow, b::DimWindow) = a.dims == b.dims
Base.hash(w::DimWindow, seed::UInt) = hash(w.dims, hash(:DimWindow, seed))

# The selector in the form of the wire.
function selector(name, s::Union{NTuple{2, Integer}, NTuple{3, Integer}})
    all(>=(0), s) || throw(invalid("the selector $s of \"$name\" has a negative number; indices count from 0"))
    return (slice = [index(name, i) for i in s],)
end

function selector(name, s::AbstractVector{<:Integer})
    all(>=(0), s) || throw(invalid("the selector of \"$name\" has a negative index; indices count from 0"))
    return (indices = [index(name, i) for i in s],)
end

function selector(name, s::AbstractRange)
    bounds = s isa AbstractUnitRange{<:Integer} && first(s) > 0 ?
        "(start, stop) with stop not included, here ($(first(s) - 1), $(last(s))) if you mean the elements $s" :
        "(start, stop) or (start, stop, step) with stop not included"
    throw(invalid(
        "the selector of \"$name\" is the range $s, which in Julia counts from 1 and includes its end; a window " *
            "counts from 0: write $bounds",
    ))
end

selector(name, s::Union{NTuple{2, Bool}, NTuple{3, Bool}, AbstractVector{Bool}}) = throw(bad_selector(name, s))
# An empty literal, `[]`, holds no integers for Julia, and none at all.
selector(name, s::AbstractVector) = isempty(s) ? (indices = Int[],) : throw(bad_selector(name, s))
selector(name, s::Symbol) = s === :all ? "all" : throw(bad_selector(name, s))
selector(name, s) = throw(bad_selector(name, s))

index(name, i) = int64("an index of \"$name\"", i)

function bad_selector(name, s)
    return invalid(
        "the selector $(repr(s)) of \"$name\" is none of (start, stop), (start, stop, step), a vector of indices, :all",
    )
end

# What is passed to the library, which checks it.
window_object(window::DimWindow) = (dims = window.dims,)
window_object(window::AbstractDict) = wire_value(window)
window_object(window) = throw(invalid("a window is a DimWindow, or a dictionary in the wire form, not $(repr(window))"))

function wire_value(x::AbstractDict)
    object = Dict{String, Any}(wire_key(key) => wire_value(value) for (key, value) in x)
    length(object) == length(x) || throw(invalid("two keys of the selection have the same name: $(repr(x))"))
    return object
end
wire_value(x::Union{AbstractVector, Tuple}) = Any[wire_value(y) for y in x]
wire_value(x::Union{AbstractString, Symbol, Bool, Integer, AbstractFloat, Nothing}) = x
wire_value(x) = throw(invalid(
    "a selection in the wire form has texts, numbers, vectors and dictionaries, not $(repr(x))",
))

wire_key(key::Union{AbstractString, Symbol}) = String(key)
wire_key(key) = throw(invalid("the keys of a selection in the wire form are texts, not $(repr(key))"))
