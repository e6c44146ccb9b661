# Prefetch groups: epochs decoded by native threads while the solver runs.

"""
    PrefetchGroup(members; depth = 2, workers = 1, options...)
    PrefetchGroup(f, members; ...)

Decodes the coming epochs of several providers ahead of their consumer. The union of the members' refresh times gives the
epochs: epoch `k` begins at `boundaries(group)[k]`.

- `members`: a dictionary from names to [`Provider`](@ref)s with refresh times, of files or of readers, or to objects of a
  type of your own that answers like one ([`Forcings.anchor`](@ref) tells how)
- `depth`: how many epochs are decoded or being decoded ahead. `:auto` takes as many as it needs not to make you wait, and
  no more, within `max_bytes`, which has to be given
- `max_bytes`: an upper bound for their bytes; an epoch that is larger is decoded alone
- `workers`: native threads. They need no Julia threads
- `fetch_ahead`: for how many epochs behind those the files behind URLs are downloaded already; as many as `depth`
- `windows`: a vector of [`DimWindow`](@ref)s. The data of every member are then a vector of datasets, one for each window,
  decoded together: [`sample_windows_at`](@ref)
- `transform`: a function of a member's name and its data, whose result takes the place of the data. It runs on Julia tasks
  ahead of you when Julia has several threads, and inside `take!` when it has one; what it throws, `take!` throws. The data
  are valid while it runs, and as long as its result refers to them. [`Forcings.with_transform`](@ref) is its do-block form
- `clip`: `(t0, tf)` keeps to the epochs between two times. The first boundary is then `t0`, unless the members begin later
- `eltype`: `Float32` decodes the floating-point data of files to single precision, at half the memory; without it each
  provider has its own
- `inline`: decode inside [`take!`](@ref take!(::PrefetchGroup, ::Integer)), without threads. That is so if Julia has one
  thread, unless you say `false`: workers decode beside a single Julia thread, too
- `spill`, `spill_bytes`: a folder, and how many bytes may be written there. Decoded samples go to a temporary file in it, and
  a later sweep, such as the adjoint's way back, reads them from there instead of decoding them, with the same bits. When no
  more fits, the others are decoded again. The file is gone with the group, and is not for members of a type of your own
- `trace`: record what is decoded, waited for and taken when, for [`Forcings.trace`](@ref)

[`start!`](@ref) declares the order, [`take!`](@ref take!(::PrefetchGroup, ::Integer)) delivers the next epoch,
[`cancel!`](@ref) drops pending work, [`stats`](@ref) counts. One task at a time uses a group; the second form closes it
when `f(group)` returns or throws.

Throws `Forcings.InvalidParameterError` without members, for one without refresh times, for members of different calendars,
and for options that make no sense; `Forcings.IoError` for a folder that cannot be written to; `Forcings.SelectionError` for windows that cannot be bound to a member.

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
mutable struct PrefetchGroup{T} <: Managed
    handle::UInt64
    keys::Vector{String}
    depth::Union{Int, Symbol}
    workers::Int
    inline::Bool
    # The datasets of a member, if there are windows.
    windows::Union{Int, Nothing}
    # What makes samples in Julia, if something does.
    host::Union{Host, Nothing}
    # The most deliveries that may be alive before the collector is asked to find those that nobody uses.
    alive_limit::Int
    # Those of its members, which are open as long as it is in use.
    stores::Vector{Store}
    function PrefetchGroup{T}(handle::UInt64, keys, depth, workers, inline, windows, host, stores) where {T}
        return manage(new{T}(handle, keys, depth, workers, inline, windows, host, USUAL_ALIVE, stores))
    end
end

# With `depth` epochs ahead, this many delivered ones make `depth + 2`.
const USUAL_ALIVE = 2

# As long as delivered epochs are smaller than this together, Julia's collector finds them soon enough by itself.
const SMALL_BYTES = 16 * 2^20

function PrefetchGroup(
    members::AbstractDict;
    depth::Union{Integer, Symbol} = 2,
    max_bytes::Union{Integer, Nothing} = nothing,
    fetch_ahead::Union{Integer, Nothing} = nothing,
    workers::Integer = 1,
    windows::Union{AbstractVector, Tuple, Nothing} = nothing,
    transform = nothing,
    clip::Union{Tuple, Nothing} = nothing,
    eltype::Union{Type, Nothing} = nothing,
    inline::Bool = Threads.nthreads() == 1,
    trace::Bool = false,
    spill::Union{AbstractString, Nothing} = nothing,
    spill_bytes::Union{Integer, Nothing} = nothing,
)
    check_depth(depth, max_bytes)
    max_bytes === nothing || max_bytes >= 0 || throw(invalid("max_bytes is $max_bytes; give a size, or nothing"))
    workers >= 0 || throw(invalid("workers is $workers; give the number of native threads"))
    fetch_ahead === nothing ||
        fetch_ahead >= 0 ||
        throw(invalid("fetch_ahead is $fetch_ahead; give a number of epochs"))
    clip === nothing || length(clip) == 2 || throw(invalid("clip is (t0, tf), two times, not $(repr(clip))"))
    eltype in (nothing, Float64, Float32) || throw(invalid("eltype is Float64 or Float32, not $eltype"))
    spill_options = check_spill(spill, spill_bytes)
    span = clip === nothing ? nothing : map(time_number, clip)
    selections = windows === nothing ? nothing : [window_object(w) for w in windows]
    list = members_of(members, windows, span)
    # Groups that nobody closed have let go of values, too.
    forget_values()
    group = Ref{UInt64}(0)
    try
        options = json((
            keys = [member.key for member in list],
            depth = depth === :auto ? nothing : depth,
            auto_depth = depth === :auto,
            max_bytes = max_bytes,
            fetch_ahead = fetch_ahead,
            workers = workers,
            inline = inline,
            windows = selections,
            clip = span,
            eltype = eltype === nothing ? nothing : lowercase(string(eltype)),
            trace = trace,
            spill = spill_options,
            finish_on_host = transform !== nothing,
        ))
        handles = UInt64[member.handle for member in list]
        GC.@preserve list check(forcings_group_build(options, sizeof(options), handles, length(handles), group))
    finally
        release_members(list)
    end
    host = nothing
    if transform !== nothing || any(member -> member.by_julia, list)
        host = Host(group[], list, windows, transform, !inline && Threads.nthreads() > 1)
    end
    T = host !== nothing ? Any : windows === nothing ? Dataset : Vector{Dataset}
    number = windows === nothing ? nothing : length(windows)
    stores = Store[m.provider.store for m in list if m.provider isa Provider && m.provider.store !== nothing]
    return PrefetchGroup{T}(group[], map(m -> m.key, list), depth, workers, inline, number, host, stores)
end

function check_depth(depth, max_bytes)
    if depth isa Symbol
        depth === :auto || throw(invalid("depth is a number of epochs or :auto, not $(repr(depth))"))
        max_bytes === nothing && throw(invalid("depth = :auto takes what memory it gets; give max_bytes, too"))
    elseif depth < 1
        throw(invalid("depth is $depth; a prefetch group holds at least 1 epoch ahead"))
    end
    return nothing
end

function check_spill(folder, bytes)
    (folder === nothing) == (bytes === nothing) ||
        throw(invalid("spill is a folder, and spill_bytes what may be written there; give both or none"))
    folder === nothing && return nothing
    bytes >= 0 || throw(invalid("spill_bytes is $bytes; give a size"))
    return (folder = abspath(folder), bytes = bytes)
end

PrefetchGroup(f::Function, members::AbstractDict; options...) = with_closed(f, PrefetchGroup(members; options...))

"""
    Forcings.with_transform(f, members; options...) -> PrefetchGroup

The group of [`PrefetchGroup`](@ref)`(members; transform = f, options...)`, for `f` as a do-block of a member's name and its
data.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
group = Forcings.with_transform(Dict("winds" => Provider(file)); depth = 3) do name, data
    sum(abs2, data["uwnd"])
end
start!(group, :reverse)
energy = take!(group, length(boundaries(group)))["winds"].data
close(group)
```
"""
with_transform(f, members::AbstractDict; options...) = PrefetchGroup(members; transform = f, options...)

"""
    boundaries(group) -> Vector{Float64}

The times at which the epochs begin, ascending: all refresh times of the members, within `clip` if the group has one. The
last epoch has no end, or that of the clip.
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
    g.host === nothing || host_order(g.host, g.workers)
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
function Base.take!(g::PrefetchGroup{T}, k::Integer) where {T}
    k >= 1 || throw(invalid("there is no epoch $k; epochs count from 1"))
    check_outside(g, "take from")
    collect_unused!(g)
    taken = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_group_try_take(g, k - 1, taken))
    if taken[] == C_NULL
        g.inline ? take_inline!(g, k, taken) : take_waiting!(g, k, taken)
    end
    owner = Owned(taken[], forcings_sample_release)
    n = length(g.keys)
    anchors, changed, start = Vector{Float64}(undef, n), Vector{Bool}(undef, n), Ref{Float64}(0)
    first, numbers = Vector{UInt64}(undef, n), Vector{UInt64}(undef, n)
    check(forcings_sample_members(owner, anchors, changed, first, numbers, n, start))
    made = g.host === nothing ?
        NOTHING_MADE :
        Any[number == 0 ? nothing : Made(kept_value(number)) for number in numbers]
    if g.host !== nothing
        # The library need not remember what Julia has now.
        all(number -> number != 0, numbers) && release(owner)
        forget_values()
    end
    return EpochSample{T}(k, start[], g.keys, anchors, changed, first, made, g.windows, owner)
end

const NOTHING_MADE = Any[]

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
        began = time_ns()
        if g.host !== nothing && make_one(g.host)
            forcings_group_note_wait(g, k - 1, time_ns() - began)
        else
            check(forcings_group_decode_one(g, decoded))
        end
        # Before the sample is taken: an interrupt that comes here must not lose it.
        yield()
        check(forcings_group_try_take(g, k - 1, taken))
    end
    return nothing
end

function take_waiting!(g, k, taken)
    makes = g.host !== nothing && !g.host.spawns
    asked() = (check(forcings_group_try_take(g, k - 1, taken)); taken[] != C_NULL)
    function asked_or_made()
        while !asked()
            makes && make_one(g.host) || return false
        end
        return true
    end
    ready = Ref{UInt8}(0)
    slice(ms) = check(forcings_group_wait(g, k - 1, ms, ready))
    began = time_ns()
    try
        wait_until(asked_or_made, slice, g.handle)
    finally
        forcings_group_note_wait(g, k - 1, time_ns() - began)
    end
    return nothing
end

# The collector does not see the size of what Julia holds, so it is asked when the library counts too much. What is
# alive even after a full collection is in use: the limit then follows it, so that holding many epochs stays cheap.
function collect_unused!(g)
    g.host === nothing || collect_inputs!(g.host)
    exceeds(g) || return nothing
    GC.gc(false)
    exceeds(g) && GC.gc()
    g.alive_limit = max(USUAL_ALIVE, alive(g).slots)
    return nothing
end

# Results of transforms may refer to what they were made of, which only the collector finds out: a full collection each
# time, since what outlives a few takes is old by then.
function collect_inputs!(h::Host)
    if h.kept[] > 4 * SMALL_BYTES
        Threads.atomic_xchg!(h.kept, 0)
        GC.gc()
    end
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
    wait && check_outside(g, "cancel and wait for")
    end_work(job -> forcings_group_cancel(g, wait, job), g)
    return g
end

"""
    close(group)

Cancels, waits for the native threads and ends them. Samples stay valid. Closing twice does nothing.
"""
function Base.close(g::PrefetchGroup)
    check_outside(g, "close")
    end_work(job -> forcings_group_close(g, job), g)
    return nothing
end

# What may wait until tasks have made the samples that they are at.
function end_work(call, g)
    g.host === nothing && return background(call)
    background(call; alone = false)
    forget_values()
    return nothing
end

# Code that makes a sample cannot wait for that sample.
function check_outside(g, verb)
    if g.host !== nothing && is_making(g.host)
        throw(invalid("a transform or a member's method cannot $verb its own group"))
    end
    return nothing
end
