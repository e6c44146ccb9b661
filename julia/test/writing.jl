# A sequence of changes to a store, counted from 1, and what a store holds after each of them. Shared by a writer that is
# killed and by the test that looks at what it has left.

series_of(owner) = SingleTimeSeries("load", DateTime(2030), Hour(1), owner .+ (1.0:2000.0))

# Twelve different changes, then again for other owners.
function perform(store, k)
    own, turn = 100k, k % 6
    if turn == 1
        add(store, own)
    elseif turn == 2
        add(store, own .+ (1:8))
    elseif turn == 3
        transaction(store) do s
            add(s, own)
            remove(s, own - 200)
            rename(s, own - 99, "moved")
        end
    elseif turn == 4
        remove(store, own - 198)
    elseif turn == 5
        rename(store, own - 297, "renamed")
    elseif k % 12 == 0
        compact(store)
    else
        flush(store)
    end
    return nothing
end

# Whether the disk holds a change, and all before it, when it has returned, durable or not.
commits(k) = k % 6 in (0, 3)

# The same on a model: the name of the series of each owner.
struct Model
    names::Dict{Int, String}
end

add(m::Model, owner) = m.names[owner] = "load"
add(m::Model, owners::AbstractVector) = foreach(owner -> add(m, owner), owners)
remove(m::Model, owner) = delete!(m.names, owner)
rename(m::Model, owner, name) = m.names[owner] = name
Forcings.transaction(f, m::Model) = f(m)
Base.flush(::Model) = nothing
compact(::Model) = nothing

add(store, owner) = add!(store, Owner(owner, "Bus"), series_of(owner))
add(store, owners::AbstractVector) = add!(store, [(Owner(owner, "Bus"), series_of(owner)) for owner in owners])
remove(store, owner) = remove!(store, id_of(store, owner))
rename(store, owner, name) = Forcings.rename(store, id_of(store, owner), name)
compact(store) = Forcings.compact!(store; physical = true)
id_of(store, owner) = list_series(store; owner = owner)[1].id

# The name and the values of each owner's series: in a store, and after the first `n` changes.
function contents(store::Forcings.Store)
    rows = list_series(store)
    return Dict(
        row.owner_id => (row.name, s.values)
        for (row, s) in zip(rows, read_series(store, [r.id for r in rows]))
    )
end

function contents(n::Integer)
    model = Model(Dict{Int, String}())
    foreach(k -> perform(model, k), 1:n)
    return Dict(owner => (name, series_of(owner).values) for (owner, name) in model.names)
end
