# Windows: which part of named dimensions a provider reads.

"""
    DimWindow("dim" => selector, ...)

Part of a grid, by the names of its dimensions, wherever they stand in a variable. In a selector everything counts from
0, as in the files' own conventions:

- `(start, stop)` or `(start, stop, step)`: the indices from `start` up to, not including, `stop`
- a vector of indices: these, in this order, repeats kept; `[1150, 1151, 0, 1]` is a window across a seam
- `:all`: the whole dimension, as for every dimension that is not named

A dimension is never dropped: one index leaves an extent of 1. A Julia range is refused, since it would count from 1 and
include its end.

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

# The selector in the form of the wire.
function selector(name, s::Union{NTuple{2, Integer}, NTuple{3, Integer}})
    all(>=(0), s) || throw(invalid("the selector $s of \"$name\" has a negative number; indices count from 0"))
    return (slice = Int[s...],)
end

function selector(name, s::AbstractVector{<:Integer})
    all(>=(0), s) || throw(invalid("the selector of \"$name\" has a negative index; indices count from 0"))
    return (indices = Int[s...],)
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
selector(name, s::Symbol) = s === :all ? "all" : throw(bad_selector(name, s))
selector(name, s) = throw(bad_selector(name, s))

function bad_selector(name, s)
    return invalid(
        "the selector $(repr(s)) of \"$name\" is none of (start, stop), (start, stop, step), a vector of indices, :all",
    )
end

window_object(window::DimWindow) = (dims = window.dims,)
window_object(window) = throw(invalid("a window is a DimWindow, not $(repr(window))"))
