# Providers: times, decoding, windows, errors. What the files hold is said in data/make.py.

include("common.jl")
using Serialization

const T0 = datetime2unix(DateTime(2001))
const HOUR = 3600.0

packed(t, j, i) = isodd(t) && j == i == 0 ? NaN : (1000t + 10j + i) * 0.01 + 1.0

@testset "times" begin
    p = Provider(WINDS)
    @test refresh_times(p) == T0 .+ 6HOUR .* (0:11)
    @test refresh_times(Provider(WINDS; times = 6:6:18)) == [6, 12, 18]
    @test refresh_times(Provider(WINDS; times = [DateTime(2001, 1, 1, h) for h in (6, 18)])) == T0 .+ [6HOUR, 18HOUR]
    @test refuses(() -> Provider(WINDS; times = 1:3), Forcings.InvalidParameterError, "time axis")
    @test isempty(refresh_times(Provider(joinpath(DATA, "fixed.nc"))))
    @test Forcings.supports_selection(p)
end

@testset "decoding" begin
    p = Provider(WINDS)
    for t in (0, 1, 11)
        data = sample_at(p, T0 + 6HOUR * t)
        @test Forcings.variables(data) == ["uwnd", "temp", "gusts", "crest", "lat_bounds", "station"]
        @test Forcings.coords(data) == ["lev", "lat", "lon"]
        u = data["uwnd"]
        @test u isa Forcings.Field{Float64, 2}
        @test Forcings.dims(u) == ["lon", "lat"]
        @test isequal(Array(u), [packed(t, j, i) for i in 0:5, j in 0:3])
        @test data["temp"] == [1000t + 100k + 10j + i for i in 0:5, j in 0:3, k in 0:2]
        @test data["gusts"] isa Forcings.Field{Int32, 1}
        @test data["gusts"] == t .+ (0:5)
        @test data["crest"] == [(1000t + 10j + i) / 7 for i in 0:5, j in 0:3]
        @test data["lat_bounds"] == [10j + e for e in (-5, 5), j in 0:3]
        @test data["station"] == ["Ålesund", "Bergen", "", "Oslo"]
        @test data["lon"] == 15 .* (0:5)
    end
    @test same(sample_at(p, T0 + 6.5HOUR), sample_at(p, DateTime(2001, 1, 1, 6)))
    @test same(refresh(p, T0), sample_at(p, T0))
    @test materialize(Provider(joinpath(DATA, "fixed.nc")))["height"] == [10j + i for i in 0:2, j in 0:1]
    @test keys(sample_at(Provider(WINDS; variables = ["gusts"]), T0)) == ["gusts", "lev", "lat", "lon"]
end

@testset "attributes" begin
    data = sample_at(Provider(WINDS), T0)
    @test Forcings.attributes(data) == Dict("title" => "test data", "levels" => [1, 2, 3])
    about = Forcings.attributes(data["uwnd"])
    @test about["units"] == "m s-1"
    @test about["scale_factor"] === 0.01
    @test Forcings.attributes(data, "uwnd") == about
end

@testset "a field is an array" begin
    data = sample_at(Provider(WINDS), T0)
    f = data["temp"]
    @test f isa DenseArray{Float64, 3}
    @test size(f) == (6, 4, 3)
    @test strides(f) == (1, 6, 24)
    @test length(f) == 72
    @test f[end] == f[6, 4, 3] == 235.0
    @test view(f, :, 2, 1) == 10:15
    @test sum(f) == sum(Array(f))
    @test Array(f) isa Array{Float64, 3}
    @test copy(f) isa Array{Float64, 3}
    @test f .+ 1 isa Array{Float64, 3}
    @test reshape(f, 24, 3)[24, 3] == 235.0
    @test Forcings.fileorder(f)[3, 4, 6] == 235.0
    @test size(Forcings.fileorder(f)) == (3, 4, 6)
    @test unsafe_load(pointer(f), 72) == 235.0
    @test_throws BoundsError f[73]
    @test_throws BoundsError f[0, 1, 1]
    @test refuses(() -> f[1] = 2.0, Forcings.InvalidParameterError, "read-only")
    @test refuses(() -> deepcopy(f), Forcings.InvalidParameterError, "Array(field)")
    @test collect(pairs(data))[1][1] == "uwnd"
    @test length(data) == 9
    @test haskey(data, "lat") && !haskey(data, "time")
    @test get(data, "time", nothing) === nothing
end

@testset "reductions are those of an array" begin
    f = sample_at(Provider(WINDS), T0)["temp"]
    copied = Array(f)
    for reduction in (
            sum,
            maximum,
            minimum,
            prod,
            x -> sum(abs, x),
            x -> maximum(x; dims = 2),
            x -> mapreduce(abs, +, x; init = 1.0),
        )
        @test isequal(reduction(f), reduction(copied))
    end
    @test isequal(mapreduce(*, +, f, f), mapreduce(*, +, copied, copied))
end

@testset "what belongs to the library stays in its process" begin
    p = Provider(WINDS)
    data = sample_at(p, T0)
    store = memory_store()
    for x in (
            p,
            data,
            store,
            [p],
            Dict("a" => data),
            PrefetchGroup(Dict("a" => p)),
            StaticReader(store; resolution = Hour(1)),
        )
        @test refuses(() -> serialize(IOBuffer(), x), Forcings.InvalidParameterError, "another process")
        @test refuses(() -> deepcopy(x), Forcings.InvalidParameterError, "cannot be copied")
    end
    io = IOBuffer()
    serialize(io, data["temp"])
    received = deserialize(seekstart(io))
    @test received isa Array{Float64, 3}
    @test isequal(received, data["temp"])
end

@testset "a field outlives its dataset and its provider" begin
    field() = (p = Provider(WINDS); f = sample_at(p, T0)["gusts"]; close(p); f)
    f = field()
    for _ in 1:3
        GC.gc()
    end
    @test f == 0:5
    @test view(f, 2:3) == 1:2
end

@testset "windows" begin
    p = Provider(WINDS)
    w = with_window(p, DimWindow("lat" => (1, 3), "lon" => [5, 0, 0]))
    whole, part = sample_at(p, T0), sample_at(w, T0)
    @test part["temp"] == Array(whole["temp"])[[6, 1, 1], 2:3, :]
    @test part["uwnd"] == Array(whole["uwnd"])[[6, 1, 1], 2:3]
    @test part["lat"] == [10, 20]
    @test part["lon"] == [75, 0, 0]
    @test part["station"] == ["Bergen", ""]
    @test same(sample_at(Provider(WINDS; select = DimWindow("lat" => (1, 3), "lon" => [5, 0, 0])), T0), part)
    @test size(sample_at(with_window(p, DimWindow("lat" => (2, 2))), T0)["uwnd"]) == (6, 0)
    @test refuses(() -> with_window(w, DimWindow("lev" => :all)), Forcings.SelectionError, "select")
    @test refuses(() -> with_window(p, DimWindow("time" => (0, 1))), Forcings.SelectionError, "time")
    @test refuses(Forcings.SelectionError, "height", "lat") do
        sample_at(with_window(p, DimWindow("height" => (0, 1))), T0)
    end
    @test refuses(Forcings.SelectionError, "lat", "length 4") do
        sample_at(with_window(p, DimWindow("lat" => (0, 9))), T0)
    end
    @test refuses(() -> with_window(p, "lat"), Forcings.InvalidParameterError, "DimWindow")
end

@testset "errors" begin
    folder = mktempdir()
    missing_file = joinpath(folder, "none.nc")
    @test refuses(() -> Provider(missing_file), Forcings.IoError, missing_file)
    other = joinpath(folder, "text.nc")
    write(other, "no NetCDF file at all, just text of some length")
    @test refuses(() -> Provider(other), Forcings.FormatError, other)
    cut = joinpath(folder, "cut.nc")
    write(cut, read(WINDS)[1:3000])
    @test refuses(() -> sample_at(Provider(cut), T0), Forcings.FormatError, cut)
    p = Provider(WINDS)
    @test refuses(() -> sample_at(p, T0 - 1), Forcings.OffGridError, "first refresh time")
    @test refuses(() -> sample_at(p, NaN), Forcings.ForcingsError)
    @test refuses(() -> sample_at(p, "now"), Forcings.InvalidParameterError, "DateTime")
    @test refuses(() -> sample_at(p, T0)["vwnd"], Forcings.NotFoundError, "vwnd", "uwnd")
    @test refuses(() -> Provider(WINDS; variables = ["vwnd"]), Forcings.NotFoundError, "vwnd")
    @test refuses(() -> Provider(WINDS; variables = "uwnd"), Forcings.InvalidParameterError, "vector", "\"uwnd\"")
    @test refuses(() -> Provider(WINDS; times = DateTime(2001)), Forcings.InvalidParameterError, "vector")
    @test refuses(() -> Provider(WINDS; format = "grib"), Forcings.ForcingsError, "grib")
    @test refuses(() -> Provider(WINDS; times = [2.0, 1.0]), Forcings.InvalidParameterError, "ascend")
    @test refuses(() -> Provider(String[]), Forcings.InvalidParameterError, "file")
    @test refuses(() -> materialize(p), Forcings.InvalidParameterError, "sample_at")
    close(p)
    close(p)
    @test !isopen(p)
    @test refuses(() -> sample_at(p, T0), Forcings.ClosedError, "provider")
    @test refuses(() -> refresh_times(p), Forcings.ClosedError)
end

@testset "concurrent samples" begin
    p = Provider(WINDS)
    expected = [Array(sample_at(p, t)["crest"]) for t in refresh_times(p)]
    tasks = [Threads.@spawn(Array(sample_at(p, T0 + 6HOUR * (n % 12))["crest"])) for n in 1:48]
    @test all(fetch(tasks[n]) == expected[n % 12 + 1] for n in 1:48)
end
