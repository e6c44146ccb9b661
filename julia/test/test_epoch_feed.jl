# The feed of epochs: under an integrator with callbacks and in hand-written loops, forward and backward.

include("common.jl")

members() = Dict("winds" => Provider(WINDS), "price" => Provider(COARSE))
const T0 = datetime2unix(DateTime(2001))
const HOUR = 3600.0

# An integrator with the callbacks of DifferentialEquations: the condition is asked after every step, and the affect
# changes what the next step starts from. Steps of the classical Runge-Kutta method end at the stops exactly, whatever
# their length; the slope at the end of a step serves the next one, unless the callback acted in between.
mutable struct Integrator
    f::Function
    u::Vector{Float64}
    t::Float64
    slope::Vector{Float64}
    steps::Vector{Tuple{Float64, Float64}}
end

struct Callback
    condition::Any
    affect!::Any
    initialize::Any
end
Callback(feed) = Callback(feed.condition, feed.affect!, feed.initialize)

function solve(f, u0, (t0, tf); callback, tstops, lengths, snap = true)
    integrator = Integrator(f, copy(u0), t0, zero(u0), [])
    callback.initialize(callback, integrator.u, t0, integrator)
    integrator.slope = f(integrator.u, t0)
    direction = sign(tf - t0)
    stops = sort!(
        [t for t in [tstops; tf] if direction * t0 < direction * t <= direction * tf];
        by = t -> direction * t,
    )
    while integrator.t != tf && !isempty(stops)
        wanted = integrator.t + direction * lengths[mod1(length(integrator.steps) + 1, length(lengths))]
        near = direction * wanted >= direction * stops[1] - 1.0e-3
        runge_kutta!(integrator, near ? (snap ? stops[1] : prevfloat(stops[1])) : wanted)
        near && popfirst!(stops)
        if callback.condition(integrator.u, integrator.t, integrator)
            callback.affect!(integrator)
            integrator.slope = f(integrator.u, integrator.t)
        end
    end
    return integrator
end

function runge_kutta!(integrator, t)
    (f, u, start, a) = (integrator.f, integrator.u, integrator.t, integrator.slope)
    dt = t - start
    b = f(u .+ dt / 2 .* a, start + dt / 2)
    c = f(u .+ dt / 2 .* b, start + dt / 2)
    d = f(u .+ dt .* c, t)
    integrator.u = u .+ dt / 6 .* (a .+ 2 .* b .+ 2 .* c .+ d)
    integrator.t, integrator.slope = t, f(integrator.u, t)
    push!(integrator.steps, minmax(start, t))
    return integrator
end

# The right-hand side reads a buffer that holds the forcing of one epoch.
wind_of(data) = Float64.(data["gusts"])
relax(wind) = (u, t) -> 1.0e-5 .* (wind .- u)

# Lengths of steps that divide no epoch, and the sixth of one.
const LENGTHS = HOUR .* [1.9, 0.7, 2.2, 1.0]

# The span from `t0` to `tf`, one solve an epoch, each of them with an array of its own: no feed.
function reference(providers, times, u0, (t0, tf); lengths)
    backward = tf < t0
    inner = [t for t in times if min(t0, tf) < t < max(t0, tf)]
    ends = [t0; backward ? reverse(inner) : inner; tf]
    u, steps = u0, Tuple{Float64, Float64}[]
    none = Callback((u, t, integrator) -> false, nothing, (callback, u, t, integrator) -> nothing)
    for (a, b) in zip(ends, ends[2:end])
        wind = wind_of(sample_at(providers["winds"], times[searchsortedlast(times, min(a, b))]))
        turned = circshift(lengths, -length(steps))
        part = solve(relax(wind), u, (a, b); callback = none, tstops = Float64[], lengths = turned)
        u = part.u
        append!(steps, part.steps)
    end
    return u, steps
end

const SPANS = [
    (T0, T0 + 66HOUR),
    (T0, T0 + 12HOUR),
    (T0 + 1HOUR, T0 + 13HOUR),
    (T0 + 7HOUR, T0 + 8HOUR),
    (T0 + 6HOUR, T0 + 12HOUR),
    (T0 + 50HOUR, T0 + 80HOUR),
    (T0 + 70HOUR, T0 + 75HOUR),
]

@testset "an integrator has the forcing of each step, in both directions" begin
    providers, u0 = members(), collect(0.5:5.5)
    for inline in (false, true)
        PrefetchGroup(providers; inline = inline) do group
            times = boundaries(group)
            for span in [SPANS; reverse.(SPANS)]
                wind = zeros(6)
                feed = Forcings.EpochFeed(group, span) do name, data
                    name == "winds" && copyto!(wind, wind_of(data))
                end
                @test feed.epoch == 0
                epochs = Int[]
                record(u, t, integrator) = (push!(epochs, feed.epoch); feed.condition(u, t, integrator))
                callback = Callback(record, feed.affect!, feed.initialize)
                expected, steps = reference(providers, times, u0, span; lengths = LENGTHS)
                # Stops outside of the span do no harm; and a callback may serve again.
                for tstops in (feed.tstops, times)
                    empty!(epochs)
                    result = solve(relax(wind), u0, span; callback = callback, tstops = tstops, lengths = LENGTHS)
                    @test same(result.u, expected)
                    @test result.steps == steps
                    @test epochs == [searchsortedlast(times, earlier) for (earlier, _) in steps]
                    @test all(k == length(times) || later <= times[k + 1] for (k, (_, later)) in zip(epochs, steps))
                end
            end
        end
    end
end

@testset "a loop of one's own: boundaries end steps, and a step's epoch is searchsortedlast of its earlier end" begin
    PrefetchGroup(members()) do group
        times = boundaries(group)
        for span in ((T0 + 2HOUR, T0 + 69HOUR), (T0 + 69HOUR, T0 + 2HOUR))
            feed = Forcings.EpochFeed((name, data) -> nothing, group, span)
            t, tf = span
            direction = sign(tf - t)
            stops = [feed.tstops; tf]
            @test feed(t)
            while t != tf
                next = t + direction * 2.5HOUR
                direction * next >= direction * stops[1] && (next = popfirst!(stops))
                @test feed.epoch == searchsortedlast(times, min(t, next))
                t = next
                @test feed(t) == (t in times && t != tf)
            end
        end
    end
end

@testset "only what changed is copied, and all of it at the begin" begin
    PrefetchGroup(members()) do group
        copied = String[]
        feed = Forcings.EpochFeed((name, data) -> push!(copied, name), group, (T0 + 7HOUR, T0 + 40HOUR))
        taken() = splice!(copied, 1:length(copied))
        feed(T0 + 7HOUR)
        @test taken() == ["price", "winds"]
        for t in feed.tstops
            feed(t)
            # The price changes at the fifth epoch.
            @test taken() == (t == T0 + 24HOUR ? ["price", "winds"] : ["winds"])
        end
        # Nothing is taken where the span ends, and none of the epochs behind it.
        @test !feed(T0 + 40HOUR) && isempty(copied)
        @test thrown(() -> take!(group, 8)).state === :exhausted
        # In an order of somebody else, an epoch that changed nothing there still fills the buffers.
        start!(group, [1, 2, 3])
        take!(group, 1)
        feed = Forcings.EpochFeed((name, data) -> push!(copied, name), group, (T0 + 6HOUR, T0 + 15HOUR); start = false)
        feed(T0 + 6HOUR)
        @test taken() == ["price", "winds"]
        @test feed(T0 + 12HOUR) && taken() == ["winds"]
    end
end

@testset "the epochs of a revolve schedule" begin
    PrefetchGroup(members()) do group
        times, wind = [boundaries(group); T0 + 72HOUR], zeros(6)
        fill_wind(name, data) = name == "winds" && copyto!(wind, wind_of(data))
        schedule = Forcings.revolve(12, 3)
        start!(group, Forcings.epochs(schedule))
        for step in schedule
            isempty(step.epochs) && continue
            ends = (times[first(step.epochs)], times[last(step.epochs) + 1])
            feed = Forcings.EpochFeed(fill_wind, group, step.action === :advance ? ends : reverse(ends); start = false)
            feed(feed.span[1])
            @test wind == wind_of(sample_at(Provider(WINDS), times[first(step.epochs)]))
            foreach(feed, feed.tstops)
            @test wind == wind_of(sample_at(Provider(WINDS), times[last(step.epochs)]))
        end
    end
end

@testset "times as the integrator counts them" begin
    PrefetchGroup(members()) do group
        hours = (boundaries(group) .- T0) ./ HOUR
        feed = Forcings.EpochFeed((name, data) -> nothing, group, (30, 7); times = hours)
        @test feed.tstops == [24, 18, 12] && eltype(feed.tstops) === Float64
        feed(30.0)
        @test feed.epoch == 5
        single = Forcings.EpochFeed((name, data) -> nothing, group, (0.0f0, 13.0f0); times = hours)
        @test single.tstops == [6, 12] && eltype(single.tstops) === Float32
        @test Forcings.EpochFeed((name, data) -> nothing, group, (3, Inf); times = hours).tstops == 6:6:66
        @test isempty(Forcings.EpochFeed((name, data) -> nothing, group, (6, 6); times = hours).tstops)
    end
end

@testset "what goes wrong is said" begin
    PrefetchGroup(members()) do group
        new(span; options...) = Forcings.EpochFeed((name, data) -> nothing, group, span; options...)
        span = (T0, T0 + 20HOUR)
        run(feed; options...) = solve(relax(zeros(6)), zeros(6), feed.span; callback = Callback(feed), options...)
        over = "went over its boundary $(T0 + 6HOUR)"
        @test refuses(Forcings.OffGridError, "epoch 1", over, "tstops = feed.tstops") do
            run(new(span); tstops = Float64[], lengths = LENGTHS)
        end
        # A step that ends beside the boundary, be it by one bit, is noticed at the end of the next one.
        @test refuses(Forcings.OffGridError, "epoch 1", over) do
            feed = new(span)
            run(feed; tstops = feed.tstops, lengths = LENGTHS, snap = false)
        end
        feed = new(reverse(span))
        feed(T0 + 20HOUR)
        @test refuses(() -> feed(T0 + 17HOUR), Forcings.OffGridError, "epoch 4", "$(T0 + 18HOUR)")
        @test feed(T0 + 18HOUR) && feed.epoch == 3
        @test refuses(() -> feed(T0 + 19HOUR), Forcings.OffGridError, "begin again")
        feed = new(span)
        @test refuses(() -> feed.condition([0.0], T0, nothing), Forcings.InvalidParameterError, "feed.initialize")
        @test refuses(() -> feed(T0 + 1), Forcings.OffGridError, "begins at $(T0 + 1)", "$T0")
        @test feed(T0) && feed(T0 + 6HOUR)
        @test refuses(() -> feed(T0 + 5HOUR), Forcings.OffGridError, "before epoch 2")
        @test refuses(() -> new((T0 - 1, T0)), Forcings.OffGridError, "first epoch")
        @test refuses(() -> new((T0 + 10, T0 - 1)), Forcings.OffGridError, "first epoch")
        @test refuses(() -> new((T0, NaN)), Forcings.InvalidParameterError, "NaN")
        @test refuses(() -> new((DateTime(2001), T0)), Forcings.InvalidParameterError, "two numbers")
        @test refuses(() -> new(span; times = 1:3), Forcings.InvalidParameterError, "12 epochs", "3 times")
        @test refuses(() -> new((1, 2); times = ones(12)), Forcings.InvalidParameterError, "ascend")
        @test repr(new(span)) == "EpochFeed(epochs 1 to 4)"
        @test repr(feed) == "EpochFeed(epochs 1 to 4; epoch 2 is in force)"
        @test :condition in propertynames(feed)
    end
end

@testset "an epoch that cannot be decoded is an error where it comes into force, and not if it does not" begin
    PrefetchGroup(Dict("load" => Provider(joinpath(DATA, "damaged.nc")))) do group
        times = boundaries(group)
        for span in ((times[1], times[3]), (times[1], times[4]))
            feed = Forcings.EpochFeed((name, data) -> data["load"][1], group, span)
            feed(times[1])
            @test feed(times[2])
            if span[2] == times[3]
                @test !feed(times[3])
            else
                @test refuses(() -> feed(times[3]), Forcings.FormatError, "damaged.nc")
                @test feed.epoch == 2
            end
        end
    end
end
