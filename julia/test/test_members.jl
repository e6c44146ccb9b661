# Members of a group that are of a type of the user's own, beside those of the library.

include("common.jl")
include("groups.jl")

const TIMES = refresh_times(Provider(WINDS))
const EPOCHS = length(TIMES)
# Every second boundary, and one between two.
const OWN = sort([TIMES[1:2:EPOCHS]; TIMES[4] + 600])
const UNION = sort(unique([TIMES; OWN]))

anchor_of(times, t) = times[searchsortedlast(times, t)]
mixed(; options...) = Dict("winds" => Provider(WINDS), "wave" => Wave(OWN; options...))

@testset "what is taken is what sample_at gives" begin
    winds = Provider(WINDS)
    expected = [sample_at(winds, t) for t in UNION]
    n = length(UNION)
    for inline in KINDS, (depth, workers) in ((1, 1), (4, 3)), transform in (nothing, (name, data) -> (name, data))
        options = (inline = inline, depth = depth, workers = workers, transform = transform)
        PrefetchGroup(mixed(; latency = 0.002); options...) do group
            @test boundaries(group) == UNION
            for (order, entries) in ((:forward, 1:n), (:reverse, n:-1:1), ([3, 3, 9, 1], [3, 3, 9, 1]))
                start!(group, order)
                before = NaN
                for k in entries
                    epoch = take!(group, k)
                    own = anchor_of(OWN, UNION[k])
                    found = epoch["wave"].data, epoch["winds"].data
                    if transform !== nothing
                        @test first.(found) == ("wave", "winds")
                        found = last.(found)
                    end
                    @test same(found[1], wave(0.1, own))
                    @test same(found[2], expected[k])
                    @test epoch["wave"].anchor == own
                    @test epoch["wave"].changed == (own != before)
                    before = own
                end
            end
        end
    end
end

@testset "windows, clips and automatic depth" begin
    parts = [DimWindow("lat" => (0, 2)), DimWindow("lon" => [3])]
    clip = (TIMES[3] + 1, TIMES[9])
    for inline in KINDS
        options = (inline = inline, windows = parts, clip = clip, depth = :auto, max_bytes = 10^6)
        PrefetchGroup(mixed(); options...) do group
            times = boundaries(group)
            @test times == [clip[1]; filter(t -> clip[1] < t < clip[2], UNION)]
            start!(group, :forward)
            for k in eachindex(times)
                epoch = take!(group, k)
                value = wave(0.1, anchor_of(OWN, times[k]))
                @test epoch["wave"].data == [value[1:1], value[1:2]]
                @test all(map(same, epoch["winds"].data, sample_windows_at(Provider(WINDS), times[k], parts)))
            end
        end
    end
    @test refuses(() -> PrefetchGroup(mixed(); clip = (TIMES[end] + 1.0e9, TIMES[1])), Forcings.InvalidParameterError)
end

# What does not answer `sample_windows_at`, and says by itself which data are in force.
struct Rounded
    times::Vector{Float64}
end
Forcings.refresh_times(r::Rounded) = r.times
Forcings.anchor(r::Rounded, t) = t < 2 ? throw(Forcings.OffGridError("it begins at 2")) : 10 * floor(t / 10)
Forcings.sample_at(r::Rounded, t) = (at = Forcings.anchor(r, t),)

@testset "anchors of its own" begin
    for inline in KINDS
        PrefetchGroup(Dict("r" => Rounded([0.0, 2, 8, 12, 20])); inline = inline) do group
            start!(group, :forward)
            e = thrown(() -> take!(group, 1))
            @test e isa Forcings.OffGridError
            start!(group, :forward; from = 2)
            taken = [take!(group, k)["r"] for k in 2:5]
            @test [s.anchor for s in taken] == [0, 0, 10, 20]
            @test [s.data for s in taken] == [(at = 0.0,), (at = 0.0,), (at = 10.0,), (at = 20.0,)]
            @test [s.changed for s in taken] == [true, false, true, true]
        end
    end
    @test Forcings.anchor(Wave([0, 5]), 7) === 5.0
    @test refuses(() -> Forcings.anchor(Wave([0, 5]), -1), Forcings.OffGridError, "-1", "0.0")
end

struct Timeless end
struct Times
    all::Any
end
Forcings.refresh_times(t::Times) = t.all
Forcings.sample_at(::Times, t) = t
struct Ahead end
Forcings.refresh_times(::Ahead) = [0.0, 1.0]
Forcings.sample_at(::Ahead, t) = t
Forcings.anchor(::Ahead, t) = t + 1

@testset "refused" begin
    build(member; options...) = () -> PrefetchGroup(Dict("a" => Wave(0:1), "m" => member); options...)
    refused(member, parts...; options...) = refuses(
        build(member; options...),
        Forcings.InvalidParameterError,
        "\"m\"",
        parts...,
    )
    @test refused(Timeless(), "refresh_times and sample_at", "Forcings.anchor")
    @test refused(Rounded([0.0]), "sample_windows_at"; windows = [DimWindow("lat" => (0, 1))])
    @test refused(Times(Float64[]), "no refresh times")
    @test refused(Times([2.0, 1.0]), "ascend")
    @test refused(Times([1.0, 1.0]), "ascend")
    @test refused(Times([0.0, NaN]), "finite")
    @test refused(Times([0.0, Inf]), "finite")
    @test refused(Ahead(), "later")
    @test thrown(build(Times(["noon"]))) isa Exception
    @test thrown(build(Times([0.0]); windows = ["no window"])) isa Exception
    # What had been made when the error came is not left behind.
    GC.enable(false)
    before = Forcings.live_count()
    @test refused(Ahead(), "later")
    @test thrown(build(Times([0.0]); clip = (5.0, 1.0))) isa Forcings.InvalidParameterError
    @test eventually(() -> Forcings.live_count() == before)
    GC.enable(true)
    @test PrefetchGroup(boundaries, Dict("m" => Times([DateTime(2000), DateTime(2001)]))) ==
        refresh_times(Times([946684800.0, 978307200.0]))
end

@testset "a member that fails at some epochs" begin
    bad = OWN[[3, 6]]
    fails = [k for k in eachindex(UNION) if anchor_of(OWN, UNION[k]) in bad]
    for inline in KINDS, depth in (1, 4)
        PrefetchGroup(mixed(; fails = bad); inline = inline, depth = depth) do group
            seen, k = Int[], 1
            while k <= length(UNION)
                start!(group, :forward; from = k)
                try
                    while k <= length(UNION)
                        take!(group, k)
                        k += 1
                    end
                catch e
                    e isa DomainError || rethrow()
                    push!(seen, k)
                    k += 1
                end
            end
            @test seen == fails
            @test refuses(() -> take!(group, 1), Forcings.GroupError)
        end
    end
end

@testset "the first error by name is the one that is thrown" begin
    for inline in KINDS
        waves = Dict(name => Wave([0.0 + i / 8]; fails = [0.0 + i / 8]) for (i, name) in enumerate(("c", "b", "a")))
        members = merge(waves, Dict("z" => Wave([1.0])))
        PrefetchGroup(members; inline = inline, workers = 3) do group
            start!(group, [4])
            e = thrown(() -> take!(group, 4))
            @test e isa DomainError && e.val == 0.375
        end
    end
end

@testset "a file that disappears" begin
    for inline in KINDS
        folder = mktempdir()
        files = [cp(WINDS, joinpath(folder, "$i.nc")) for i in 1:3]
        url(t) = "file://" * files[findfirst(==(t), TIMES)]
        cache = Cache(joinpath(folder, "cache"))
        source = Provider(url; times = TIMES[1:3], cache = cache)
        members = Dict("f" => source, "w" => Wave(TIMES[1:3]))
        PrefetchGroup(members; inline = inline, depth = 1, fetch_ahead = 0) do group
            start!(group, :forward)
            whole = Array(take!(group, 1)["f"].data["gusts"])
            # The second one may be decoded already.
            rm(files[3])
            take!(group, 2)
            @test thrown(() -> take!(group, 3)) isa Forcings.ForcingsError
            cp(WINDS, files[3])
            start!(group, :forward; from = 3)
            @test size(take!(group, 3)["f"].data["gusts"]) == size(whole)
        end
    end
end

@testset "bytes smaller than one sample" begin
    for inline in KINDS
        PrefetchGroup(mixed(); inline = inline, depth = 4, max_bytes = 1) do group
            start!(group, :forward)
            @test all(k -> same(take!(group, k)["wave"].data, wave(0.1, anchor_of(OWN, UNION[k]))), eachindex(UNION))
            @test stats(group).oversize_epochs == length(UNION)
        end
    end
end

@testset "types and allocations of take!" begin
    for inline in KINDS
        group = PrefetchGroup(Dict("winds" => Provider(WINDS), "price" => Provider(COARSE)); inline = inline)
        start!(group, repeat(1:EPOCHS, 20))
        epoch = @inferred take!(group, 1)
        sample = @inferred epoch["winds"]
        @test sample isa Forcings.Sample{Forcings.Dataset}
        @test sample.data["gusts"] isa Forcings.Field{Int32, 1}
        take_some(group, n) = for k in 2:n
            take!(identity, group, k)
        end
        take_some(group, 4)
        eventually(() -> inline || isready(group, 5))
        one = @allocated take!(identity, group, 5)
        @test one < 4_000
        close(group)
    end
    PrefetchGroup(Dict("winds" => Provider(WINDS)); windows = [DimWindow("lat" => (0, 1))]) do group
        start!(group, :forward)
        @test (@inferred take!(group, 1)["winds"]).data isa Vector{Forcings.Dataset}
    end
end

@testset "nothing is left" begin
    @test nothing_left()
end
