# Memory of a solver that closes nothing: bounded by the group, and nothing is left behind.

include("common.jl")

@testset "200 epochs of 64 MB stay within depth + 3 slots" begin
    output, good = child("child_memory.jl")
    good || print(output)
    @test good
    @test occursin("within depth + 3 slots", output)
end

function use_everything()
    p = Provider(WINDS)
    w = with_window(p, DimWindow("lat" => (0, 2)))
    group = PrefetchGroup(Dict("winds" => w))
    start!(group, :forward)
    epoch = take!(group, 1)
    total = sum(epoch["winds"].data["gusts"])
    store = memory_store()
    add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
    reader = StaticReader(store; resolution = Hour(1))
    readstep!(reader, 1)
    return total + values(reader, 1)[1]
end

@testset "handles and pointers return to zero" begin
    use_everything()
    counts() = (GC.gc(); Forcings.live_count())
    @test eventually(() -> counts() == (handles = 0, pointers = 0))
end
