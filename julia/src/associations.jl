# Associations between entities: supplemental attributes that components have, and components that are parts of others.
# They are kept beside the series; neither touches the other.

# The two relations: their numbers in the library, what their ends are called, and which category of owner stands there.
const ATTACHMENTS = (number = Int32(0), from = (:component, :component), to = (:attribute, :attribute))
const LINKS = (number = Int32(1), from = (:parent, :component), to = (:child, :component))

"""
    Forcings.attach!(store, component, attribute)
    Forcings.attach!(store, pairs)

Attaches a supplemental attribute to a component, or many, given as `component => attribute`: all of them or, on an
error, none. Both are [`Owner`](@ref)s, the attribute of the category `:attribute`. Their types are kept; their ids
identify the association.

Throws `Forcings.DuplicateAssociationError` when the attribute is attached to the component already.

```julia
store = memory_store()
outage = Owner(7, "Outage"; category = :attribute)
Forcings.attach!(store, Owner(1, "Generator"), outage)
Forcings.attach!(store, [Owner(n, "Generator") => outage for n in 2:10])
Forcings.components_with(store, outage)
```
"""
attach!(store::Store, component::Owner, attribute::Owner) = attach!(store, [component => attribute])
attach!(store::Store, pairs) = associate(store, ATTACHMENTS, pairs)

"""
    Forcings.link!(store, parent, child)
    Forcings.link!(store, pairs)

Makes a component a child of another one, or many, given as `parent => child`: all of them or, on an error, none. Both
are [`Owner`](@ref)s. Their types are kept; their ids identify the link. A component may have several parents, and no
cycle is looked for.

Throws `Forcings.DuplicateAssociationError` when the one is a child of the other already.

```julia
store = memory_store()
plant = Owner(100, "Plant")
Forcings.link!(store, [plant => Owner(n, "Generator") for n in 1:3])
Forcings.children(store, plant)
```
"""
link!(store::Store, parent::Owner, child::Owner) = link!(store, [parent => child])
link!(store::Store, pairs) = associate(store, LINKS, pairs)

"""
    Forcings.detach!(store, component, attribute) -> Int
    Forcings.detach!(store; component, component_type, attribute, attribute_type) -> Int
    Forcings.detach!(store, :) -> Int

Detaches one attribute from one component, those that match, or all, and returns how many attachments went. Entities are
[`Owner`](@ref)s or ids; a type is a text or a vector of texts.

```julia
store = memory_store()
Forcings.attach!(store, Owner(1, "Generator"), Owner(7, "Outage"; category = :attribute))
Forcings.detach!(store; attribute_type = "Outage")
```
"""
function detach!(store::Store, component, attribute)
    return dissociate(store, ATTACHMENTS, filter_by(ATTACHMENTS, component, attribute))
end
detach!(store::Store, ::Colon) = dissociate(store, ATTACHMENTS, (;))
function detach!(store::Store; filters...)
    return dissociate(store, ATTACHMENTS, some_filter(attachment_filter(; filters...), "Forcings.detach!(store, :)"))
end

"""
    Forcings.unlink!(store, parent, child) -> Int
    Forcings.unlink!(store; parent, parent_type, child, child_type) -> Int
    Forcings.unlink!(store, :) -> Int

Removes one link, those that match, or all, and returns how many went. Entities are [`Owner`](@ref)s or ids; a type is a
text or a vector of texts.

```julia
store = memory_store()
Forcings.link!(store, Owner(100, "Plant"), Owner(1, "Generator"))
Forcings.unlink!(store, 100, 1)
```
"""
unlink!(store::Store, parent, child) = dissociate(store, LINKS, filter_by(LINKS, parent, child))
unlink!(store::Store, ::Colon) = dissociate(store, LINKS, (;))
function unlink!(store::Store; filters...)
    return dissociate(store, LINKS, some_filter(link_filter(; filters...), "Forcings.unlink!(store, :)"))
end

"""
    Forcings.attachments(store; component, component_type, attribute, attribute_type) -> Vector of named tuples

Lists attachments in the order in which they were made; each keyword narrows the list. Entities are [`Owner`](@ref)s or
ids; a type is a text or a vector of texts, of which an empty one matches nothing. Each row has `component_id,
component_type, attribute_id, attribute_type`.

See also [`Forcings.attached`](@ref), [`Forcings.components_with`](@ref), [`Forcings.count_attachments`](@ref).

```julia
store = memory_store()
Forcings.attach!(store, Owner(1, "Generator"), Owner(7, "Outage"; category = :attribute))
Forcings.attachments(store; component_type = ["Generator", "Storage"])
```
"""
function attachments(store::Store; filters...)
    return associated(store, ATTACHMENTS, attachment_filter(; filters...)) do table, i
        (
            component_id = table[:from_id][i],
            component_type = table[:from_type][i],
            attribute_id = table[:to_id][i],
            attribute_type = table[:to_type][i],
        )
    end
end

"""
    Forcings.links(store; parent, parent_type, child, child_type) -> Vector of named tuples

Lists links in the order in which they were made; each keyword narrows the list, as those of
[`Forcings.attachments`](@ref). Each row has `parent_id, parent_type, child_id, child_type`.

See also [`Forcings.children`](@ref), [`Forcings.parents`](@ref), [`Forcings.count_links`](@ref).

```julia
store = memory_store()
Forcings.link!(store, Owner(100, "Plant"), Owner(1, "Generator"))
Forcings.links(store; parent = 100)
```
"""
function links(store::Store; filters...)
    return associated(store, LINKS, link_filter(; filters...)) do table, i
        (
            parent_id = table[:from_id][i],
            parent_type = table[:from_type][i],
            child_id = table[:to_id][i],
            child_type = table[:to_type][i],
        )
    end
end

"""
    Forcings.attached(store, component; type = nothing) -> Vector of named tuples
    Forcings.attached(store; type = nothing, component_type = nothing)

The supplemental attributes of a component (an [`Owner`](@ref) or an id), or of any: each once, as `(id, type)`, in the
order in which they were attached. `type` and `component_type` are a text or a vector of texts.

```julia
store = memory_store()
Forcings.attach!(store, Owner(1, "Generator"), Owner(7, "Outage"; category = :attribute))
[attribute.id for attribute in Forcings.attached(store, 1; type = "Outage")]
```
"""
function attached(store::Store, component = nothing; type = nothing, component_type = nothing)
    return entities_at(:to, store, ATTACHMENTS, filter_by(ATTACHMENTS, component, nothing, component_type, type))
end

"""
    Forcings.components_with(store, attribute; type = nothing) -> Vector of named tuples
    Forcings.components_with(store; type = nothing, attribute_type = nothing)

The components that have a supplemental attribute (an [`Owner`](@ref) or an id), or any: each once, as `(id, type)`.

```julia
store = memory_store()
Forcings.attach!(store, Owner(1, "Generator"), Owner(7, "Outage"; category = :attribute))
Forcings.components_with(store; attribute_type = "Outage")
```
"""
function components_with(store::Store, attribute = nothing; type = nothing, attribute_type = nothing)
    return entities_at(:from, store, ATTACHMENTS, filter_by(ATTACHMENTS, nothing, attribute, type, attribute_type))
end

"""
    Forcings.children(store, parent; type = nothing) -> Vector of named tuples
    Forcings.children(store; type = nothing, parent_type = nothing)

The children of a component (an [`Owner`](@ref) or an id), or of any: each once, as `(id, type)`, in the order in which
they were linked.

```julia
store = memory_store()
Forcings.link!(store, Owner(100, "Plant"), Owner(1, "Generator"))
Forcings.children(store, 100)
```
"""
function children(store::Store, parent = nothing; type = nothing, parent_type = nothing)
    return entities_at(:to, store, LINKS, filter_by(LINKS, parent, nothing, parent_type, type))
end

"""
    Forcings.parents(store, child; type = nothing) -> Vector of named tuples
    Forcings.parents(store; type = nothing, child_type = nothing)

The parents of a component (an [`Owner`](@ref) or an id), or of any: each once, as `(id, type)`.

```julia
store = memory_store()
Forcings.link!(store, Owner(100, "Plant"), Owner(1, "Generator"))
Forcings.parents(store, 1)
```
"""
function parents(store::Store, child = nothing; type = nothing, child_type = nothing)
    return entities_at(:from, store, LINKS, filter_by(LINKS, nothing, child, type, child_type))
end

"""
    Forcings.isattached(store, component, attribute) -> Bool

Whether the attribute is attached to the component; both are [`Owner`](@ref)s or ids.
"""
function isattached(store::Store, component, attribute)
    return count_associations(store, ATTACHMENTS, filter_by(ATTACHMENTS, component, attribute)) > 0
end

"""
    Forcings.islinked(store, parent, child) -> Bool

Whether the one component is a child of the other; both are [`Owner`](@ref)s or ids.
"""
function islinked(store::Store, parent, child)
    return count_associations(store, LINKS, filter_by(LINKS, parent, child)) > 0
end

"""
    Forcings.count_attachments(store; filters...) -> Int

How many attachments match the filters of [`Forcings.attachments`](@ref).
"""
function count_attachments(store::Store; filters...)
    return count_associations(store, ATTACHMENTS, attachment_filter(; filters...))
end

"""
    Forcings.count_links(store; filters...) -> Int

How many links match the filters of [`Forcings.links`](@ref).
"""
count_links(store::Store; filters...) = count_associations(store, LINKS, link_filter(; filters...))

"""
    Forcings.attachment_types(store; filters...) -> (components, attributes)

The distinct types of the components and of the attributes of the attachments that match, each ascending. The filters are
those of [`Forcings.attachments`](@ref).
"""
function attachment_types(store::Store; filters...)
    from, to = associated_types(store, ATTACHMENTS, attachment_filter(; filters...))
    return (components = from, attributes = to)
end

"""
    Forcings.link_types(store; filters...) -> (parents, children)

The distinct types of the parents and of the children of the links that match, each ascending. The filters are those of
[`Forcings.links`](@ref).
"""
function link_types(store::Store; filters...)
    from, to = associated_types(store, LINKS, link_filter(; filters...))
    return (parents = from, children = to)
end

"""
    Forcings.replace_component!(store, old, new) -> (attachments, links)

Gives a component another id in every association, and returns how many of each kind had it; types stay as they are. Its
series are moved by [`Forcings.replace_owner!`](@ref).

Throws `Forcings.DuplicateAssociationError` when two associations would become one: then nothing changes.

```julia
store = memory_store()
Forcings.link!(store, Owner(100, "Plant"), Owner(1, "Generator"))
Forcings.replace_component!(store, 1, 101)
```
"""
function replace_component!(store::Store, old, new)
    from, to = required_id(:component, old, :component), required_id(:component, new, :component)
    return transaction(store) do s
        (
            attachments = replace_associated(s, ATTACHMENTS, 0, from, to),
            links = replace_associated(s, LINKS, 0, from, to),
        )
    end
end

"""
    Forcings.replace_attribute!(store, old, new) -> Int

Gives a supplemental attribute another id in every attachment, and returns how many had it; as
[`Forcings.replace_component!`](@ref).
"""
function replace_attribute!(store::Store, old, new)
    from, to = required_id(:attribute, old, :attribute), required_id(:attribute, new, :attribute)
    return replace_associated(store, ATTACHMENTS, 1, from, to)
end

function associate(store, relation, pairs)
    list = json([association_object(relation, pair) for pair in pairs])
    GC.@preserve list background(job -> forcings_relation_add(store, relation.number, list, sizeof(list), job))
    return nothing
end

function association_object(relation, pair)
    (from, from_category), (to, to_category) = relation.from, relation.to
    pair isa Union{Pair, Tuple{Any, Any}} && first(pair) isa Owner && last(pair) isa Owner ||
        throw(invalid("an association is $from => $to, both of them Owners, not $(repr(pair))"))
    a, b = pair
    return (
        from_id = required_id(from, a, from_category),
        from_type = a.type,
        to_id = required_id(to, b, to_category),
        to_type = b.type,
    )
end

function dissociate(store, relation, filter)
    return counted((s, rest...) -> forcings_relation_remove(s, relation.number, rest...), store, json(filter))
end

function count_associations(store, relation, filter)
    return counted((s, rest...) -> forcings_relation_count(s, relation.number, rest...), store, json(filter))
end

# `row(table, i)` for every association that matches.
function associated(row, store, relation, filter)
    text, table = json(filter), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve text background(job -> forcings_relation_list(store, relation.number, text, sizeof(text), table, job))
    return with_tables(found -> [row(found, i) for i in eachindex(found[:from_id])], table)
end

function entities_at(side, store, relation, filter)
    id, type = side === :from ? (:from_id, :from_type) : (:to_id, :to_type)
    rows = associated((table, i) -> (id = table[id][i], type = table[type][i]), store, relation, filter)
    return unique(row -> row.id, rows)
end

function associated_types(store, relation, filter)
    text, from, to = json(filter), Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve text background(
        job -> forcings_relation_types(store, relation.number, text, sizeof(text), from, to, job),
    )
    return with_tables((a, b) -> (a[:type], b[:type]), from, to)
end

function replace_associated(store, relation, category, old, new)
    changed = Ref{UInt64}(0)
    background(job -> forcings_relation_replace(store, relation.number, category, old, new, changed, job))
    return Int(changed[])
end

function attachment_filter(;
    component = nothing,
    component_type = nothing,
    attribute = nothing,
    attribute_type = nothing,
)
    return filter_by(ATTACHMENTS, component, attribute, component_type, attribute_type)
end

function link_filter(; parent = nothing, parent_type = nothing, child = nothing, child_type = nothing)
    return filter_by(LINKS, parent, child, parent_type, child_type)
end

# A filter of associations in the form of the library.
function filter_by(relation, from, to, from_types = nothing, to_types = nothing)
    return (
        from_id = optional_id(relation.from[1], from, relation.from[2]),
        from_types = type_list(relation.from[1], from_types),
        to_id = optional_id(relation.to[1], to, relation.to[2]),
        to_types = type_list(relation.to[1], to_types),
    )
end

function some_filter(filter, all)
    any(x -> x !== nothing, values(filter)) ||
        throw(invalid("no filter was given, which would remove all of them; to do that, call $all"))
    return filter
end

optional_id(what, x, category) = x === nothing ? nothing : required_id(what, x, category)

function required_id(what, x, category)
    x isa Integer && return int64("the id of an owner", x)
    x isa Owner || throw(invalid("the $what is an Owner or an id, not $(repr(x))"))
    x.category === category ||
        throw(invalid("the $what must be of the category $(repr(category)), which $(repr(x)) is not"))
    return x.id
end

type_list(_, ::Nothing) = nothing
type_list(_, type::Union{AbstractString, Symbol}) = [type]
function type_list(what, types)
    types isa AbstractVector && all(type -> type isa Union{AbstractString, Symbol}, types) && return types
    throw(invalid("the type of a $what is a text or a vector of texts, not $(repr(types))"))
end
