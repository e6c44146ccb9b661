# How objects print: on one line, in the REPL, and closed.

include("common.jl")

line(x) = sprint(show, x)
repl(x) = sprint(show, MIME("text/plain"), x)

@testset "stores and series" begin
    path = joinpath(mktempdir(), "s.nc")
    store = create_store(path)
    @test line(store) == "Store($(repr(path)))"
    close(store)
    @test line(store) == "Store(closed)"
    open_store(s -> (@test line(s) == "Store($(repr(path)), read only)"), path; read_only = true)
    memory_store(s -> (@test line(s) == "Store(in memory)"))
    @test line(Owner(1, "Bus")) == "Owner(1, \"Bus\")"
    @test line(Owner(1, "Bus"; category = :attribute)) == "Owner(1, \"Bus\"; category = :attribute)"
    series = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24, 2))
    @test line(series) == "SingleTimeSeries(\"load\", 2030-01-01T00:00:00, 1 hour, 24×2 Float64)"
    @test repl(series) ==
        """
    SingleTimeSeries "load"
      start          2030-01-01T00:00:00
      last           2030-01-01T23:00:00
      resolution     1 hour
      length         24 steps
      values         Float64 of shape (2,)"""
    zoned = SingleTimeSeries("load", DateTime(2030), Hour(24), Bool[1]; time_reference = "+0530")
    @test line(zoned) == "SingleTimeSeries(\"load\", 2030-01-01T00:00:00, 24 hours, 1-element Bool, +05:30)"
    @test occursin("length         1 step\n  values         Bool\n  time reference +05:30", repl(zoned))
    steps = PersistentTimeSeries("price", [DateTime(2030), DateTime(2031)], [1, 2])
    @test line(steps) == "PersistentTimeSeries(\"price\", 2 timestamps, 2-element Int64)"
    @test occursin("last           2031-01-01T00:00:00\n  length         2 breakpoints", repl(steps))
    none = NonSequentialTimeSeries("outage", DateTime[], Float64[])
    @test repl(none) == "NonSequentialTimeSeries \"outage\"\n  length         0 timestamps\n  values         Float64"
end

@testset "forecasts" begin
    levels = [0.1, 0.9]
    f = Probabilistic("wind", DateTime(2030), Hour(1), rand(24, 7, 2); percentiles = levels, interval = Day(1))
    @test line(f) == "Probabilistic(\"wind\", 2030-01-01T00:00:00, 7 windows of 24 hours, 24×7×2 Float64)"
    @test repl(f) ==
        """
    Probabilistic "wind"
      start          2030-01-01T00:00:00
      last window    2030-01-07T00:00:00
      resolution     1 hour
      horizon        24 hours, 24 steps
      interval       1 day
      count          7 windows
      percentiles    0.1, 0.9
      values         Float64"""
    s = Scenarios("wind", DateTime(2030), Month(1), rand(Float32, 3, 1, 5, 2); interval = Month(1))
    @test occursin("scenarios      5\n  values         Float32 of shape (2,)", repl(s))
    load = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))
    d = DeterministicSingleTimeSeries(load; horizon = Hour(4), interval = Hour(2))
    @test line(d) == "DeterministicSingleTimeSeries(\"load\", 2030-01-01T00:00:00, 11 windows of 4 hours, 4×11 Float64)"
    @test occursin("last window    2030-01-01T20:00:00", repl(d)) && occursin("count          11 windows", repl(d))
end

@testset "listings" begin
    memory_store() do store
        @test line(list_series(store)) == repl(list_series(store)) == "Listing of 0 series"
        series = SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24, 2))
        add!(store, [(Owner(n, "Bus"), series, (features = (n = n,),)) for n in 1:40])
        rows = list_series(store)
        lines = split(repl(rows), '\n')
        @test length(lines) == 42 && lines[1] == "Listing of 40 series"
        for part in ("1 ", "SingleTimeSeries", "\"load\"", "Bus 1", "2030-01-01T00:00:00", "1 hour", "24", "n = 1")
            @test occursin(part, lines[3])
        end
        screen(io) = IOContext(IOContext(io, :limit => true), :displaysize => (12, 50))
        small = split(sprint(io -> show(screen(io), MIME("text/plain"), rows)), '\n')
        @test length(small) == 9 && endswith(small[end], "⋮")
        @test all(text -> textwidth(text) <= 50, small) && endswith(small[3], "…")
        @test line(rows) == "Listing of 40 series"
    end
end

@testset "readers" begin
    memory_store() do store
        add!(store, [(Owner(n, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))) for n in 1:2])
        add!(store, Owner(1, "Bus"), SingleTimeSeries("on", DateTime(2030), Hour(1), rand(Bool, 24, 3)))
        reader = StaticReader(store; resolution = Hour(1))
        @test line(reader) == "StaticReader(SingleTimeSeries: 3 series, 24 steps)"
        @test occursin("from 2030-01-01T00:00:00 to 2030-01-01T23:00:00", repl(reader))
        @test occursin("2 × Float64", repl(reader)) &&
            occursin("resolution 1 hour", repl(reader)) &&
            occursin("1 × Bool of shape (3,)", repl(reader))
        close(reader)
        @test line(reader) == repl(reader) == "StaticReader(closed)"
        none = StaticReader(store; resolution = Hour(1), name = "none", readahead = 0)
        @test line(none) == "StaticReader(SingleTimeSeries: 0 series, 0 steps)"
        @test occursin("readahead off", repl(none))
        add!(store, Owner(1, "Bus"), Deterministic("wind", DateTime(2030), Hour(1), rand(4, 3); interval = Hour(2)))
        forecasts = ForecastReader(store; type = Deterministic, resolution = Hour(1))
        @test line(forecasts) == "ForecastReader(Deterministic: 1 forecast in 1 slot, 3 windows)"
        @test occursin("from 2030-01-01T00:00:00 to 2030-01-01T04:00:00", repl(forecasts))
        @test occursin("resolution 1 hour, interval 2 hours", repl(forecasts))
        @test occursin("1 slot: 4-element Float64", repl(forecasts))
        @test occursin("readahead 16.000 MiB", repl(forecasts))
    end
end

@testset "providers and their data" begin
    p = Provider(WINDS)
    @test line(p) == "Provider(\"winds.nc\", 12 times)"
    @test occursin("from 2001-01-01T00:00:00 to 2001-01-03T18:00:00", repl(p))
    @test line(Provider([WINDS])) == line(p)
    close(p)
    @test line(p) == repl(p) == "Provider(closed)"
    @test line(DimWindow("lon" => [1, 0], "lat" => (1, 3), "lev" => :all)) ==
        "DimWindow(\"lat\" => (1, 3), \"lev\" => :all, \"lon\" => [1, 0])"
end

@testset "datasets" begin
    data = sample_at(Provider(WINDS), DateTime(2001))
    names = ["uwnd", "temp", "gusts", "crest", "lat_bounds", "station", "lev", "lat", "lon"]
    @test line(data) == "Dataset($(join(repr.(names), ", ")))"
    @test repl(data) ==
        rstrip(
            """
    Dataset with 6 variables and 3 coordinates
      dimensions
        lon   6
        lat   4
        lev   3
        edge  2
      coordinates
        lev  Float64  1000.0 … 500.0
        lat  Float64  0.0 … 30.0
        lon  Float64  0.0 … 75.0
      variables
        uwnd        lon × lat        Float64  m s-1
        temp        lon × lat × lev  Float64
        gusts       lon              Int32
        crest       lon × lat        Float64
        lat_bounds  edge × lat       Float64
        station     lat              String
      attributes
        levels  [1, 2, 3]
        title   test data
    """,
        )
    screen(io, size...) = IOContext(IOContext(io, :limit => true), :displaysize => size)
    small = split(sprint(io -> show(screen(io, 12, 30), MIME("text/plain"), data)), '\n')
    @test length(small) == 9 && small[end] == "  ⋮" && small[8] == "    lev  Float64  1000.0 … 50…"
    @test all(text -> textwidth(text) <= 30, small[2:end])
    short = sprint(io -> show(screen(io, 12, 30), data))
    @test short == "Dataset(\"uwnd\", \"temp\", \"gust…"
end

@testset "fields" begin
    data = sample_at(Provider(WINDS), DateTime(2001))
    @test repl(data["gusts"]) ==
        rstrip(
            """
    6-element Field{Int32} gusts(lon)
      lon  6  0.0 … 75.0
      values
     0
     1
     2
     3
     4
     5""",
        )
    @test line(data["gusts"]) == "Int32[0, 1, 2, 3, 4, 5]"
    text = repl(data["uwnd"])
    @test startswith(
        text,
        rstrip(
            """
    6×4 Field{Float64} uwnd(lon, lat)
      lon  6  0.0 … 75.0
      lat  4  0.0 … 30.0
      _FillValue    -32768
      add_offset    1.0
      scale_factor  0.01
      units         m s-1
      values
     1.0   1.1   1.2   1.3
    """,
        ),
    )
    @test length(split(text, '\n')) == 14
    globe = materialize(Provider(joinpath(DATA, "globe.nc")))
    @test startswith(
        repl(globe["v_west"]),
        "8-element Field{Int32} v_west(west)\n  west  8  -180.0 … 135.0  degrees_east\n",
    )
    # The head and the values share a small screen.
    screen(io, size...) = IOContext(IOContext(io, :limit => true), :displaysize => size)
    shown(size...) = split(sprint(io -> show(screen(io, size...), MIME("text/plain"), data["uwnd"])), '\n')
    @test length(shown(24, 80)) <= 24 && length(shown(12, 40)) <= 14
    @test shown(8, 30)[1:5] ==
        [
            "6×4 Field{Float64} uwnd(lon, lat)",
            "  lon  6  0.0 … 75.0",
            "  lat  4  0.0 … 30.0",
            "  _FillValue    -32768",
            "  ⋮",
        ]
    none = sample_at(with_window(Provider(WINDS), DimWindow("lat" => [])), DateTime(2001))
    @test startswith(repl(none["uwnd"]), "6×0 Field{Float64} uwnd(lon, lat)\n  lon  6  0.0 … 75.0\n  lat  0\n")
    @test occursin("lat  Float64\n", repl(none))
end

@testset "groups and epochs" begin
    group = PrefetchGroup(Dict("winds" => Provider(WINDS)); inline = true)
    @test line(group) == "PrefetchGroup(\"winds\"; 12 epochs, depth 2, inline)"
    @test endswith(repl(group), "\n  order    none yet; call start!")
    @test repl(stats(group)) |> text -> occursin("nothing was decoded yet", text) && occursin("waited_s", text)
    start!(group, :forward)
    epoch = take!(group, 1)
    @test occursin("\n  order    epoch 2 is next, 1 of 12 taken", repl(group))
    @test occursin("\n  so far   you waited", repl(group)) && occursin("with inline = false", repl(group))
    @test line(epoch) == "EpochSample(1, \"winds\")"
    @test repl(epoch) == "EpochSample(1, \"winds\")\n  \"winds\": anchor 9.783072e8, changed"
    @test occursin("anchor 9.783072e8, changed", line(epoch["winds"]))
    kept = take!(e -> (e, e["winds"].data, e["winds"].data["gusts"]), group, 2)
    @test line(kept[1]) == "EpochSample(2, \"winds\"; closed)"
    @test line(kept[2]) == repl(kept[2]) == "Dataset(closed)"
    @test line(kept[3]) == repl(kept[3]) == "Field(closed)"
    close(group)
    @test line(group) == repl(group) == "PrefetchGroup(closed)"
end
