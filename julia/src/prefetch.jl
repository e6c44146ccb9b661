# Prefetch groups: epochs decoded by native threads while the solver runs.

"""
    PrefetchGroup(members; depth = 2, max_bytes = nothing, workers = 1, inline = Threads.nthreads() == 1)
    PrefetchGroup(f, members; ...)

Decodes the coming epochs of several providers ahead of their consumer. The union of the members' refresh times gives the
epochs: epoch `k` begins at `boundaries(group)[k]`.

- `members`: a dictionary from names to [`Provider`](@ref)s with refresh times, of files or of readers
- `depth`: how many epochs are decoded or being decoded ahead
- `max_bytes`: an upper bound for their bytes; an epoch that is larger is decoded alone
- `workers`: native threads. They need no Julia threads
- `inline`: decode inside [`take!`](@ref take!(::PrefetchGroup, ::Integer)), without threads

[`start!`](@ref) declares the order, [`take!`](@ref take!(::PrefetchGroup, ::Integer)) delivers the next epoch,
[`cancel!`](@ref) drops pending work, [`stats`](@ref) counts. One task at a time uses a group; the second form closes it
when `f(group)` returns or throws.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
PrefetchGroup(Dict("winds" => Provider(file)); inline = false) do group
    start!(group, :forward)
    for k in eachindex(boundaries(group))
        take!(group, k) do epoch
            maximum(epoch["winds"].data["uwnd"])
        end
    end
end
```
"""
mutable struct PrefetchGroup <: Managed
    handle::UInt64
    keys::Vector{String}
    depth::Int
    inline::Bool
    # The most deliveries that may be alive before the collector is asked to find those that nobody uses.
    alive_limit::Int
    # Those of its members, which are open as long as it is in use.
    stores::Vector{Store}
    function PrefetchGroup(handle::UInt64, keys, depth, inline, stores)
        return manage(new(handle, keys, depth, inline, USUAL_ALIVE, stores))
    end
end

# With `depth` epochs ahead, this many delivered ones make `depth + 2`.
const USUAL_ALIVE = 2

# As long as delivered epochs are smaller than this together, Julia's collector finds them soon enough by itself.
const SMALL_BYTES = 16 * 2^20

function PrefetchGroup(
    members::AbstractDict;
    depth::Integer = 2,
    max_bytes::Union{Integer, Nothing} = nothing,
    workers::Integer = 1,
    inline::Bool = Threads.nthreads() == 1,
)
    depth >= 1 || throw(invalid("depth is $depth; a prefetch group holds at least 1 epoch ahead"))
    max_bytes === nothing || max_bytes >= 0 || throw(invalid("max_bytes is $max_bytes; give a size, or nothing"))
    workers >= 0 || throw(invalid("workers is $workers; give the number of native threads"))
    sorted = sort!([String(key) => member for (key, member) in members]; by = first)
    names, providers = map(first, sorted), Provider[provider(name, member) for (name, member) in sorted]
    allunique(names) || throw(invalid("two members of the group have the same name: $(join(repr.(names), ", "))"))
    options = json((keys = names, depth = depth, max_bytes = max_bytes, workers = workers, inline = inline))
    handles, group = UInt64[p.handle for p in providers], Ref{UInt64}(0)
    GC.@preserve providers check(forcings_group_build(options, sizeof(options), handles, length(handles), group))
    stores = Store[p.store for p in providers if p.store !== nothing]
    return PrefetchGroup(group[], names, depth, inline, stores)
end

provider(name, member::Provider) = member
provider(name, member) = throw(invalid("the member \"$name\" must be a Provider, not $(repr(member))"))

PrefetchGroup(f::Function, members::AbstractDict; options...) = with_closed(f, PrefetchGroup(members; options...))

"""
    boundaries(group) -> Vector{Float64}

The times at which the epochs begin, ascending: all refresh times of the members. The last epoch has no end.
"""
function boundaries(g::PrefetchGroup)
    count = Ref{UInt64}(0)
    check(forcings_group_boundaries(g, C_NULL, 0, count))
    times = Vector{Float64}(undef, count[])
    check(forcings_group_boundaries(g, times, length(times), count))
    return times
end

const ORDERS = (forward = 0, reverse = 1)

"""
    start!(group, order; from = nothing) -> group

Declares the order in which the epochs will be taken, and starts to decode. What an earlier order still had to do is
dropped.

- `order`: `:forward`, `:reverse` (the adjoint's way back), or a vector of epochs, which may repeat
- `from`: begin at the first entry equal to this epoch

Throws `Forcings.InvalidParameterError` for an empty order, an epoch that does not exist, or a `from` that is not in the
order.
"""
function start!(g::PrefetchGroup, order::Symbol; from::Union{Integer, Nothing} = nothing)
    haskey(ORDERS, order) || throw(invalid("an order is :forward, :reverse or a vector of epochs, not $(repr(order))"))
    return start_order!(g, ORDERS[order], UInt64[], from)
end

function start!(g::PrefetchGroup, order::AbstractVector{<:Integer}; from::Union{Integer, Nothing} = nothing)
    epochs = length(boundaries(g))
    for k in order
        1 <= k <= epochs || throw(invalid("there is no epoch $k; the group has the epochs 1 to $epochs"))
    end
    return start_order!(g, 2, UInt64[k - 1 for k in order], from)
end

function start_order!(g, kind, list, from)
    if from !== nothing
        epochs = length(boundaries(g))
        found = 1 <= from <= epochs && (kind != 2 || UInt64(from - 1) in list)
        found || throw(invalid("the order cannot start from epoch $from, which is not one of its entries"))
    end
    check(forcings_group_start(g, kind, list, length(list), from === nothing ? -1 : from - 1))
    return g
end

"""
    take!(group, k) -> Forcings.EpochSample
    take!(f, group, k)

The epoch `k`, which must be the next entry of the order; waits until it is decoded. While it waits, other tasks run and
Julia's collector is not held up. The second form calls `f(epoch)` and gives the memory back when that returns or throws:
nothing of the epoch may be used later. Samples of the first form are given back by Julia's collector, which `take!` calls
when more than `depth + 2` epochs are alive and large.

Throws `Forcings.GroupError` when `k` is not the next entry, before `start!`, behind the end, after a cancel or a close,
and the error of decoding, after which the order is over.
"""
function Base.take!(g::PrefetchGroup, k::Integer)
    k >= 1 || throw(invalid("there is no epoch $k; epochs count from 1"))
    collect_unused!(g)
    taken = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_group_try_take(g, k - 1, taken))
    if taken[] == C_NULL
        g.inline ? take_inline!(g, k, taken) : take_waiting!(g, k, taken)
    end
    owner = Owned(taken[], forcings_sample_release)
    n = length(g.keys)
    anchors, changed, start = Vector{Float64}(undef, n), Vector{Bool}(undef, n), Ref{Float64}(0)
    check(forcings_sample_members(owner, anchors, changed, n, start))
    return EpochSample(k, start[], g.keys, anchors, changed, owner)
end

function Base.take!(f::Function, g::PrefetchGroup, k::Integer)
    epoch = take!(g, k)
    try
        return f(epoch)
    finally
        release(epoch.owner)
    end
end

# Decoding counts as waiting; the library adds it up.
function take_inline!(g, k, taken)
    decoded = Ref{UInt8}(0)
    while taken[] == C_NULL
        check(forcings_group_decode_one(g, decoded))
        # Before the sample is taken: an interrupt that comes here must not lose it.
        yield()
        check(forcings_group_try_take(g, k - 1, taken))
    end
    return nothing
end

function take_waiting!(g, k, taken)
    asked() = (check(forcings_group_try_take(g, k - 1, taken)); taken[] != C_NULL)
    ready = Ref{UInt8}(0)
    slice(ms) = check(forcings_group_wait(g, k - 1, ms, ready))
    began = time_ns()
    try
        wait_until(asked, slice, g.handle)
    finally
        forcings_group_note_wait(g, (time_ns() - began) / 1.0e9)
    end
    return nothing
end

# The collector does not see the size of what Julia holds, so it is asked when the library counts too much. What is
# alive even after a full collection is in use: the limit then follows it, so that holding many epochs stays cheap.
function collect_unused!(g)
    exceeds(g) || return nothing
    GC.gc(false)
    exceeds(g) && GC.gc()
    g.alive_limit = max(USUAL_ALIVE, alive(g).slots)
    return nothing
end

function exceeds(g)
    slots, bytes = alive(g)
    return slots > g.alive_limit && bytes > SMALL_BYTES
end

# How many delivered epochs are alive, and the bytes of their data.
function alive(g::PrefetchGroup)
    slots, bytes = Ref{UInt64}(0), Ref{UInt64}(0)
    check(forcings_group_alive(g, slots, bytes))
    return (slots = Int(slots[]), bytes = Int(bytes[]))
end

"""
    isready(group, k) -> Bool

Whether `k` is the next entry of the order and `take!(group, k)` would not wait. It never decodes.
"""
function Base.isready(g::PrefetchGroup, k::Integer)
    k >= 1 || return false
    ready = Ref{UInt8}(0)
    check(forcings_group_is_ready(g, k - 1, ready))
    return ready[] != 0
end

"""
    cancel!(group; wait = false) -> group

Drops the order and all pending work. What is being decoded runs to its end and is thrown away; with `wait` this returns
after that. The group can be started again.
"""
function cancel!(g::PrefetchGroup; wait::Bool = false)
    background(job -> forcings_group_cancel(g, wait, job))
    return g
end

"""
    close(group)

Cancels, waits for the native threads and ends them. Samples stay valid. Closing twice does nothing.
"""
Base.close(g::PrefetchGroup) = background(job -> forcings_group_close(g, job))

"""
    stats(group) -> NamedTuple

What the group counted since it was made:

- `waited_s`: seconds in which `take!` waited; `decode_s`: seconds of decoding, summed over the workers
- `peak_bytes`: the most bytes held for coming epochs; `oversize_epochs`: epochs larger than `max_bytes`
- `epochs_decoded`, `samples_decoded`, `samples_reused`
- `overlap`: whether decoding runs beside the consumer
"""
function stats(g::PrefetchGroup)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_group_stats(g, table))
    return with_tables(table) do t
        (
            waited_s = t[:waited_s][1],
            decode_s = t[:decode_s][1],
            peak_bytes = t[:peak_bytes][1],
            epochs_decoded = t[:epochs_decoded][1],
            samples_decoded = t[:samples_decoded][1],
            samples_reused = t[:samples_reused][1],
            oversize_epochs = t[:oversize_epochs][1],
            overlap = t[:overlap][1],
        )
    end
end
