# Windows: their form, what is refused and when, several at once, and by coordinate values.

include("common.jl")

const T0 = datetime2unix(DateTime(2001))
const GLOBE = joinpath(DATA, "globe.nc")

dims(selectors...) = Dict("dims" => Dict(selectors...))

@testset "selectors" begin
    w = DimWindow("lat" => (1, 3), "lon" => [4, 5, 0], "lev" => :all, "edge" => (0, 2, 2))
    @test w.dims["lat"] == (slice = [1, 3],)
    @test w.dims["edge"] == (slice = [0, 2, 2],)
    @test w.dims["lon"] == (indices = [4, 5, 0],)
    @test w.dims["lev"] == "all"
    @test DimWindow(Dict("lat" => (1, 3))).dims == Dict("lat" => (slice = [1, 3],))
    @test DimWindow("lon" => []).dims["lon"] == (indices = [],)
    @test DimWindow("lat" => (1, 3)) == DimWindow(:lat => (0x01, Int32(3))) != DimWindow("lat" => (1, 4))
    @test hash(DimWindow("lat" => (1, 3))) == hash(DimWindow("lat" => (1, 3)))
end

@testset "refused" begin
    @test refuses(() -> DimWindow("lat" => 2:3), Forcings.InvalidParameterError, "range 2:3", "(1, 3)", "\"lat\"")
    for (range, wrong) in ((0:3, "(-1, 3)"), (1:2:9, "(0, 9)"))
        @test refuses(() -> DimWindow("lat" => range), Forcings.InvalidParameterError, "range $range")
        @test !occursin(wrong, thrown(() -> DimWindow("lat" => range)).message)
    end
    @test refuses(() -> DimWindow("lat" => (-1, 3)), Forcings.InvalidParameterError, "negative")
    @test refuses(() -> DimWindow("lat" => [-1]), Forcings.InvalidParameterError, "negative")
    @test refuses(() -> DimWindow("lat" => :some), Forcings.InvalidParameterError, ":some")
    # A mask is no list of indices.
    @test refuses(() -> DimWindow("lat" => [true, false]), Forcings.InvalidParameterError, "vector of indices")
    @test refuses(() -> DimWindow("lat" => trues(3)), Forcings.InvalidParameterError, "vector of indices")
    @test refuses(() -> DimWindow("lat" => (false, true)), Forcings.InvalidParameterError, "(start, stop)")
    @test refuses(() -> DimWindow("lat" => (0, 1), "lat" => (0, 2)), Forcings.InvalidParameterError, "once")
    @test refuses(() -> DimWindow("lat" => (0, 1), :lat => (0, 2)), Forcings.InvalidParameterError, "once")
    @test refuses(() -> DimWindow("lat" => 3), Forcings.InvalidParameterError, "\"lat\"")
    @test refuses(() -> DimWindow("lat" => [1.0]), Forcings.InvalidParameterError, "vector of indices")
    @test refuses(() -> DimWindow("lat" => [typemax(UInt64)]), Forcings.InvalidParameterError, "Int64")
end

@testset "the wire form is taken wherever a window is" begin
    p = Provider(WINDS)
    w = DimWindow("lat" => (1, 3), "lon" => [5, 0, 0], "lev" => :all)
    wire = dims("lat" => Dict("slice" => [1, 3]), "lon" => Dict("indices" => [5, 0, 0]), "lev" => "all")
    symbols = Dict(:dims => Dict(:lat => Dict(:slice => (1, 3)), :lon => Dict(:indices => Any[5, 0, 0]), :lev => :all))
    expected = sample_at(with_window(p, w), T0)
    for window in (wire, symbols)
        @test same(sample_at(with_window(p, window), T0), expected)
        @test same(sample_at(Provider(WINDS; select = window), T0), expected)
        @test same(sample_windows_at(p, T0, [window, w])[1], expected)
    end
    # Positions are a selection, but no window. They belong to the variables of that rank, and by name to the others.
    axes = Dict("axes" => ["all", Dict("slice" => [0, 1]), Dict("indices" => [3, 0]), "all"])
    part = sample_at(Provider(WINDS; select = axes), T0)
    @test part["temp"] == Array(sample_at(p, T0)["temp"])[:, [4, 1], 1:1]
    @test part["lat"] == [30, 0]
    @test same(sample_at(Provider(WINDS; select = Dict()), T0), sample_at(p, T0))
    @test same(sample_at(Provider(WINDS; select = Dict("all_records" => true)), T0), sample_at(p, T0))
    @test same(sample_at(with_window(p, dims()), T0), sample_at(p, T0))
end

@testset "the wire form is refused at once" begin
    p = Provider(WINDS)
    for (window, parts) in (
            (Dict("dims" => Dict(), "axes" => []), ["exclude each other"]),
            (Dict("lat" => Dict("slice" => [0, 1])), ["unknown key \"lat\"", "\"dims\""]),
            (Dict("axis" => ["all"]), ["unknown key \"axis\""]),
            (dims("lat" => "some"), ["dimension \"lat\"", "expected"]),
            (dims("lat" => Dict("slice" => [0])), ["two or three entries"]),
            (dims("lat" => Dict("indices" => [-1])), ["-1 is not an index"]),
            (dims("lat" => Dict("indices" => [1.5])), ["1.5 is not an index"]),
            (dims("lat" => Dict("slice" => Any[0, true])), ["true is not an index"]),
            (dims("lat" => (0, 1)), ["expected"]),
            (Dict("axes" => "all"), ["must be a list"]),
        )
        for f in (w -> with_window(p, w), w -> Provider(WINDS; select = w), w -> sample_windows_at(p, T0, [w]))
            @test refuses(() -> f(window), Forcings.SelectionError, parts...)
        end
    end
    @test refuses(() -> with_window(p, "lat"), Forcings.InvalidParameterError, "DimWindow", "\"lat\"")
    @test refuses(() -> with_window(p, dims("lat" => Dict("slice" => [0, NaN]))), Forcings.InvalidParameterError, "NaN")
    @test refuses(() -> with_window(p, dims("lat" => sum)), Forcings.InvalidParameterError, "wire form")
    @test refuses(() -> with_window(p, Dict(1 => 2)), Forcings.InvalidParameterError, "keys")
    @test refuses(
        () -> with_window(p, Dict(:dims => Dict(), "dims" => Dict())),
        Forcings.InvalidParameterError,
        "same name",
    )
end

@testset "a window is checked before anything is read" begin
    folder = mktempdir()
    file = joinpath(folder, "winds.nc")
    cp(WINDS, file)
    p = Provider(file)
    rm(file)
    @test refuses(() -> sample_at(p, T0), Forcings.IoError)
    w = with_window(p, DimWindow())
    @test refuses(() -> with_window(w, DimWindow("lev" => :all)), Forcings.SelectionError, "selection already")
    @test refuses(() -> sample_windows_at(w, T0, [DimWindow()]), Forcings.SelectionError, "selection already")
    @test refuses(() -> CoordWindow(w, "lat" => (0.0, 1.0)), Forcings.SelectionError, "selection already")
    for window in (Dict(), Dict("axes" => ["all"]))
        @test refuses(() -> with_window(p, window), Forcings.SelectionError, "names its dimensions")
    end
    for window in (DimWindow("time" => :all), DimWindow("time" => (0, 1)))
        @test refuses(() -> with_window(p, window), Forcings.SelectionError, "time dimension")
        @test refuses(() -> sample_windows_at(p, T0, [DimWindow(), window]), Forcings.SelectionError, "time dimension")
    end
    @test sample_windows_at(p, T0, []) == Forcings.Dataset[]
    @test sample_windows_at(w, NaN, ()) == Forcings.Dataset[]
end

@testset "several windows at once" begin
    p = Provider(WINDS)
    windows = [
        DimWindow("lat" => (1, 3), "lon" => [5, 0, 1]),
        DimWindow("lat" => [3, 0, 0], "lev" => (0, 3, 2)),
        DimWindow(),
        DimWindow("lon" => (2, 2)),
        DimWindow("edge" => [1, 0]),
    ]
    for t in (T0, DateTime(2001, 1, 2, 3))
        samples = sample_windows_at(p, t, windows)
        @test samples isa Vector{Forcings.Dataset}
        for (sample, w) in zip(samples, windows)
            @test same(sample, sample_at(with_window(p, w), t))
        end
    end
    @test size(sample_windows_at(p, T0, (windows[4],))[1]["temp"]) == (0, 4, 3)
    bad = [windows; DimWindow("height" => :all)]
    @test refuses(() -> sample_windows_at(p, T0, bad), Forcings.SelectionError, "height", "lat")
    @test refuses(
        () -> sample_windows_at(p, T0, [windows; DimWindow("lat" => [4])]),
        Forcings.SelectionError,
        "index 4",
    )
    @test refuses(() -> sample_windows_at(p, T0 - 1, windows), Forcings.OffGridError, "first refresh time")
    @test refuses(() -> sample_windows_at(p, T0, DimWindow()), Forcings.InvalidParameterError, "vector of windows")
    @test refuses(() -> sample_windows_at(p, T0, [DimWindow("lat" => (0, 2, 0))]), Forcings.SelectionError, "step 0")
end

@testset "each sample of a list keeps the memory of all" begin
    pick() = sample_windows_at(Provider(WINDS), T0, [DimWindow(), DimWindow("lat" => [3])])[2]["temp"]
    field = pick()
    for _ in 1:3
        GC.gc()
    end
    @test field == [100k + 30 + i for i in 0:5, j in 0:0, k in 0:2]
end

@testset "windows by coordinate values" begin
    p = Provider(WINDS)
    @test CoordWindow(p, "lat" => (5.0, 25)) == DimWindow("lat" => (1, 3))
    @test CoordWindow(p, "lat" => (10, 20), :lon => (15.0, 15.0)) == DimWindow("lat" => (1, 3), "lon" => (1, 2))
    @test CoordWindow(p, Dict("lev" => (500.0, 900.0))) == DimWindow("lev" => (1, 3))
    @test CoordWindow(p, "lev" => (-Inf, 850)) == DimWindow("lev" => (1, 3))
    @test CoordWindow(p) == DimWindow()
    part = sample_at(with_window(p, CoordWindow(p, "lat" => (10, 20))), T0)
    @test part["lat"] == [10, 20]
    for (interval, parts) in (
            ("height" => (0, 1), ["no coordinate \"height\"", "\"lev\""]),
            ("uwnd" => (0, 1), ["no coordinate \"uwnd\""]),
            ("time" => (0, 1), ["time dimension"]),
            ("lat" => (11, 19), ["no cell lies in (11, 19)", "from 0 to 30 in 4 cells"]),
            ("lat" => (20, 10), ["(lower, upper)"]),
            ("lat" => (0, NaN), ["NaN"]),
        )
        @test refuses(() -> CoordWindow(p, interval), Forcings.SelectionError, parts...)
    end
    for interval in ("lat" => 1:2, "lat" => 5, "lat" => ("a", "b"), "lat" => (1, 2, 3))
        @test refuses(() -> CoordWindow(p, interval), Forcings.InvalidParameterError, "(lower, upper)")
    end
    twice = () -> CoordWindow(p, "lat" => (0, 1), :lat => (0, 2))
    @test refuses(twice, Forcings.InvalidParameterError, "once")
    close(p)
    @test refuses(() -> CoordWindow(p, "lat" => (0, 1)), Forcings.ClosedError)
end

@testset "longitudes go round the globe" begin
    p = Provider(GLOBE)
    # east: 0, 45, …, 315; west: -180, …, 135; twice: 0, 90, …, 360; part: -20, 0, 20 (all degrees east).
    cells(w) = Array(materialize(with_window(p, w))["v_" * first(keys(w.dims))])
    met(coord, from, to) = cells(CoordWindow(p, coord => (from, to)))
    @test CoordWindow(p, "east" => (300.0, 100.0)) == DimWindow("east" => [7, 0, 1, 2])
    @test CoordWindow(p, "west" => (300.0, 100.0)) == DimWindow("west" => (3, 7))
    @test met("east", 300, 100) == met("east", -60, 100) == [7, 0, 1, 2]
    @test met("west", 130, 230) == [7, 0, 1]
    @test met("west", 130, -130) == [7, 0, 1]
    @test CoordWindow(p, "east" => (-180, 180)) == DimWindow("east" => (0, 8))
    @test CoordWindow(p, "twice" => (270, 90)) == DimWindow("twice" => [3, 0, 1])
    @test CoordWindow(p, "twice" => (180, 360)) == DimWindow("twice" => (2, 5))
    @test CoordWindow(p, "part" => (350, 10)) == DimWindow("part" => (1, 2))
    @test refuses(() -> CoordWindow(p, "part" => (10, 350)), Forcings.SelectionError, "both ends")
end
