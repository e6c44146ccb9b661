# Owners of native objects, and their finalizers.

# An object that a handle of the library names. Passing the object itself to a native call keeps it reachable there.
abstract type Managed end

Base.cconvert(::Type{UInt64}, x::Managed) = x
Base.unsafe_convert(::Type{UInt64}, x::Managed) = getfield(x, :handle)::UInt64

# Closing may wait and write, which a finalizer must not: a native thread does it.
manage(x::Managed) = finalizer(y -> forcings_handle_release(y.handle), x)

function Base.isopen(x::Managed)
    open = Ref{UInt8}(0)
    check(forcings_handle_is_open(x, open))
    return open[] != 0
end

# A counted pointer of the library, given back once: by `release`, or when neither its owner nor an array that keeps it is
# used any more. It has no finalizer, so that those of others may refer to it (see `when_unused`).
mutable struct Held{F}
    address::Threads.Atomic{UInt}
    users::Threads.Atomic{Int}
    give_back::F
    # Read without synchronisation: a loop that asks for every element asks only once.
    isopen::Bool
end

# May be called on any thread and any number of times; takes no lock and does not yield.
function release(held::Held)
    held.isopen = false
    address = Threads.atomic_xchg!(held.address, UInt(0))
    address == 0 || held.give_back(Ptr{Cvoid}(address))
    return nothing
end

function leave(held::Held)
    Threads.atomic_sub!(held.users, 1) == 1 && release(held)
    return nothing
end

# Whom a counted pointer belongs to.
mutable struct Owned{F}
    held::Held{F}
    function Owned(pointer::Ptr{Cvoid}, give_back::F) where {F}
        held = Held{F}(Threads.Atomic{UInt}(UInt(pointer)), Threads.Atomic{Int}(1), give_back, true)
        return finalizer(owned -> leave(owned.held), new{F}(held))
    end
end

release(owned::Owned) = release(owned.held)

# An array over memory of the pointer, which now stays at least as long as the array.
function keep(owned::Owned, array::Array)
    held = owned.held
    GC.@preserve owned Threads.atomic_add!(held.users, 1)
    return when_unused(() -> leave(held), array)
end

Base.isopen(owned::Owned) = owned.held.address[] != 0
Base.cconvert(::Type{Ptr{Cvoid}}, owned::Owned) = owned
Base.unsafe_convert(::Type{Ptr{Cvoid}}, owned::Owned) = Ptr{Cvoid}(owned.held.address[])

# A handle or an address means nothing in another process, and a copy in this one would be closed with its original.
const Native = Union{Managed, Owned}

function Base.deepcopy_internal(x::Native, ::IdDict)
    throw(invalid("$(thing(x)) belongs to the library and cannot be copied"))
end

function Serialization.serialize(::Serialization.AbstractSerializer, x::Native)
    throw(invalid("$(thing(x)) cannot be sent to another process or saved; open it where it is used"))
end

thing(x::Managed) = "a $(nameof(typeof(x)))"
thing(::Owned) = "a sample"

"""
    Forcings.live_count() -> (handles, pointers)

How many native objects are alive: handles (stores, readers, providers, groups) that are not closed, and results that
Julia still owns. For tests and for finding leaks.
"""
function live_count()
    handles, pointers = Ref{UInt64}(0), Ref{UInt64}(0)
    check(forcings_live_count(handles, pointers))
    return (handles = Int(handles[]), pointers = Int(pointers[]))
end
