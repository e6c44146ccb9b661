# Prefetch groups: the gate (what is taken is what `sample_at` gives, bit for bit), orders, states, errors.

include("common.jl")

members() = Dict("winds" => Provider(WINDS), "price" => Provider(COARSE))

const EPOCHS = 12
const ORDERS = [
    (:forward, nothing, 1:12),
    (:reverse, nothing, 12:-1:1),
    (:forward, 9, 9:12),
    (:reverse, 2, 2:-1:1),
    ([3, 3, 7, 1, 12, 3, 2], nothing, [3, 3, 7, 1, 12, 3, 2]),
    ([5, 4, 5, 6], 4, [4, 5, 6]),
]

# Every sample of an order against fresh providers.
function gate(expected, times; options...)
    return PrefetchGroup(members(); options...) do group
        boundaries(group) == times || return false
        all(ORDERS) do (order, from, entries)
            start!(group, order; from = from)
            all(entries) do k
                epoch = take!(group, k)
                keys(epoch) == ["price", "winds"] &&
                    epoch.time == times[k] &&
                    all(key -> same(epoch[key].data, expected[key][k]), keys(epoch))
            end
        end
    end
end

@testset "what is taken is what sample_at gives" begin
    fresh = members()
    times = refresh_times(fresh["winds"])
    expected = Dict(key => [sample_at(p, t) for t in times] for (key, p) in fresh)
    small = 3_000
    for depth in 1:4, workers in 1:4, max_bytes in (nothing, small)
        @test gate(expected, times; depth = depth, workers = workers, max_bytes = max_bytes, inline = false)
    end
    for depth in (1, 3), max_bytes in (nothing, small)
        @test gate(expected, times; depth = depth, max_bytes = max_bytes, inline = true)
    end
end

@testset "anchors and what changed" begin
    PrefetchGroup(members()) do group
        times = boundaries(group)
        start!(group, :forward)
        for k in 1:EPOCHS
            epoch = take!(group, k)
            @test epoch.index == k
            @test epoch["winds"].anchor == times[k]
            @test epoch["winds"].changed
            @test epoch["price"].anchor == times[4 * ((k - 1) ÷ 4) + 1]
            @test epoch["price"].changed == (k % 4 == 1)
            @test epoch["price"].data["price"] == 100 * ((k - 1) ÷ 4) .+ (0:4)
        end
        counted = stats(group)
        @test counted.epochs_decoded == EPOCHS
        @test counted.samples_decoded + counted.samples_reused >= 2EPOCHS - 1
        @test counted.samples_reused > 0
        @test counted.overlap == (Threads.nthreads() > 1)
    end
end

@testset "an epoch is a small dictionary" begin
    PrefetchGroup(members()) do group
        start!(group, :forward)
        epoch = take!(group, 1)
        @test haskey(epoch, "winds") && !haskey(epoch, "wind")
        @test length(epoch) == 2
        @test [key for (key, sample) in epoch] == ["price", "winds"]
        @test refuses(() -> epoch["wind"], Forcings.NotFoundError, "\"wind\"", "\"winds\"")
    end
end

@testset "states" begin
    group = PrefetchGroup(members())
    state(f) = (e = thrown(f); e isa Forcings.GroupError ? e.state : e)
    @test state(() -> take!(group, 1)) === :not_started
    @test !isready(group, 1)
    start!(group, :forward; from = 3)
    @test refuses(() -> take!(group, 4), Forcings.GroupError, "epoch 4 was asked for, but epoch 3 comes next")
    e = thrown(() -> take!(group, 1))
    @test (e.state, e.asked, e.expected, e.kind) == (:wrong_epoch, 1, 3, :Group)
    take!(group, 3)
    @test cancel!(group) === group
    @test state(() -> take!(group, 4)) === :cancelled
    start!(group, [1])
    take!(group, 1)
    @test state(() -> take!(group, 2)) === :exhausted
    start!(group, :reverse)
    cancel!(group; wait = true)
    @test state(() -> take!(group, 12)) === :cancelled
    start!(group, :reverse)
    take!(group, 12)
    close(group)
    close(group)
    @test !isopen(group)
    @test refuses(() -> take!(group, 11), Forcings.ClosedError, "prefetch group")
    @test refuses(() -> start!(group, :forward), Forcings.ClosedError)
end

@testset "refused" begin
    @test refuses(() -> PrefetchGroup(Dict{String, Provider}()), Forcings.InvalidParameterError, "member")
    @test refuses(() -> PrefetchGroup(members(); depth = 0), Forcings.InvalidParameterError, "depth")
    @test refuses(() -> PrefetchGroup(members(); depth = -1), Forcings.InvalidParameterError, "depth is -1")
    @test refuses(() -> PrefetchGroup(members(); max_bytes = -1), Forcings.InvalidParameterError, "max_bytes is -1")
    @test refuses(() -> PrefetchGroup(members(); workers = -1), Forcings.InvalidParameterError, "workers is -1")
    @test refuses(() -> PrefetchGroup(Dict("winds" => WINDS)), Forcings.InvalidParameterError, "\"winds\"", "Provider")
    @test PrefetchGroup(g -> g.keys, Dict(:winds => Provider(WINDS), :again => Provider(WINDS))) == ["again", "winds"]
    @test refuses(
        () -> PrefetchGroup(members(); workers = 0, inline = false),
        Forcings.InvalidParameterError,
        "workers",
    )
    fixed = Dict("height" => Provider(joinpath(DATA, "fixed.nc")))
    @test refuses(() -> PrefetchGroup(fixed), Forcings.InvalidParameterError, "height")
    group = PrefetchGroup(members())
    @test refuses(() -> start!(group, :sideways), Forcings.InvalidParameterError, ":sideways")
    @test refuses(() -> start!(group, [1, 13]), Forcings.InvalidParameterError, "epoch 13", "1 to 12")
    @test refuses(() -> start!(group, [0]), Forcings.InvalidParameterError, "epoch 0", "1 to 12")
    @test refuses(() -> start!(group, Int[]), Forcings.InvalidParameterError, "empty")
    @test refuses(() -> start!(group, [1, 2]; from = 3), Forcings.InvalidParameterError, "epoch 3")
    @test refuses(() -> start!(group, :forward; from = 0), Forcings.InvalidParameterError, "epoch 0")
    @test refuses(() -> take!(group, 0), Forcings.InvalidParameterError, "count from 1")
    close(group)
end

@testset "an error of decoding is raised at its epoch, and only there" begin
    provider = Provider(joinpath(DATA, "damaged.nc"))
    for inline in (false, true), depth in (1, 4)
        PrefetchGroup(Dict("load" => provider); inline = inline, depth = depth) do group
            start!(group, :forward)
            load(k) = take!(epoch -> Array(epoch["load"].data["load"]), group, k)
            @test load(1) == 0:39
            @test load(2) == 1000:1039
            @test refuses(() -> load(3), Forcings.FormatError, "damaged.nc", "load")
            @test refuses(() -> load(4), Forcings.GroupError, "from = 4")
            e = thrown(() -> load(4))
            @test (e.state, e.expected) == (:failed, 4)
            start!(group, :forward; from = 4)
            @test [load(k)[1] for k in 4:6] == [3000, 4000, 5000]
            start!(group, :reverse)
            foreach(load, 6:-1:4)
            @test refuses(() -> load(3), Forcings.FormatError, "damaged.nc")
            @test thrown(() -> load(2)).expected == 2
        end
    end
end

@testset "the block form gives the memory back" begin
    PrefetchGroup(members(); inline = false) do group
        start!(group, :forward)
        kept = take!(group, 1) do epoch
            @test epoch["winds"].data["gusts"] == 0:5
            epoch, epoch["winds"].data["gusts"]
        end
        @test refuses(() -> kept[1]["winds"].data["gusts"], Forcings.ClosedError, "released")
        @test refuses(() -> sum(kept[2]), Forcings.ClosedError, "released")
        @test refuses(() -> kept[2][1], Forcings.ClosedError, "released")
        @test Forcings.alive(group) == (slots = 0, bytes = 0)
        @test thrown(() -> take!(epoch -> error("in the block"), group, 2)) isa ErrorException
        @test Forcings.alive(group) == (slots = 0, bytes = 0)
        @test take!(epoch -> 7, group, 3) == 7
    end
end

@testset "names of members" begin
    provider = Provider(WINDS)
    for key in (:winds, SubString("windsock", 1, 5))
        PrefetchGroup(Dict(key => provider)) do group
            start!(group, :forward)
            @test keys(take!(group, 1)) == ["winds"]
        end
    end
    twice = Dict{Any, Provider}(:winds => provider, "winds" => provider)
    @test refuses(() -> PrefetchGroup(twice), Forcings.InvalidParameterError, "same name")
end

@testset "isready" begin
    PrefetchGroup(members(); inline = false) do group
        start!(group, :forward)
        @test eventually(() -> isready(group, 1))
        @test !isready(group, 2)
        @test !isready(group, 0)
        take!(group, 1)
        @test eventually(() -> isready(group, 2))
    end
    PrefetchGroup(members(); inline = true) do group
        start!(group, :forward)
        sleep(0.05)
        @test !isready(group, 1)
        @test stats(group).samples_decoded == 0
        take!(group, 1)
        counted = stats(group)
        @test !counted.overlap
        @test counted.waited_s > 0
        @test isapprox(counted.waited_s, counted.decode_s; rtol = 0.5)
    end
end

@testset "a group keeps its providers' data" begin
    sources = members()
    group = PrefetchGroup(sources)
    foreach(close, values(sources))
    start!(group, :forward)
    @test take!(group, 1)["winds"].data["gusts"] == 0:5
    close(group)
end

@testset "a group decodes to single precision" begin
    single(p) = sample_at(p, refresh_times(p)[1])["uwnd"]
    PrefetchGroup(Dict("winds" => Provider(WINDS)); eltype = Float32) do group
        start!(group, :forward)
        @test same(take!(group, 1)["winds"].data["uwnd"], single(Provider(WINDS; eltype = Float32)))
    end
    @test refuses(() -> PrefetchGroup(members(); eltype = Int), Forcings.InvalidParameterError, "Int64")
end
