# Whose series are, and the features that tell them apart.

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
        return new(int64("the id of an owner", id), type, category)
    end
end

function category_name(category)
    category === :component && return "Component"
    category === :attribute && return "SupplementalAttribute"
    throw(invalid("the category of an owner is :component or :attribute, not $(repr(category))"))
end

category_symbol(name) = name == "Component" ? :component : :attribute

owner_object(o::Owner) = (id = o.id, type = o.type, category = category_name(o.category))

feature(value::Union{AbstractString, AbstractFloat}) = value
feature(value::Bool) = value
feature(value::Symbol) = String(value)
feature(value) = throw(invalid("a feature must be a number, a Bool or a text, not $(repr(value))"))
feature(value::Integer) = int64("the feature", value)

function int64(what, value::Integer)
    typemin(Int64) <= value <= typemax(Int64) || throw(invalid("$what, $value, does not fit into an Int64"))
    return Int64(value)
end

function feature_object(features::Union{NamedTuple, AbstractDict})
    object = Dict(string(key) => feature(value) for (key, value) in pairs(features))
    # A dictionary may have a text and a symbol that are the same name.
    length(object) == length(features) || throw(invalid("two features have the same name: $(repr(features))"))
    return object
end
function feature_object(features)
    throw(invalid("features are a named tuple, as in (scenario = \"high\",), or a dictionary, not $(repr(features))"))
end

id_vector(ids::Vector{Int64}) = ids
id_vector(ids) = Int64[int64("an id", id) for id in ids]

optional_text(what, x::Union{AbstractString, Symbol, Nothing}) = x
optional_text(what, x) = throw(invalid("$what must be a text, not $(repr(x))"))
