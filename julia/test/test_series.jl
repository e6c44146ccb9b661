# Series by themselves: how they are made, refused, compared, indexed.

include("common.jl")

const START = DateTime(2030)
const TIMES = [DateTime(2030, 1, 3, 7, 30), DateTime(2030, 2, 11), DateTime(2031)]

single(values; options...) = SingleTimeSeries("load", START, Hour(1), values; options...)
forecast(values; interval = Day(1), options...) = Deterministic(
    "wind",
    START,
    Hour(1),
    values;
    interval = interval,
    options...,
)
probabilistic(values; percentiles = [0.1, 0.5, 0.9], options...) = Probabilistic(
    "wind",
    START,
    Hour(1),
    values;
    percentiles = percentiles,
    interval = Day(1),
    options...,
)

# One series of each type, of scalars and of elements of shape (2,).
function each_type(T = Float64; elements = ())
    numbers(dims...) = T.(reshape(1:prod((dims..., elements...)), dims..., elements...) .% (T === Bool ? 2 : 10^6))
    return [
        SingleTimeSeries("x", START, Hour(1), numbers(4)),
        NonSequentialTimeSeries("x", TIMES, numbers(3)),
        PersistentTimeSeries("x", TIMES, numbers(3)),
        Deterministic("x", START, Hour(1), numbers(3, 2); interval = Hour(2)),
        Probabilistic("x", START, Hour(1), numbers(3, 2, 2); percentiles = [0.1, 0.9], interval = Hour(2)),
        Scenarios("x", START, Hour(1), numbers(3, 2, 4); interval = Hour(2)),
        DeterministicSingleTimeSeries(
            SingleTimeSeries("x", START, Hour(1), numbers(6));
            horizon = Hour(4),
            interval = Hour(2),
        ),
    ]
end

@testset "every type: equality, hashes, copies" begin
    for elements in ((), (2,)), (a, b) in zip(each_type(; elements = elements), each_type(; elements = elements))
        @test a == b && isequal(a, b) && hash(a) == hash(b) && a !== b
        c = copy(a)
        @test c == a && typeof(c) === typeof(a)
        Forcings.contents(c)[1] = -1
        @test c != a && !isequal(c, a)
        Forcings.contents(c)[1] = NaN
        @test c != c && isequal(c, deepcopy(c)) && hash(c) == hash(deepcopy(c))
        @test length(unique([a, b, c, deepcopy(c)])) == 2
        @test size(a, ndims(a) + 1) == 1 && size(a, 1) == size(a)[1]
        @test collect(a) == [a[i] for i in eachindex(a)] && length(collect(a)) == length(a) == lastindex(a)
        @test first(a) == a[1] && a[end] == a[length(a)]
        @test all(x -> x isa eltype(a), a)
        @test Forcings.index_at(a, Forcings.timestamps(a)[2]) == 2 && a[Forcings.timestamps(a)[2]] == a[2]
        @test_throws BoundsError a[0]
        @test_throws BoundsError a[length(a) + 1]
    end
    types = each_type()
    @test all(i == j || types[i] != types[j] for i in eachindex(types), j in eachindex(types))
    @test single([1, 2]) == single([1.0, 2.0]) && hash(single([1, 2])) == hash(single([1.0, 2.0]))
    for other in (
            SingleTimeSeries("loads", START, Hour(1), [1.0]),
            SingleTimeSeries("load", START + Hour(1), Hour(1), [1.0]),
            SingleTimeSeries("load", START, Hour(2), [1.0]),
            single([1.0]; time_reference = :utc),
        )
        @test single([1.0]) != other
    end
    a, b = (SingleTimeSeries("load", START, r, [1.0, NaN]) for r in (Hour(1), Minute(60)))
    @test isequal(a, b) && hash(a) == hash(b)
    @test SingleTimeSeries("cost", START, Month(12), [1.0]) == SingleTimeSeries("cost", START, Year(1), [1.0])
    @test SingleTimeSeries("cost", START, Month(1), [1.0]) != SingleTimeSeries("cost", START, Day(30), [1.0])
end

@testset "values of other types and arrays" begin
    for (given, stored) in [
            (Int8, Int32),
            (UInt8, Int32),
            (Int16, Int32),
            (UInt16, Int32),
            (UInt32, Int64),
            (Float16, Float32),
        ]
        s = single(given[1, 2, 3])
        @test eltype(s) === stored && s.values == [1, 2, 3]
    end
    @test eltype(single(trues(3))) === Bool
    @test single(1.0:3.0).values isa Vector{Float64}
    @test single(view([1.0, 2.0, 3.0], 1:2)) == single([1.0, 2.0])
    values = [1.0, 2.0]
    @test single(values).values === values
    @test @inferred(SingleTimeSeries("load", START, Hour(1), values)) isa SingleTimeSeries{Float64, 1}
    @test @inferred(PersistentTimeSeries("load", TIMES, rand(Float32, 3, 2))) isa PersistentTimeSeries{Float32, 2}
    @test @inferred(forecast(rand(24, 2))) isa Deterministic{Float64, 2}
    @test @inferred(probabilistic(rand(24, 2, 3))) isa Probabilistic{Float64, 3}
    @test SingleTimeSeries("load", Date(2030), Hour(730) + Minute(30), [1.0]).resolution === Minute(43_830)
end

@testset "steps of static series" begin
    s = single([10.0, 20.0, 30.0])
    @test s[DateTime(2030, 1, 1, 1)] == 20 && s[Date(2030)] == 10 && sum(s) == 60 && maximum(s) == 30
    for t in (START + Minute(30), START - Hour(1), START + Hour(3))
        @test refuses(() -> s[t], Forcings.OffGridError, "SingleTimeSeries \"load\"", string(t))
    end
    rows = single([1.0 2.0; 3.0 4.0])
    @test rows[2] == [3, 4] && length(rows) == 2 && size(rows) == (2, 2)
    rows[2][1] = 7
    @test rows.values[2, 1] == 7
    outages = NonSequentialTimeSeries("outage", TIMES, [1.0, 2.0, 3.0])
    @test outages[TIMES[2]] == 2 && Forcings.timestamps(outages) == TIMES
    @test refuses(() -> outages[TIMES[2] + Hour(1)], Forcings.OffGridError, "outage")
    price = PersistentTimeSeries("price", TIMES, [1.0, 2.0, 3.0])
    @test [price[t] for t in (TIMES[1], TIMES[2] - Second(1), TIMES[2], DateTime(2050))] == [1, 1, 2, 3]
    @test refuses(() -> price[TIMES[1] - Second(1)], Forcings.OffGridError, "price", string(TIMES[1]))
    none = PersistentTimeSeries("price", DateTime[], Float64[])
    @test refuses(() -> none[START], Forcings.OffGridError, "no breakpoint")
    monthly = SingleTimeSeries("cost", DateTime(2031, 1, 31), Month(1), 1.0:13.0)
    @test monthly[DateTime(2031, 2, 28)] == 2 && monthly[DateTime(2032, 1, 31)] == 13
end

@testset "windows of forecasts" begin
    values = reshape(1.0:12.0, 3, 4)
    f = Deterministic("wind", START, Hour(1), values; interval = Hour(6))
    @test f[2] == f[START + Hour(6)] == Forcings.window(f, 2) == 4:6
    @test f.horizon == Hour(3) && length(f) == 4 && size(f) == (3, 4)
    @test Forcings.timestamps(f) == START .+ Hour.(0:6:18)
    @test Forcings.timestamps(f, 2) == Forcings.timestamps(f, START + Hour(6)) == START .+ Hour.(6:8)
    @test [sum(window) for window in f] == vec(sum(values; dims = 1))
    f[1][3] = 30
    @test f.values[3, 1] == 30
    @test refuses(() -> f[START + Hour(1)], Forcings.OffGridError, "no window", "wind")
    @test_throws BoundsError Forcings.timestamps(f, 5)
    @test Deterministic("wind", START, Hour(1), rand(3, 0); interval = Hour(1)) |> isempty
    single_window = Deterministic("wind", START, Hour(1), rand(3, 1); interval = Hour(0))
    @test single_window[START] == single_window.values[:, 1]
    p = probabilistic(rand(24, 2, 3, 5))
    @test size(p[2]) == (24, 3, 5) && p[2] == p.values[:, 2, :, :]
    monthly = Deterministic("plan", DateTime(2031, 1, 31), Day(1), rand(28, 3); interval = Month(1))
    @test Forcings.timestamps(monthly) == [DateTime(2031, 1, 31), DateTime(2031, 2, 28), DateTime(2031, 3, 31)]
    @test Forcings.timestamps(monthly, 2)[1:2] == [DateTime(2031, 2, 28), DateTime(2031, 3, 1)]
end

@testset "windows in a dictionary" begin
    windows = Dict(START + Day(d) => fill(Float64(d), 24) for d in 0:4)
    f = Deterministic("wind", windows, Hour(1))
    @test f.interval == Day(1) && f.initial_timestamp == START && f.values[1, :] == 0:4
    @test f == Deterministic("wind", START, Hour(1), f.values; interval = Hour(24))
    p = Probabilistic("wind", Dict(START => rand(24, 3)), Hour(1); percentiles = [1, 2, 3])
    @test size(p) == (24, 1, 3) && p.interval == Day(0)
    s = Scenarios("wind", Dict(START => rand(2, 9), START + Month(1) => rand(2, 9)), Day(1); interval = Month(1))
    @test size(s) == (2, 2, 9)
    @test refuses(
        () -> Deterministic("wind", Dict{DateTime, Vector{Float64}}(), Hour(1)),
        Forcings.InvalidParameterError,
        "wind",
        "no window",
    )
    delete!(windows, START + Day(3))
    @test refuses(() -> Deterministic("wind", windows, Hour(1)), Forcings.InvalidParameterError, "wind", "1 day")
    windows[START + Day(3)] = rand(23)
    @test refuses(() -> Deterministic("wind", windows, Hour(1)), Forcings.InvalidParameterError, "(23,)", "(24,)")
end

@testset "windows over a series" begin
    load = SingleTimeSeries("load", START, Hour(1), collect(1.0:24.0); time_reference = :utc)
    f = DeterministicSingleTimeSeries(load; horizon = Hour(4), interval = Hour(2))
    @test (f.name, f.initial_timestamp, f.resolution, f.time_reference) == ("load", START, Hour(1), "utc")
    @test length(f) == 11 && size(f) == (4, 11) && f[11] == 21:24 && f[START + Hour(2)] == 3:6
    @test f[1] isa SubArray && parent(f[1]) === load.values
    dense = Deterministic(f)
    @test dense.values == values(f) == hcat(f...) && Forcings.timestamps(dense) == Forcings.timestamps(f)
    @test dense.time_reference == "utc"
    longer = SingleTimeSeries("load", START, Hour(1), collect(1.0:25.0); time_reference = :utc)
    g = DeterministicSingleTimeSeries(longer; horizon = Hour(4), interval = Hour(2))
    @test g == f && isequal(g, f) && hash(g) == hash(f) && length(g) == 11
    whole = DeterministicSingleTimeSeries(load; horizon = Day(1), interval = Hour(0))
    @test length(whole) == 1 && whole[1] == load.values
    matrix = SingleTimeSeries("load", START, Month(1), rand(12, 2))
    @test size(DeterministicSingleTimeSeries(matrix; horizon = Month(3), interval = Month(1))) == (3, 10, 2)
    for (horizon, interval, text) in [
            (Minute(90), Hour(1), "horizon 90 minutes"),
            (Month(1), Hour(1), "horizon 1 month"),
            (Hour(0), Hour(0), "positive"),
            (Hour(4), Minute(30), "interval 30 minutes"),
            (Hour(25), Hour(1), "25 steps, the series only 24"),
            (Hour(2), Hour(3), "gaps"),
            (Hour(2), Hour(0), "whole series"),
        ]
        make() = DeterministicSingleTimeSeries(load; horizon = horizon, interval = interval)
        @test refuses(make, Forcings.InvalidParameterError, "DeterministicSingleTimeSeries \"load\"", text)
    end
end

@testset "what breaks a rule is refused, and named" begin
    invalid = Forcings.InvalidParameterError
    named(f, parts...) = refuses(f, invalid, "SingleTimeSeries \"load\": ", parts...)
    @test named(() -> single([1 + 2im]), "Complex", "Float64")
    @test named(() -> single(["a"]), "String")
    @test named(() -> single([1.0, missing]), "Missing", "NaN")
    @test named(() -> single([]), "Any")
    @test named(() -> single(fill(1.0)), "time dimension")
    @test named(() -> single(rand(4, 0)), "length 0")
    @test named(() -> SingleTimeSeries("load", START, Hour(0), [1.0]), "positive")
    @test named(() -> SingleTimeSeries("load", START, Hour(-1), [1.0]), "positive")
    @test named(() -> SingleTimeSeries("load", DateTime(10_001), Hour(1), [1.0]), "9999")
    @test named(() -> SingleTimeSeries("load", DateTime(9999, 12, 31), Day(1), [1.0, 2.0]), "9999")
    @test refuses(() -> SingleTimeSeries("load", START, "1h", [1.0]), invalid, "Hour(1)")
    @test refuses(() -> SingleTimeSeries("load", START, Month(1) + Day(1), [1.0]), invalid, "calendar")
    @test refuses(() -> SingleTimeSeries("load", 2030, Hour(1), [1.0]), invalid, "DateTime", "2030")
    @test named(() -> single([1.0]; time_reference = "+99"), "+99")
    @test named(() -> single([1.0]; time_reference = "New York"), "New York")
    @test refuses(() -> single([1.0]; time_reference = 7), invalid, ":zoneless", "7")
    zoned(r) = SingleTimeSeries("load", START, r, [1.0]; time_reference = "America/Denver")
    @test zoned(Hour(1)).time_reference == "America/Denver"
    @test named(() -> zoned(Day(1)), "America/Denver", "24 hours")
    for S in (NonSequentialTimeSeries, PersistentTimeSeries)
        @test refuses(() -> S("p", TIMES, [1.0, 2.0]), invalid, "$(nameof(S)) \"p\": ", "3 timestamps", "2 rows")
        @test refuses(() -> S("p", reverse(TIMES), rand(3)), invalid, "\"p\"", "ascend", "2030-02-11", "2031-01-01")
        @test refuses(() -> S("p", TIMES[[1, 1]], rand(2)), invalid, "\"p\"", "ascend")
        @test refuses(() -> S("p", [1, 2], rand(2)), invalid, "DateTime")
        @test length(S("p", Date.(TIMES), rand(3))) == 3
    end
    @test refuses(() -> forecast(rand(24)), invalid, "Deterministic \"wind\": ", "(24,)", "(steps, windows)")
    @test refuses(() -> probabilistic(rand(24, 2)), invalid, "(steps, windows, percentiles)")
    @test refuses(() -> forecast(rand(24, 2); horizon = Hour(25)), invalid, "24 steps of 1 hour", "25 hours")
    @test refuses(() -> forecast(rand(24, 2); horizon = Month(1)), invalid, "1 month")
    @test forecast(rand(24, 2); horizon = Day(1)).horizon === Day(1)
    @test refuses(() -> forecast(rand(24, 2); interval = Hour(0)), invalid, "interval of zero", "wind")
    @test refuses(() -> forecast(rand(24, 2); interval = Hour(-1)), invalid, "positive")
    @test refuses(() -> forecast(rand(0, 2)), invalid, "steps")
    @test_throws UndefKeywordError Deterministic("wind", START, Hour(1), rand(24, 2))
    @test_throws UndefKeywordError Probabilistic("wind", START, Hour(1), rand(24, 2, 3); interval = Day(1))
    for (levels, text) in [
            ([0.1, 0.9], "2 percentiles"),
            ([0.1, 0.9, 0.5], "ascend"),
            ([0.1, 0.5, Inf], "finite"),
            ([0.1, NaN, 0.9], "finite"),
        ]
        make() = probabilistic(rand(24, 2, 3); percentiles = levels)
        @test refuses(make, invalid, "Probabilistic \"wind\": ", text)
    end
    @test refuses(() -> Scenarios("wind", START, Hour(1), rand(3, 2, 0); interval = Hour(1)), invalid, "scenario")
    @test single([1.0]; time_reference = "-0000").time_reference == "+00:00"
    @test single([1.0]; time_reference = "-07").time_reference == "-07:00"
end
