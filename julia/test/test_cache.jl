# Caches, and providers over URLs. The servers of the core's own tests are not needed here: `file://` is a URL too.

include("common.jl")

const T0 = datetime2unix(DateTime(2001))
const HOUR = 3600.0
const URL = "file://" * WINDS

@testset "opening and showing" begin
    dir = joinpath(mktempdir(), "cache")
    cache = Cache(dir)
    @test repr(cache) == "Cache($(repr(dir)))"
    @test repr(Cache(dir; offline = true)) == "Cache($(repr(dir)); offline = true)"
    @test !ispath(dir)
    @test Forcings.usage(cache) == []
    withenv("EARTHSCIDATADIR" => dir, "EARTHSCI_OFFLINE" => "yes") do
        @test repr(Cache()) == "Cache($(repr(dir)); offline = true)"
        @test repr(Cache(; offline = false)) == "Cache($(repr(dir)))"
    end
    withenv("EARTHSCIIO_HTTP_READ_TIMEOUT_SECS" => "soon") do
        @test refuses(() -> Cache(dir), Forcings.InvalidParameterError, "EARTHSCIIO_HTTP_READ_TIMEOUT_SECS")
    end
    @test refuses(() -> Cache(dir; offline = 1), Forcings.InvalidParameterError, "true or false")
    close(cache)
    close(cache)
    @test repr(cache) == "Cache(closed)"
    @test refuses(() -> Forcings.usage(cache), Forcings.ClosedError, "cache")
end

@testset "a provider over URLs" begin
    dir = mktempdir()
    cache = Cache(dir)
    times = [DateTime(2001, 1, 1, h) for h in (0, 6, 18)]
    reference = Provider(WINDS)
    for source in (URL, [URL, URL, URL], t -> t isa DateTime ? URL : error("as it was given"))
        p = Provider(source; times = times, cache = cache, name = "winds")
        @test refresh_times(p) == T0 .+ [0, 6, 18] .* HOUR
        @test same(sample_at(p, times[2]), sample_at(reference, times[2]))
        @test same(sample_at(p, DateTime(2001, 1, 1, 20)), sample_at(reference, times[3]))
    end
    @test Forcings.usage(cache) == [(source = "winds", files = 1, bytes = filesize(WINDS))]
    @test occursin("\"winds\": 1 file, $(filesize(WINDS)) bytes", repr("text/plain", cache))
    p = Provider(URL; times = times, cache = cache)
    close(cache)
    @test same(sample_at(p, times[1]), sample_at(reference, times[1]))
    window = DimWindow("lat" => (1, 3))
    @test same(sample_at(with_window(p, window), times[1]), sample_at(with_window(reference, window), times[1]))
    offline = Cache(dir; offline = true)
    @test same(sample_at(Provider(URL; times = times, cache = offline), times[1]), sample_at(reference, times[1]))
    PrefetchGroup(Dict("w" => p)) do g
        start!(g, :reverse)
        @test same(take!(g, 3)["w"].data, sample_at(reference, times[3]))
    end
    # A function that gives paths lists each file once.
    local_files = Provider(t -> WINDS; times = times)
    @test same(sample_at(local_files, times[2]), sample_at(reference, times[2]))
end

@testset "fetching ahead and clearing" begin
    dir = mktempdir()
    cache = Cache(dir)
    copies = [joinpath(mktempdir(), "winds$k.nc") for k in 1:3]
    foreach(copy -> cp(WINDS, copy), copies)
    urls = "file://" .* copies
    p = Provider(urls; times = [0, 6, 12], cache = cache, name = :winds)
    @test Forcings.prefetch(p, 1, 6) == 1
    @test Forcings.prefetch(p, (0, 12)) == 2
    @test Forcings.usage(cache)[1].files == 2
    @test Forcings.prefetch(Provider(WINDS), 0, Inf) == 0
    offline = Provider(urls; times = [0, 6, 12], cache = Cache(dir; offline = true))
    @test refuses(() -> sample_at(offline, 12), Forcings.CacheMissError, basename(copies[3]))
    @test refuses(() -> Forcings.prefetch(offline, 0, 13), Forcings.CacheMissError, basename(copies[3]))
    @test refuses(() -> Forcings.prefetch(p, NaN, 1), Forcings.InvalidParameterError, "NaN")
    rm(copies[3])
    @test refuses(() -> sample_at(p, 12), Forcings.NotFoundError, "needed for the time 12")

    nothing_cleared = (files = 0, bytes = 0)
    @test Forcings.clear!(cache; source = "other") == nothing_cleared
    @test Forcings.clear!(cache; older_than = Day(1)) == nothing_cleared
    @test Forcings.clear!(cache; older_than = 3600, source = "winds") == nothing_cleared
    @test Forcings.clear!(cache; source = "winds") == (files = 2, bytes = 2filesize(WINDS))
    @test Forcings.usage(cache) == []
    @test refuses(() -> Forcings.clear!(cache; older_than = -1), Forcings.InvalidParameterError, "-1")
    @test refuses(() -> Forcings.clear!(cache; older_than = Month(1)), Forcings.InvalidParameterError, "Day(30)")
    @test refuses(() -> Forcings.clear!(Cache(dir; offline = true)), Forcings.InvalidParameterError, "offline")
end

@testset "what cannot be fetched" begin
    cache = Cache(mktempdir())
    @test refuses(() -> Provider(URL; times = [0]), Forcings.InvalidParameterError, "a cache")
    @test refuses(() -> Provider(URL; cache = cache), Forcings.InvalidParameterError, "times")
    @test refuses(() -> Provider([URL, URL]; times = 0:2, cache = cache), Forcings.InvalidParameterError, "2 URLs")
    @test refuses(() -> Provider(t -> URL; cache = cache), Forcings.InvalidParameterError, "needs times")
    @test refuses(() -> Provider(t -> 1; times = [0], cache = cache), Forcings.InvalidParameterError, "URL or a path")
    @test refuses(() -> Provider(URL; times = [0], cache = "dir"), Forcings.InvalidParameterError, "must be a Cache")
    of(url) = Provider(url; times = [0], cache = cache)
    @test refuses(() -> sample_at(of("gopher://a/b.nc"), 0), Forcings.UnsupportedError, "file, http, https, s3")
    @test refuses(() -> sample_at(of("file:///nowhere.nc"), 0), Forcings.NotFoundError, "nowhere.nc")
    @test refuses(() -> sample_at(of("http://[::1/x"), 0), Forcings.TransportError, "http://[::1/x")
    @test refuses(() -> sample_at(of("https://me:word@a.org/x"), 0), Forcings.InvalidParameterError, "credential")
    @test Forcings.usage(cache) == []
end
