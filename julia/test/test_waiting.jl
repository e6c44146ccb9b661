# A wait for native work blocks neither Julia's collector nor other tasks; with decoding ahead there is little to wait for.

include("common.jl")
include("classic.jl")

# Records that take long enough to decode for something else to happen meanwhile.
function slow_provider(; records, megabytes)
    file = write_holes(joinpath(mktempdir(), "slow.nc"); records = records, elements = megabytes * 2^17)
    return Provider(file; times = 1:records, time_dim = "time")
end

@testset "another task on the same thread runs while one waits in take!" begin
    PrefetchGroup(Dict("slow" => slow_provider(; records = 1, megabytes = 128)); inline = false) do group
        start!(group, :forward)
        turns, taken = 0, false
        other = @async while !taken
            turns += 1
            yield()
        end
        @test take!(epoch -> epoch["slow"].data["field"][1], group, 1) == 1
        taken = true
        wait(other)
        @test turns > 1
    end
end

@testset "a task that waits can be joined by others for the same news" begin
    groups = [PrefetchGroup(Dict("slow" => slow_provider(; records = 3, megabytes = 8)); inline = false) for _ in 1:4]
    foreach(g -> start!(g, :reverse), groups)
    tasks = [@async([take!(e -> e["slow"].data["field"][1], g, k) for k in 3:-1:1]) for g in groups]
    @test all(fetch(task) == [3, 2, 1] for task in tasks)
    foreach(close, groups)
end

if Threads.nthreads() > 1
    # Runs `work` on one thread while another collects garbage, again and again, without ever yielding. How many rounds the
    # collector finished meanwhile, and the result of the work.
    function beside_collector(work; thread)
        rounds, result, done = 0, nothing, Threads.Atomic{Bool}(false)
        Threads.@threads :static for i in 1:Threads.nthreads()
            if i == thread
                try
                    result = work()
                finally
                    done[] = true
                end
            elseif i <= 2
                while !done[]
                    GC.gc(false)
                    done[] || (rounds += 1)
                end
            end
        end
        return rounds, result
    end

    for thread in (1, 2)
        @testset "the collector runs while thread $thread waits in take!" begin
            PrefetchGroup(Dict("slow" => slow_provider(; records = 1, megabytes = 256))) do group
                start!(group, :forward)
                rounds, value = beside_collector(; thread = thread) do
                    take!(epoch -> epoch["slow"].data["field"][1], group, 1)
                end
                @test rounds > 0
                @test value == 1
            end
        end

        @testset "the collector runs while thread $thread waits for a provider" begin
            provider = slow_provider(; records = 1, megabytes = 256)
            rounds, value = beside_collector(() -> sample_at(provider, 1)["field"][1]; thread = thread)
            @test rounds > 0
            @test value == 1
        end
    end
end

@testset "one Julia thread, native workers, and a solver that never yields" begin
    output, good = child("child_solver.jl"; threads = 1)
    good || print(output)
    @test good
    @test occursin("workers seen", output)
    @test occursin("ratio below a third", output)
end

# Interrupts `task` at the `n`-th chance, if it is not done by then.
function interrupt(task, n)
    foreach(_ -> yield(), 1:n)
    istaskdone(task) || schedule(task, InterruptException(); error = true)
    return thrown(() -> wait(task))
end

@testset "an interrupted transaction is no longer open" begin
    path = joinpath(mktempdir(), "interrupted.nc")
    for n in 1:5
        create_store(path; overwrite = true) do store
            interrupt(@async(transaction(identity, store)), n)
            add!(store, Owner(n, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(3)))
            @test thrown(() -> flush(store)) === nothing
        end
        @test open_store(list_series, path; read_only = true)[1].owner_id == n
    end
end

@testset "an interrupted inner transaction leaves the outer one alone" begin
    store = memory_store()
    series = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(3))
    for n in 1:8
        transaction(store) do s
            add!(s, Owner(n, "Bus"), series)
            interrupt(@async(transaction(identity, s)), n)
        end
        @test length(list_series(store; owner = n)) == 1
    end
end

@testset "an interrupted rollback is a rollback all the same" begin
    store = memory_store()
    items = [(Owner(n, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(300))) for n in 1:300]
    for n in 1:12
        task = @async transaction(s -> (add!(s, items); error("undo")), store)
        @test interrupt(task, n) !== nothing
        @test isempty(list_series(store))
        @test thrown(() -> flush(store)) === nothing
    end
end

@testset "an interrupted take! loses nothing" begin
    for inline in (false, true)
        PrefetchGroup(Dict("winds" => Provider(WINDS)); inline = inline) do group
            for n in 1:4
                start!(group, :forward)
                task = @async take!(epoch -> epoch.index, group, 1)
                interrupt(task, n)
                start!(group, :forward)
                @test take!(epoch -> epoch.index, group, 1) == 1
            end
            @test Forcings.alive(group).slots == 0
        end
    end
end
