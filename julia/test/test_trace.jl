# Traces of prefetch groups, their pictures, and the words for what a group counted.

include("common.jl")
include("groups.jl")

const TIMES = refresh_times(Provider(WINDS))

function traced(; inline, take = length(TIMES))
    members = Dict("winds" => Provider(WINDS), "wave<&>" => Wave(TIMES; latency = 0.001))
    transform(name, data) = name == "winds" ? sum(data["gusts"]) : data
    return PrefetchGroup(members; inline = inline, trace = true, transform = transform) do group
        start!(group, :forward)
        foreach(k -> take!(group, k), 1:take)
        Forcings.trace(group)
    end
end

@testset "what was done when" begin
    for inline in KINDS
        found = traced(; inline = inline)
        of(activity) = filter(i -> i.activity === activity, found)
        @test all(i -> 0 <= i.begin_s <= i.end_s, found)
        @test [i.epoch for i in of(:take)] == eachindex(TIMES)
        @test all(i -> i.member === nothing, of(:take))
        @test all(i -> i.member === nothing, of(:wait))
        @test sort([i.epoch for i in of(:decode)]) == eachindex(TIMES)
        @test all(i -> i.member == "winds", of(:decode))
        for member in ("winds", "wave<&>")
            @test sort([i.epoch for i in of(:transform) if i.member == member]) == eachindex(TIMES)
        end
        # A sample is decoded, then transformed, then taken.
        for k in eachindex(TIMES)
            ends(activity) = [i.end_s for i in of(activity) if i.epoch == k && i.member in ("winds", nothing)][1]
            @test ends(:decode) <= ends(:transform) <= ends(:take)
        end
        @test eltype(found) == eltype(collect(found)) && length(found) == length(collect(found))
    end
end

@testset "pictures" begin
    found = traced(; inline = true)
    text = repr(MIME("text/plain"), found; context = :displaysize => (24, 80))
    rows = split(text, '\n')
    @test startswith(rows[1], "Trace of $(length(found)) intervals in ")
    @test [strip(first(split(row, r" {2,}|[▁-█|]"; keepempty = false))) for row in rows[2:end]] ==
        ["decode winds", "transform wave<&>", "transform winds", "wait", "take"]
    @test all(row -> textwidth(row) <= 80, rows)
    @test count(==('|'), rows[end]) in 1:length(TIMES)
    @test repr(found) == "Trace of $(length(found)) intervals"
    svg = repr(MIME("image/svg+xml"), found)
    @test startswith(svg, "<svg") && endswith(svg, "</svg>\n")
    @test occursin("wave&lt;&amp;&gt;", svg) && !occursin("wave<", svg)
    @test !occursin("NaN", svg) && !occursin("Inf", svg)
    path = joinpath(mktempdir(), "run.SVG")
    @test Forcings.savefig(found, path) == path
    @test read(path, String) == svg
    @test refuses(() -> Forcings.savefig(found, "run.png"), Forcings.InvalidParameterError, ".svg", "run.png")
end

@testset "a picture of a long run is small" begin
    interval(i) = Forcings.Interval((:decode, "m", i, i / 10, (i + 0.5) / 10))
    long = Forcings.Trace(["m"], map(interval, 1:100_000))
    svg = repr(MIME("image/svg+xml"), long)
    @test sizeof(svg) < 1_000_000
    @test occursin("several epochs", svg)
    # Where nothing was done, nothing is drawn.
    gap = Forcings.Trace(["m"], [interval(1), interval(1000)])
    @test count("epoch 1", repr(MIME("image/svg+xml"), gap)) == 2
    empty = Forcings.Trace(["m"], Forcings.Interval[])
    @test repr(MIME("text/plain"), empty) == "Trace of 0 intervals"
    @test !occursin("NaN", repr(MIME("image/svg+xml"), empty))
end

@testset "only when asked for" begin
    PrefetchGroup(Dict("winds" => Provider(WINDS))) do group
        @test refuses(() -> Forcings.trace(group), Forcings.InvalidParameterError, "trace")
    end
end

@testset "words for what was counted" begin
    words(; waited, decoded = 10.0, overlap = true, oversize = 0, samples = 5, workers = 1) = Forcings.advice(
        Forcings.GroupStats(waited, decoded, 100, 5, samples, 0, oversize, overlap, 2, 0, 0, 0, nothing, workers),
    )
    @test words(; waited = 0.0, samples = 0) == "nothing was decoded yet"
    @test occursin("inline = false", words(; waited = 10.0, overlap = false))
    @test occursin("hardly waited", words(; waited = 0.1))
    @test occursin("max_bytes", words(; waited = 3.0, oversize = 1))
    @test occursin("1 epoch did not", words(; waited = 3.0, oversize = 1))
    @test occursin("More workers", words(; waited = 8.0))
    @test occursin("More workers", words(; waited = 3.0, workers = 3))
    @test occursin("larger depth", words(; waited = 2.0))
    @test occursin("2.0 s for 10.0 s", words(; waited = 2.0))
    text = repr(MIME("text/plain"), Forcings.GroupStats(0.5, 10.0, 2048, 5, 5, 0, 0, true, 2, 0, 0, 0, nothing, 1))
    @test occursin("waited_s         500.0 ms", text) && occursin("peak_bytes       2.000 KiB", text)
end

@testset "a group tells where it stands" begin
    for inline in KINDS
        members = Dict("winds" => Provider(WINDS), "wave" => Wave(TIMES))
        PrefetchGroup(members; inline = inline, windows = [DimWindow("lat" => (0, 1))]) do group
            text() = repr(MIME("text/plain"), group)
            @test occursin("order    none yet; call start!", text())
            @test occursin("windows  1", text())
            @test occursin(
                "in Julia \"wave\", $(inline || Threads.nthreads() == 1 ? "inside take!" : "on tasks")",
                text(),
            )
            start!(group, :reverse)
            @test occursin("epoch 12 is next, 0 of 12 taken", text())
            foreach(k -> take!(group, k), 12:-1:1)
            @test occursin("all of 12 taken", text()) && occursin("so far   you ", text())
            start!(group, [1])
            cancel!(group)
            @test occursin("cancelled; call start! again", text())
        end
    end
end

@testset "nothing is left" begin
    @test nothing_left()
end

@testset "a spill is read back with the same bits, and says so" begin
    mktempdir() do folder
        plain = Dict(k => sample_at(Provider(WINDS), t) for (k, t) in enumerate(refresh_times(Provider(WINDS))))
        for inline in (false, true), windows in (nothing, [DimWindow("lat" => (0, 2)), DimWindow("lon" => [1, 0])])
            PrefetchGroup(
                Dict("winds" => Provider(WINDS));
                spill = folder,
                spill_bytes = 10^6,
                windows = windows,
                inline = inline,
            ) do group
                for (order, entries) in ((:forward, 1:12), (:reverse, 12:-1:1))
                    start!(group, order)
                    for k in entries
                        data = take!(group, k)["winds"].data
                        windows === nothing || (data = data[1])
                        expected = plain[k]["uwnd"]
                        @test isequal(data["uwnd"], windows === nothing ? expected : expected[:, 1:2])
                    end
                end
                counted = stats(group)
                @test counted.samples_spilled == 12
                @test counted.samples_restored == 11 # the last one was still there
                @test counted.spill_error === nothing
                @test occursin("samples_restored 11", sprint(show, MIME("text/plain"), counted))
                @test isempty(readdir(folder))
            end
        end
        group = PrefetchGroup(Dict("winds" => Provider(WINDS)); spill = folder, spill_bytes = 0)
        start!(group, :forward)
        take!(group, 1)
        @test stats(group).samples_spilled == 0
        @test !occursin("spill", sprint(show, MIME("text/plain"), stats(group)))
        close(group)
        open_group(; options...) = PrefetchGroup(Dict("winds" => Provider(WINDS)); options...)
        @test refuses(() -> open_group(spill = folder), Forcings.InvalidParameterError, "spill_bytes")
        @test refuses(() -> open_group(spill_bytes = 1), Forcings.InvalidParameterError, "spill_bytes")
        @test refuses(() -> open_group(spill = folder, spill_bytes = -1), Forcings.InvalidParameterError, "-1")
        @test refuses(() -> open_group(spill = joinpath(folder, "none"), spill_bytes = 1), Forcings.IoError, "none")
    end
end
