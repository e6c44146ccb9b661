# Prefetch groups for so many seconds (the argument; a second one repeats a seed): two at once, with random orders, options, cancels, errors, interrupts and
# closes, also by finalizers, while Julia's collector runs again and again. Every sample is compared. In the end nothing may
# be left. Prints what was done.

include("common.jl")
include("groups.jl")

using Random

const SECONDS = parse(Float64, ARGS[1])
const SEED = length(ARGS) > 1 ? parse(Int, ARGS[2]) : rand(1:10^6)
println("seed $SEED")
const RANDOM = MersenneTwister(SEED)

const TIMES = refresh_times(Provider(WINDS))
const EPOCHS = length(TIMES)
const WINDOWS = [DimWindow("lat" => (1, 3)), DimWindow("lon" => [5, 0])]
const WHOLE = [contents(sample_at(Provider(WINDS), t)) for t in TIMES]
const PARTS = [contents(sample_windows_at(Provider(WINDS), t, WINDOWS)) for t in TIMES]
const LOADS = [0.0 + 1000 * (k - 1) for k in 1:6]

chance(p) = rand(RANDOM) < p

# What a group is made of, and what a sample of each member has to be.
function random_group()
    windows, transformed, damaged, own = chance(0.3), chance(0.4), chance(0.2), chance(0.4)
    members = Dict{String, Any}("winds" => Provider(WINDS))
    own &&
        (
            members["wave"] = Wave(
                TIMES;
                latency = 0.002,
                fails = chance(0.3) ? [TIMES[rand(RANDOM, 1:EPOCHS)]] : Float64[],
            )
        )
    # Its times are others: then the epochs are more, and these members stand alone.
    damaged && !windows && (members = Dict{String, Any}("load" => Provider(joinpath(DATA, "damaged.nc"))))
    fails = chance(0.2) ? rand(RANDOM, 1:EPOCHS) : 0
    number = Threads.Atomic{Int}(0)
    transform(name, data) = begin
        Threads.atomic_add!(number, 1) == fails && error("the transform has had enough")
        chance_to_wait()
        # A result that refers to its input, or a copy.
        isodd(number[]) ? Ref{Any}(data) : Ref{Any}(contents(data))
    end
    auto = chance(0.2)
    group = PrefetchGroup(
        members;
        depth = auto ? :auto : rand(RANDOM, 1:4),
        max_bytes = auto ? 10^6 : rand(RANDOM, (nothing, 1, 3_000)),
        workers = rand(RANDOM, 1:3),
        inline = chance(0.3),
        windows = windows ? WINDOWS : nothing,
        transform = transformed ? transform : nothing,
        trace = chance(0.1),
    )
    return group, windows
end

chance_to_wait() = rand() < 0.2 ? (pass_time(0.001 * rand()); yield()) : nothing

unwrap(data::Ref) = data[]
unwrap(data) = data

function right(key, data, k, windows)
    found = unwrap(data)
    key == "wave" &&
        return windows ? found == [wave(0.1, TIMES[k])[1:i] for i in 1:2] : same(found, wave(0.1, TIMES[k]))
    key == "load" && return found["load"][1] == LOADS[k]
    wanted = windows ? PARTS[k] : WHOLE[k]
    return same_contents(found isa Union{Dict, Vector{<:Dict}} ? found : contents(found), wanted)
end

# Errors that are thrown on purpose.
expected(e) = e isa
    Union{Forcings.FormatError, DomainError, Forcings.GroupError, Forcings.ClosedError, InterruptException} ||
    e isa ErrorException && occursin("had enough", e.msg)

const DONE = Dict{Symbol, Int}()
const DONE_LOCK = ReentrantLock()
note(what) = lock(() -> DONE[what] = get(DONE, what, 0) + 1, DONE_LOCK)

function check_epoch(group, k, windows)
    check(epoch) = all(key -> right(key, epoch[key].data, k, windows), keys(epoch)) || error("epoch $k is wrong")
    chance(0.5) ? take!(check, group, k) : check(take!(group, k))
    note(:taken)
    return nothing
end

# One order of a group, to its end or until something happens.
function sweep(group, windows)
    n = length(boundaries(group))
    order = rand(RANDOM, (:forward, :reverse, rand(RANDOM, 1:n, rand(RANDOM, 1:20))))
    entries = order === :forward ? (1:n) : order === :reverse ? (n:-1:1) : order
    start!(group, order)
    stop = chance(0.4) ? rand(RANDOM, 1:length(entries)) : typemax(Int)
    for (i, k) in enumerate(entries)
        i == stop && return cancel_or_close(group)
        chance(0.1) && isready(group, k)
        check_epoch(group, k, windows)
    end
    note(:swept)
    return nothing
end

function cancel_or_close(group)
    action = rand(RANDOM, (:cancelled, :waited, :closed, :left))
    action === :cancelled && cancel!(group)
    action === :waited && cancel!(group; wait = true)
    action === :closed && close(group)
    note(action)
    return nothing
end

# A group for a while; it is closed, or left to the collector.
function use_group()
    group, windows = random_group()
    for _ in 1:rand(RANDOM, 1:4)
        try
            if chance(0.2)
                task = @async sweep(group, windows)
                foreach(_ -> yield(), 1:rand(RANDOM, 1:10))
                istaskdone(task) || (schedule(task, InterruptException(); error = true); note(:interrupted))
                wait(task)
            else
                sweep(group, windows)
            end
        catch e
            e isa TaskFailedException && (e = failure(e))
            expected(e) || rethrow()
            note(Symbol(nameof(typeof(e))))
        end
        isopen(group) || return nothing
    end
    chance(0.5) ? close(group) : note(:finalized)
    return nothing
end

failure(e) = e.task.exception

function worker(until)
    while time() < until
        use_group()
        note(:groups)
        chance(0.3) && GC.gc(chance(0.1))
        yield()
    end
    return nothing
end

stop = time() + SECONDS
# Two groups in use at a time, by tasks that take turns.
@sync for _ in 1:2
    @async worker(stop)
end
foreach(((what, n),) -> println(rpad(what, 20), n), sort!(collect(DONE); by = first))
nothing_left() || exit(1)
println("nothing left")
