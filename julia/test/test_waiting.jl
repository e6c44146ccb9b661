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
    @testset "the collector runs on another thread while one waits in take!" begin
        PrefetchGroup(Dict("slow" => slow_provider(; records = 1, megabytes = 256))) do group
            start!(group, :forward)
            taken = Threads.Atomic{Bool}(false)
            collector = Threads.@spawn begin
                rounds = 0
                while !taken[]
                    GC.gc(false)
                    taken[] || (rounds += 1)
                end
                rounds
            end
            @test take!(epoch -> epoch["slow"].data["field"][1], group, 1) == 1
            taken[] = true
            @test fetch(collector) > 0
        end
    end

    @testset "the collector runs while a provider decodes" begin
        provider = slow_provider(; records = 1, megabytes = 256)
        done = Threads.Atomic{Bool}(false)
        collector = Threads.@spawn begin
            rounds = 0
            while !done[]
                GC.gc(false)
                done[] || (rounds += 1)
            end
            rounds
        end
        @test sample_at(provider, 1)["field"][1] == 1
        done[] = true
        @test fetch(collector) > 0
    end

    @testset "take! off the first thread does not need the event loop" begin
        PrefetchGroup(Dict("slow" => slow_provider(; records = 2, megabytes = 16))) do group
            start!(group, :forward)
            # The loop body of thread 1 never yields while thread 2 waits.
            finished = Threads.Atomic{Int}(0)
            Threads.@threads for i in 1:2
                if Threads.threadid() == 1
                    while finished[] == 0
                        GC.safepoint()
                    end
                else
                    value = take!(epoch -> epoch["slow"].data["field"][1], group, 1)
                    finished[] = value == 1 ? 1 : -1
                end
            end
            @test finished[] == 1
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
