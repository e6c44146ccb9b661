# Schedules of binomial checkpointing: every action is possible, no schedule advances over fewer epochs, and the adjoint
# has the bits of one that stores every state.

include("common.jl")

possible(condition) = condition || error("the schedule asks for what is not possible")

# Carries out a schedule on positions alone: the state at the begin of epoch `k` is the number `k`. Every action must be
# possible, and nothing may be kept beyond the room. How often each epoch was advanced over.
function simulate(schedule, n, s)
    kept, here, next = Dict{Int, Int}(), 1, n
    advances = zeros(Int, n)
    for step in schedule
        if step.action === :store
            possible(here == first(step.epochs) && isempty(step.epochs) && 1 <= step.slot <= s)
            kept[step.slot] = here
        elseif step.action === :restore
            here = kept[step.slot]
            possible(here == first(step.epochs) && isempty(step.epochs))
        elseif step.action === :advance
            possible(here == first(step.epochs) && !isempty(step.epochs) && last(step.epochs) < next && step.slot == 0)
            advances[step.epochs] .+= 1
            here = last(step.epochs) + 1
        else
            possible(step.action === :reverse && here == next == only(step.epochs) && step.slot == 0)
            # A state that was used for this is gone.
            here, next = 0, next - 1
        end
    end
    possible(next == 0)
    return advances
end

# The best of all schedules, told apart by advances and then by stores: the shortest way through the graph of all states
# (last epoch that is left, position or 0, set of kept positions), whatever is kept, dropped or restored when.
function cheapest(n, s)
    weight = 1000
    queue = [Tuple{Int, Int, UInt}[] for _ in 0:(weight * n^2)]
    best = Dict((n, 1, UInt(0)) => 0)
    push!(queue[1], (n, 1, UInt(0)))
    offer(state, cost) = cost < get(best, state, typemax(Int)) && (best[state] = cost; push!(queue[cost + 1], state))
    for cost in 0:(length(queue) - 1)
        while !isempty(queue[cost + 1])
            state = pop!(queue[cost + 1])
            best[state] == cost || continue
            left, here, kept = state
            left == 0 && return (cost ÷ weight, cost % weight)
            bit(k) = UInt(1) << k
            here == left && offer((left - 1, 0, kept), cost)
            0 < here < left && offer((left, here + 1, kept), cost + weight)
            here > 0 && count_ones(kept) < s && offer((left, here, kept | bit(here)), cost + 1)
            for k in 1:n
                kept & bit(k) == 0 && continue
                offer((left, k, kept), cost)
                offer((left, here, kept & ~bit(k)), cost)
            end
        end
    end
end

# The same for a kept first state and `c` snapshots with it, by the place of the second.
const BEST = Dict{Tuple{Int, Int}, Tuple{Int, Int}}()
function best_split(l, c)
    return get!(BEST, (l, c)) do
        l == 1 && return (0, 0)
        c == 1 && return (l * (l - 1) ÷ 2, 0)
        return minimum(1:(l - 1)) do m
            (m, m < l - 1) .+ best_split(l - m, c - 1) .+ best_split(m, c)
        end
    end
end

function closed_form(n, s)
    b(s, r) = binomial(big(s + r), s)
    r = first(Iterators.filter(r -> b(s, r) >= n, 0:n))
    return r, r == 0 ? 0 : r * n - b(s + 1, r - 1)
end

cost(schedule) = (stats(schedule).advanced, stats(schedule).stored)

@testset "no schedule is cheaper: all of them, for few epochs" begin
    for n in 1:8, s in 1:4
        @test (n, s, cost(Forcings.revolve(n, s))) == (n, s, cheapest(n, s))
    end
end

@testset "no schedule is cheaper: every place of every snapshot" begin
    for n in 1:40, s in 1:7
        advanced, stored = best_split(n, s)
        @test (n, s, cost(Forcings.revolve(n, s))) == (n, s, (advanced, n == 1 ? 0 : stored + 1))
    end
end

@testset "every action is possible, and the counts are the closed form" begin
    for (n, s) in [[(n, s) for n in 1:60 for s in 1:12]; (10_000, 3); (5_000, 12); (3, 10^9); (1_000, 1)]
        schedule = Forcings.revolve(n, s)
        advances, (repetitions, total) = simulate(schedule, n, s), closed_form(n, s)
        counts = stats(schedule)
        found = (sum(advances), counts.advanced, counts.reversed, counts.restored)
        @test (n, s, found) == (n, s, (total, total, n, n - 1))
        @test maximum(advances) <= repetitions
    end
    for n in 1:20
        @test stats(Forcings.revolve(n, 1)).advanced == n * (n - 1) ÷ 2
        @test stats(Forcings.revolve(n, max(n - 1, 1))).advanced == n - 1
    end
end

@testset "the order of epochs" begin
    @test Forcings.epochs(Forcings.revolve(4, 1)) == [1, 2, 3, 4, 1, 2, 3, 1, 2, 1]
    @test Forcings.epochs(Forcings.revolve(4, 3)) == [1, 2, 3, 4, 3, 2, 1]
    for n in 1:30, s in 1:6
        schedule = Forcings.revolve(n, s)
        order = Forcings.epochs(schedule)
        @test length(order) == stats(schedule).advanced + n
        @test all(order[2:end] .!= order[1:(end - 1)])
    end
end

# dx/dt = 1 + wind - x^2 in each cell, three explicit steps an epoch, and the transpose of their derivative.
const DT = 0.05
step_forward!(x, wind) = (x .+= DT .* (1 .+ wind .- x.^2); x)
step_back!(lambda, x) = (lambda .-= 2DT .* x .* lambda; lambda)

advance!(x, wind) = (foreach(_ -> step_forward!(x, wind), 1:3); x)
function reverse!(lambda, x, wind)
    states = [copy(x)]
    foreach(_ -> push!(states, step_forward!(copy(states[end]), wind)), 1:3)
    # The adjoint begins with the sum of the final state's squares, halved.
    lambda === nothing && (lambda = copy(states[end]))
    foreach(state -> step_back!(lambda, state), states[3:-1:1])
    return lambda
end

crest(epoch) = (field = epoch["winds"].data["gusts"]; [0.1 * field[i] for i in eachindex(field)])

function store_all_gradient(group, x0)
    x, states, lambda = copy(x0), Vector{Float64}[], nothing
    start!(group, :forward)
    n = length(boundaries(group))
    for k in 1:n
        push!(states, copy(x))
        take!(epoch -> advance!(x, crest(epoch)), group, k)
    end
    start!(group, :reverse)
    for k in n:-1:1
        lambda = take!(epoch -> reverse!(lambda, states[k], crest(epoch)), group, k)
    end
    return lambda
end

function revolve_gradient(group, x0, schedule)
    x, lambda, kept = copy(x0), nothing, Dict{Int, Vector{Float64}}()
    start!(group, Forcings.epochs(schedule))
    for step in schedule
        step.action === :store && (kept[step.slot] = copy(x))
        step.action === :restore && copyto!(x, kept[step.slot])
        for k in step.epochs
            take!(group, k) do epoch
                step.action === :advance ? advance!(x, crest(epoch)) : (lambda = reverse!(lambda, x, crest(epoch)))
            end
        end
    end
    return lambda, length(kept)
end

@testset "the gradient has the bits of the one that stores every state" begin
    for inline in (false, true)
        PrefetchGroup(Dict("winds" => Provider(WINDS)); inline = inline, depth = 3) do group
            x0 = collect(0.1:0.1:0.6)
            reference = store_all_gradient(group, x0)
            @test all(isfinite, reference) && length(unique(reference)) == 6
            for s in 1:12
                gradient, slots = revolve_gradient(group, x0, Forcings.revolve(12, s))
                @test same(gradient, reference)
                @test slots == min(s, 11)
            end
        end
    end
end

@testset "refused, and shown" begin
    @test refuses(() -> Forcings.revolve(0, 1), Forcings.InvalidParameterError, "not 0")
    @test refuses(() -> Forcings.revolve(1, 0), Forcings.InvalidParameterError, "not 0")
    schedule = Forcings.revolve(3, 2)
    @test repr(schedule) == "Revolve(3 epochs, 2 snapshots)"
    @test repr("text/plain", schedule) ==
        """
    Revolve(3 epochs, 2 snapshots) of 9 actions, 2 epochs advanced over:
     store the state at the begin of epoch 1 in slot 1
     advance over epoch 1
     store the state at the begin of epoch 2 in slot 2
     advance over epoch 2
     reverse epoch 3
     restore the state at the begin of epoch 2 in slot 2
     reverse epoch 2
     restore the state at the begin of epoch 1 in slot 1
     reverse epoch 1"""
    @test repr(Forcings.revolve(4, 1)[2]) == "advance over the epochs 1 to 3"
end
