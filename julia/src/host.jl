# Samples that Julia makes for a prefetch group: of members of its own, and by transforms. The library knows the values by
# numbers.

mutable struct Values
    lock::ReentrantLock
    all::Dict{UInt64, Any}
    last::UInt64
end

# Values and exceptions that the library refers to.
const HOST_VALUES = Values(ReentrantLock(), Dict{UInt64, Any}(), 0)

function keep_value(value)
    return lock(HOST_VALUES.lock) do
        number = HOST_VALUES.last += 1
        HOST_VALUES.all[number] = value
        number
    end
end

kept_value(number) = lock(() -> HOST_VALUES.all[number], HOST_VALUES.lock)

# Forgets the values that the library has let go of.
function forget_values()
    numbers, count = Vector{UInt64}(undef, 64), Ref{UInt64}(0)
    while true
        check(forcings_host_drain(numbers, length(numbers), count))
        count[] == 0 && break
        lock(() -> foreach(n -> delete!(HOST_VALUES.all, n), view(numbers, 1:Int(count[]))), HOST_VALUES.lock)
    end
    return nothing
end

# What Julia code threw in place of a sample. An error without a value was raised by nobody's code.
function host_error(number::UInt64)
    return lock(() -> pop!(HOST_VALUES.all, number, InternalError("the error $number is gone")), HOST_VALUES.lock)
end

# What the tasks need of a group that has samples made in Julia. It is not the group, which they must not keep alive.
struct Host
    group::UInt64
    members::Vector{Member}
    windows::Any
    transform::Any
    # Whether tasks of their own make the samples; otherwise `take!` does.
    spawns::Bool
    # Counts the orders: a task serves one of them.
    order::Threads.Atomic{Int}
    # Bytes of decoded samples that results of transforms may refer to, since the collector was last asked to find out.
    kept::Threads.Atomic{Int}
end

function Host(group, members, windows, transform, spawns)
    return Host(group, members, windows, transform, spawns, Threads.Atomic{Int}(0), Threads.Atomic{Int}(0))
end

# Starts the tasks of a new order. Those of the one before end when they notice.
function host_order(h::Host, workers)
    order = Threads.atomic_add!(h.order, 1) + 1
    h.spawns || return nothing
    foreach(_ -> Threads.@spawn(serve(h, order)), 1:min(workers, Threads.nthreads() - 1))
    return nothing
end

const MOST_MOVES = 100

# What a task does: makes samples until its order is over. It waits natively, since libuv's events are served by the first
# thread, which may be busy; and it leaves that thread, where such a wait would hold up everything else.
function serve(h::Host, order, moves = 0)
    if Threads.threadid() == 1 && moves < MOST_MOVES
        Threads.@spawn serve(h, order, moves + 1)
        return nothing
    end
    work = Ref{Int32}(0)
    while h.order[] == order
        # The group may be closed at any time.
        forcings_group_wait_host(h.group, SLICE_MS, work) == 0 || return nothing
        work[] == HOST_OVER && return nothing
        work[] == HOST_QUEUED && make_one(h)
        GC.safepoint()
        yield()
    end
    return nothing
end

const HOST_QUEUED = 1
const HOST_OVER = 2

# Makes the sample that is needed first; false if none is.
function make_one(h::Host)
    job, member, epoch = Ref{UInt64}(0), Ref{UInt64}(0), Ref{UInt64}(0)
    time, sample = Ref{Float64}(0), Ref{Ptr{Cvoid}}(C_NULL)
    forcings_group_next_host_job(h.group, job, member, epoch, time, sample) == 0 || return false
    job[] == 0 && return false
    try
        result, bytes = make(h, h.members[member[] + 1], time[], sample[])
        forcings_host_complete(job[], keep_value(result), bytes)
    catch e
        text = sprint(showerror, e)
        forcings_host_fail(job[], keep_value(e), text, sizeof(text))
        # An interrupt is meant for whoever waits for the sample.
        e isa InterruptException && !h.spawns && rethrow()
    end
    forget_values()
    return true
end

function make(h::Host, member, time, pointer)
    if member.by_julia
        data = h.windows === nothing ?
            sample_at(member.provider, time) :
            sample_windows_at(member.provider, time, h.windows)
        bytes = data_bytes(data)
        return (h.transform === nothing ? data : h.transform(member.key, data)), bytes
    end
    owner = Owned(pointer, forcings_sample_release)
    data = h.windows === nothing ? Dataset(owner, 0) : [Dataset(owner, i - 1) for i in 1:length(h.windows)]
    result = h.transform(member.key, data)
    if is_plain(result)
        release(owner)
    else
        Threads.atomic_add!(h.kept, data_bytes(data))
    end
    return result, 0
end

# Whether nothing in `x` can refer to a field.
is_plain(x) = isbits(x)
is_plain(::Union{AbstractString, Symbol, Nothing, Missing}) = true
is_plain(x::Array{T}) where {T} = isbitstype(T) || all(i -> isassigned(x, i) && is_plain(x[i]), eachindex(x))
is_plain(x::Union{Tuple, NamedTuple}) = all(is_plain, values(x))
is_plain(x::AbstractDict) = all(((key, value),) -> is_plain(key) && is_plain(value), x)

# The bytes of data: of fields those of their values, of anything else what Julia counts.
data_bytes(data) = Base.summarysize(data)
data_bytes(f::Field) = sizeof(f.array)
data_bytes(data::Dataset) = mapreduce(data_bytes, +, values(data); init = 0)
data_bytes(list::Vector{Dataset}) = mapreduce(data_bytes, +, list; init = 0)
