# What a prefetch group costs a solver in Julia: the time of a `take!` that finds its epoch ready, and the share of a sweep
# that is waited. One JSON object per line; run by `deps/bench.py`, with two Julia threads.

using Dates, Forcings

const WINDS = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")

function report(row, ours_s, bound_s, goal)
    print(
        "{\"area\":\"prefetch\",\"row\":\"",
        row,
        "\",\"ours_s\":",
        ours_s,
        ",\"peer\":null,\"peer_s\":null,\"bound_s\":",
    )
    println(bound_s, ",\"goal_ratio_peer\":null,\"goal_ratio_bound\":", goal, "}")
    return nothing
end

median(times) = sort(times)[cld(length(times), 2)]

# A solver that computes without ever giving way to another task.
function compute(seconds)
    until, x = time_ns() + round(Int, 1.0e9 * seconds), 0.0
    while time_ns() < until
        for i in 1:100
            x += sqrt(i)
        end
        GC.safepoint()
    end
    return x
end

# The seconds of each `take!` over an order, each called when its epoch is ready.
function ready_takes(group, order)
    start!(group, order)
    return map(order) do k
        while !isready(group, k)
            compute(1.0e-5)
        end
        began = time_ns()
        take!(group, k)
        (time_ns() - began) / 1.0e9
    end
end

function take_ready()
    variables = ["uwnd", "temp", "gusts", "crest", "lat_bounds"]
    PrefetchGroup(Dict("winds" => Provider(WINDS; variables = variables)); depth = 4, inline = false) do group
        ready_takes(group, repeat([1, 2, 3], 100))
        report(
            "take! of a ready epoch from Julia, median of 3,000",
            median(ready_takes(group, repeat([1, 2, 3], 1000))),
            5.0e-6,
            1.0,
        )
    end
    return nothing
end

# Sweeps over `order`, computing for `seconds` in each epoch: what was waited, against all of the time.
function sweep(row, group, order, seconds, goal)
    start!(group, order)
    foreach(k -> take!(epoch -> nothing, group, k), order[1:min(3, length(order))])
    waited, began = stats(group).waited_s, time_ns()
    start!(group, order)
    for k in order
        take!(epoch -> compute(seconds), group, k)
    end
    wall = (time_ns() - began) / 1.0e9
    report(row, stats(group).waited_s - waited, wall, goal)
    return nothing
end

# How long one sample takes.
function decode_time(p, times)
    return median(
        map(times) do t
            began = time_ns()
            sample_at(p, t)
            (time_ns() - began) / 1.0e9
        end,
    )
end

function files(folder)
    p = Provider(sort!(filter(endswith(".nc"), readdir(folder; join = true))))
    n = length(refresh_times(p))
    seconds = 1.5 * decode_time(p, refresh_times(p)[1:6])
    PrefetchGroup(Dict("fields" => p); inline = false) do group
        row = "waiting against wall time, gridded files, compute 1.5 x decode, Julia"
        sweep(row, group, repeat([1:n; n:-1:1], 2), seconds, 0.01)
    end
    return nothing
end

function store_sweep()
    folder = mktempdir()
    create_store(joinpath(folder, "loads")) do store
        values(i) = [sin(0.1i + 0.26t) + 0.01 * ((7919i + 104729t) % 1009) for t in 1:8760]
        add!(store, [(Owner(i, "Load"), SingleTimeSeries("load", DateTime(2030), Hour(1), values(i))) for i in 1:1000])
        reader = StaticReader(store; resolution = Hour(1))
        p = Provider(reader)
        n = length(refresh_times(p))
        seconds = max(2 * decode_time(p, refresh_times(p)[1:500]), 1.0e-4)
        PrefetchGroup(Dict("loads" => p); depth = 8, inline = false) do group
            row = "waiting against wall time, a store of 1,000 x 8,760, compute 2 x decode or 0.1 ms, Julia"
            sweep(row, group, 1:n, seconds, 0.01)
        end
    end
    return nothing
end

function transforms()
    Threads.nthreads() > 1 || error("the row of the transform needs two Julia threads")
    p = Provider(WINDS)
    transform(name, data) = (compute(0.002); sum(data["uwnd"]))
    PrefetchGroup(Dict("winds" => p); transform = transform, inline = false) do group
        row = "waiting against wall time, a transform of 2 ms and a solver that spins for 4 ms, two Julia threads"
        sweep(row, group, repeat(1:length(refresh_times(p)), 40), 0.004, 0.05)
    end
    return nothing
end

take_ready()
transforms()
store_sweep()
haskey(ENV, "FORCINGS_BENCH_DATA") && files(joinpath(ENV["FORCINGS_BENCH_DATA"], "epochs"))
