# What the tests of prefetch groups share: members in Julia, and the check that nothing is left behind. Needs common.jl.

# A member of a type of its own: `wave(s, t)` at its refresh times, after a while. At the times in `fails` it throws.
struct Wave
    times::Vector{Float64}
    latency::Float64
    fails::Vector{Float64}
end

Wave(times; latency = 0.0, fails = Float64[]) = Wave(collect(times), latency, fails)

wave(x, t) = [sin(x * i + t / 7200) for i in 1:8]

Forcings.refresh_times(w::Wave) = w.times
function Forcings.sample_at(w::Wave, t)
    at = Forcings.anchor(w, t)
    pass_time(rand() * w.latency)
    at in w.fails && throw(DomainError(at, "the wave breaks"))
    return wave(0.1, at)
end
Forcings.sample_windows_at(w::Wave, t, windows) = [Forcings.sample_at(w, t)[1:i] for i in eachindex(windows)]

# Computes for so long.
function pass_time(seconds)
    stop = time_ns() + 1.0e9 * seconds
    while time_ns() < stop
        GC.safepoint()
    end
    return nothing
end

# What one can keep of data, with the bits of every array.
contents(data::Forcings.Dataset) = Dict(name => Array(data[name]) for name in keys(data))
contents(data::Vector{Forcings.Dataset}) = map(contents, data)
contents(data) = copy(data)

same_contents(a::Dict, b::Dict) = keys(a) == keys(b) && all(key -> same_contents(a[key], b[key]), collect(keys(a)))
same_contents(a::Vector{<:Dict}, b::Vector{<:Dict}) = length(a) == length(b) && all(map(same_contents, a, b))
same_contents(a::AbstractArray, b::AbstractArray) = same(a, b)

# Whether the library has nothing of Julia's any more, nor Julia of the library's.
function nothing_left()
    for _ in 1:20
        counts, values = live_now()
        counts.handles <= LIVE_BEFORE.handles && counts.pointers <= LIVE_BEFORE.pointers && values == 0 && return true
        sleep(0.05)
    end
    @info "left" Forcings.HOST_VALUES.all Forcings.live_count() LIVE_BEFORE
    return false
end

function live_now()
    # A thread keeps the last task it ran.
    Threads.@threads for _ in 1:Threads.nthreads() end
    GC.gc()
    Forcings.forget_values()
    return Forcings.live_count(), length(Forcings.HOST_VALUES.all)
end

# Files that ran before in this process may hold what they made.
const LIVE_BEFORE = (live_now(); sleep(0.1); live_now()[1])

# Whether Julia's tasks make samples beside the consumer, or `take!` does.
const KINDS = Threads.nthreads() > 1 ? (false, true) : (true, false)
