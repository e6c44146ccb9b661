# Providers: times, decoding, windows, errors. What the files hold is said in data/make.py.

include("common.jl")
include("classic.jl")
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

@testset "times in every calendar" begin
    folder = mktempdir()
    series(name, clock; attributes...) = write_series(joinpath(folder, name), clock, 1:length(clock); attributes...)
    day = 24HOUR
    # Days from 1970 to 2000-02-28, and to the day after it, in each calendar.
    for (calendar, days) in [
            ("standard", 11015),
            ("gregorian", 11015),
            ("proleptic_gregorian", 11015),
            ("julian", 11015),
            ("noleap", 30 * 365 + 58),
            ("365_day", 30 * 365 + 58),
            ("all_leap", 30 * 366 + 58),
            ("360_day", 30 * 360 + 57),
        ]
        file = series("$calendar.nc", [0, 1, 1.5]; units = "days since 2000-02-28", calendar = calendar)
        p = Provider(file)
        @test refresh_times(p) == day .* (days .+ [0, 1, 1.5])
        @test sample_at(p, day * (days + 1.25))["v"][] == 2
    end
    # One instant has one time, however it is written.
    hours = series("hours.nc", 876576:876579; units = "hours since 1900-01-01")
    minutes = series("minutes.nc", [15_778_320, 15_778_380]; units = "minutes since 1970-01-01T00:00:00Z")
    p = Provider([minutes, hours])
    @test refresh_times(p) == datetime2unix(DateTime(2000)) .+ HOUR .* (0:5)
    @test [sample_at(p, t)["v"][] for t in refresh_times(p)] == [1, 2, 3, 4, 1, 2]
    @test sample_at(p, DateTime(2000, 1, 1, 4, 59))["v"][] == 1
    @test refuses(() -> sample_at(p, DateTime(1999)), Forcings.OffGridError, "first refresh time")
    # Months have no fixed length, so their times are given.
    months = series("months.nc", 0:2; units = "months since 2000-01-01")
    @test refuses(() -> Provider(months), Forcings.FormatError, "no fixed length")
    @test sample_at(Provider(months; times = [0, 2]), 1.9)["v"][] == 1
    noleap = series("other.nc", [3]; units = "days since 2000-02-28", calendar = "noleap")
    @test refuses(Forcings.FormatError, "calendar", "noleap") do
        Provider([joinpath(folder, "standard.nc"), noleap])
    end
end

@testset "brackets" begin
    p = Provider(WINDS; records_per_sample = 2)
    both, one = sample_at(p, T0 + 7HOUR), [sample_at(Provider(WINDS), T0 + 6HOUR * k) for k in (1, 2)]
    @test Forcings.dims(both["uwnd"]) == ["lon", "lat", "time"]
    for name in ("uwnd", "temp", "crest", "gusts")
        whole = Array(both[name])
        @test size(whole) == (size(one[1][name])..., 2)
        for k in 1:2
            @test isequal(selectdim(whole, ndims(whole), k), Array(one[k][name]))
        end
    end
    @test both["station"] == one[1]["station"]
    @test Forcings.coords(both) == ["time", "lev", "lat", "lon"]
    @test both["time"] isa Forcings.Field{Float64, 1}
    @test both["time"] == T0 .+ [6HOUR, 12HOUR]
    @test Forcings.attributes(both["time"]) ==
        Dict("units" => "seconds since 1970-01-01T00:00:00Z", "calendar" => "standard")
    # At the end there is no next record.
    last = sample_at(p, T0 + 100HOUR)
    @test last["time"] == [T0 + 66HOUR, T0 + 66HOUR]
    @test last["gusts"] == [11 + i for i in 0:5, _ in 1:2]
    @test same(refresh(p, T0), sample_at(p, T0))
    part = sample_at(with_window(p, DimWindow("lat" => (1, 3))), T0)
    @test part["temp"] == Array(sample_at(p, T0)["temp"])[:, 2:3, :, :]
    # Over the seam of two files, and in a group.
    folder = mktempdir()
    files = [
        write_series(joinpath(folder, "$k.nc"), 2k .+ (0:1), 10k .+ (1:2); units = "hours since 2001-01-01")
        for k in 0:1
    ]
    p = Provider(files; records_per_sample = 2)
    values(data) = (data["v"], (data["time"] .- T0) ./ HOUR)
    expected = [([1, 2], [0, 1]), ([2, 11], [1, 2]), ([11, 12], [2, 3]), ([12, 12], [3, 3])]
    @test [values(sample_at(p, t)) for t in refresh_times(p)] == expected
    group = PrefetchGroup(Dict("p" => p))
    start!(group, :reverse)
    @test all(values(take!(group, k)["p"].data) == expected[k] for k in 4:-1:1)
    close(group)
    rm(files[2])
    @test refuses(() -> sample_at(p, T0 + HOUR), Forcings.IoError, "1.nc")
    @test refuses(Forcings.InvalidParameterError, "time dimension", "fixed.nc") do
        Provider(joinpath(DATA, "fixed.nc"); records_per_sample = 2)
    end
end

@testset "single precision" begin
    wide, narrow = sample_at(Provider(WINDS), T0 + 6HOUR), sample_at(Provider(WINDS; eltype = Float32), T0 + 6HOUR)
    @test keys(narrow) == keys(wide)
    for name in ("uwnd", "temp", "crest", "lat_bounds")
        @test narrow[name] isa Forcings.Field{Float32}
        @test isequal(Array(narrow[name]), Float32.(wide[name]))
    end
    @test narrow["gusts"] isa Forcings.Field{Int32, 1}
    @test narrow["lat"] isa Forcings.Field{Float64, 1}
    @test narrow["station"] == wide["station"]
end

@testset "options" begin
    @test same(sample_at(Provider(WINDS; threads = 2), T0), sample_at(Provider(WINDS), T0))
    for (option, part) in [
            (:records => [0], "no option records"),
            (:engine => 1, "records_per_sample, variables"),
            (:records_per_sample => 3, "records_per_sample is 3"),
            (:records_per_sample => 0, "from 1 on"),
            (:records_per_sample => 1.5, "from 1 on"),
            (:threads => true, "threads"),
            (:eltype => Int, "Float32"),
            (:eltype => "Float32", "Float32"),
        ]
        @test refuses(() -> Provider(WINDS; [option]...), Forcings.InvalidParameterError, part)
    end
    # All of the unknown ones at once, and the known.
    @test refuses(Forcings.InvalidParameterError, "no option engine, chunks; its options are format, times") do
        Provider(WINDS; engine = 1, threads = 2, chunks = 3)
    end
end

@testset "the buffer" begin
    p = with_window(Provider(WINDS), DimWindow("lat" => (0, 1)))
    kept = refresh(p, T0)
    for other in (DimWindow("lat" => (1, 3)), DimWindow())
        peeked = refresh(p, T0; select = other)
        @test same(peeked, sample_at(Provider(WINDS; select = other), T0))
    end
    @test refuses(() -> refresh(p, T0 - 1), Forcings.OffGridError)
    @test pointer(refresh(p, T0 + 1)["uwnd"]) == pointer(kept["uwnd"])
    @test size(sample_at(p, T0)["uwnd"]) == (6, 1)
    @test refuses(() -> refresh(p, T0; select = DimWindow("time" => (0, 1))), Forcings.SelectionError, "time")
    fixed = Provider(joinpath(DATA, "fixed.nc"))
    @test materialize(fixed; select = DimWindow("lat" => [1]))["height"] == [10 + i for i in 0:2, _ in 1:1]
    @test refuses(Forcings.InvalidParameterError, "sample_at") do
        materialize(p; select = DimWindow())
    end
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
