# Stores: creating, opening, closing, transactions.

"""
A store of time series, from [`create_store`](@ref), [`open_store`](@ref) or [`memory_store`](@ref). It may be used from
any task and thread.
"""
mutable struct Store <: Managed
    handle::UInt64
    path::Union{String, Nothing}
    read_only::Bool
    Store(handle, path, read_only) = manage(new(handle, path, read_only))
end

"""
    create_store(path; compression = nothing, durable = false, overwrite = false) -> Store
    create_store(f, path; ...)

Creates a store: the array file at `path` (NetCDF-4) and the catalog beside it. The second form closes the store when
`f(store)` returns or throws, and returns what `f` returned.

- `compression`: `"none"`, or `"deflate:LEVEL:shuffle"` and `"deflate:LEVEL:noshuffle"` with a level from 0 to 9; `nothing`
  means `"deflate:3:shuffle"`. Shuffling sorts the bytes of the values by their place, which helps most of them; levels 1
  to 3 are made for fast reading, 4 to 9 for small files
- `durable`: with `false` the disk holds what [`flush`](@ref), [`close`](@ref) or an outermost [`transaction`](@ref) has
  returned from; with `true` also every change outside a transaction, such as [`add!`](@ref), that has returned
- `overwrite`: replaces the store that is at `path`; a file that is no store is never replaced

Throws `Forcings.StoreExistsError`, `Forcings.StoreInUseError` or `Forcings.IoError`.

```julia
create_store(joinpath(mktempdir(), "system.nc")) do store
    add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
end
```
"""
function create_store(path::AbstractString; compression = nothing, durable::Bool = false, overwrite::Bool = false)
    full = store_path(path)
    options = (compression = optional_text("compression", compression), durable = durable, overwrite = overwrite)
    return new_store(forcings_store_create, full, options, false)
end

"""
    open_store(path; read_only = false, durable = false) -> Store
    open_store(f, path; ...)

Opens the store whose array file is `path`, and first undoes or finishes what a process that was killed had begun to
write. One process may write a store at a time, or many read it. `durable` is that of [`create_store`](@ref): nothing of
it is kept in the files. The second form closes the store when `f(store)` returns or throws, and returns what `f` returned.

Throws `Forcings.IoError` or `Forcings.NotFoundError` when half of it is missing, `Forcings.StoreInUseError` when another
handle holds it, `Forcings.IncompatibleFormatError` or `Forcings.FormatError` for other files.
"""
function open_store(path::AbstractString; read_only::Bool = false, durable::Bool = false)
    return new_store(forcings_store_open, store_path(path), (read_only = read_only, durable = durable), read_only)
end

"""
    memory_store() -> Store
    memory_store(f)

Creates a store in memory, which is gone when it is closed.
"""
function memory_store()
    handle = Ref{UInt64}(0)
    check(forcings_store_memory(handle))
    return Store(handle[], nothing, false)
end

# The place of a store. A link to the array file of a store stands for that store, unless a catalog of its own lies beside
# it: what an unfinished commit needs, and files that are replaced, must be found under one name.
function store_path(path)
    isempty(path) && throw(invalid("the path of a store is empty"))
    '\0' in path && throw(invalid("the path $(repr(path)) has a NUL character, which no file name may have"))
    full = abspath(path)
    catalog = full * ".sqlite"
    (islink(full) && isfile(full) && (islink(catalog) || !isfile(catalog))) || return full
    target = realpath(full)
    return isfile(target * ".sqlite") ? target : full
end

create_store(f::Function, path; options...) = with_closed(f, create_store(path; options...))
open_store(f::Function, path; options...) = with_closed(f, open_store(path; options...))
memory_store(f::Function) = with_closed(f, memory_store())

function new_store(call, path, options, read_only)
    text, handle = json(options), Ref{UInt64}(0)
    GC.@preserve path text background(job -> call(path, sizeof(path), text, sizeof(text), handle, job))
    return Store(handle[], path, read_only)
end

# Calls `f(x)` and closes `x` whatever happens.
function with_closed(f, x)
    try
        return f(x)
    finally
        close(x)
    end
end

"""
    close(store)

Writes what is not yet on disk and closes the store; what a transaction that is still open has changed is undone. Closing
a closed store does nothing.
"""
Base.close(store::Store) = background(job -> forcings_store_close(store, job))

"""
    flush(store)

Writes everything to disk.
"""
Base.flush(store::Store) = background(job -> forcings_store_flush(store, job))

"""
    transaction(f, store)

Calls `f(store)`: all that it changes is kept when it returns, and undone when it throws, removals included; the exception
goes on to the caller. Returns what `f` returned.

Any number of operations may stand inside, and each sees what was changed so far. Transactions nest: an inner one that
throws undoes its own changes only, and the disk holds all of them when the outermost one has returned. A transaction
belongs to the store: what other tasks change meanwhile is part of it.

```julia
store = memory_store()
transaction(store) do s
    id = add!(s, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
    Forcings.copy_series!(s, id, Owner(2, "Bus"))
end
```
"""
function transaction(f, store::Store)
    begun, committed = Ref(Int32(-1)), Ref(Int32(-1))
    try
        background(job -> forcings_store_begin(store, job), begun)
        result = f(store)
        background(job -> forcings_store_commit(store, job), committed)
        return result
    catch
        # An interrupted wait leaves a call behind that may have succeeded: what it began must end, and what it ended is
        # not ended twice.
        begun[] == 0 && committed[] != 0 && undo(store)
        rethrow()
    end
end

# Rolls back, whatever interrupts the wait for it. What went wrong first is what the caller hears of: an error here may
# only say that a commit that failed has ended the transaction already.
function undo(store)
    try
        background(job -> forcings_store_rollback(store, job), Ref(Int32(-1)))
    catch e
        e isa Union{ForcingsError, InterruptException} || rethrow()
    end
    return nothing
end
