# Every type of series in stores: what goes in comes out, whole and in parts.

include("common.jl")

const START = DateTime(2030)
const TIMES = [DateTime(2030, 1, 3, 7, 30), DateTime(2030, 2, 11), DateTime(2031)]
const BUS = Owner(1, "Bus")

function each_store(f)
    memory_store(f)
    create_store(f, joinpath(mktempdir(), "s.nc"))
    return nothing
end

function random(T, dims...)
    values = rand(T, prod(dims))
    T <: AbstractFloat && !isempty(values) && (values[1] = NaN; values[end] = -zero(T))
    return reshape(values, dims)
end

# Series of every type but the derived one; the names are told apart by `tag`.
function each_type(T, element, tag)
    numbers(dims...) = random(T, dims..., element...)
    levels = [0.1, 0.5, 0.9]
    return [
        SingleTimeSeries(tag, START, Minute(15), numbers(5); time_reference = :zoneless),
        NonSequentialTimeSeries(tag, TIMES, numbers(3); time_reference = "America/Denver"),
        PersistentTimeSeries(tag, TIMES, numbers(3)),
        Deterministic(tag, START, Hour(1), numbers(4, 3); interval = Hour(6), time_reference = "+05:30"),
        Probabilistic(tag, START, Month(1), numbers(4, 2, 3); percentiles = levels, interval = Month(2)),
        Scenarios(tag, START, Hour(1), numbers(4, 2, 7); interval = Day(1), time_reference = :utc),
    ]
end

@testset "every type, element type and element shape comes back" begin
    each_store() do store
        for T in (Float64, Float32, Int64, Int32, UInt64, Bool), element in ((), (3,), (2, 1, 3))
            series = each_type(T, element, "$T $element")
            ids = Forcings.bulk_add(store, ((BUS, s) for s in series))
            back = read_series(store, ids)
            @test all(map(isequal, back, series))
            @test map(typeof, back) == map(typeof, series)
            @test all(map((a, b) -> same(a.values, b.values), back, series))
            @test isequal(read_series(store, ids[4]), series[4])
        end
    end
end

@testset "series without steps or windows" begin
    each_store() do store
        empty = [
            SingleTimeSeries("none", START, Hour(1), Float64[]),
            NonSequentialTimeSeries("none", DateTime[], zeros(Int32, 0, 2)),
            PersistentTimeSeries("none", DateTime[], Bool[]),
            Deterministic("none", START, Hour(1), zeros(3, 0); interval = Hour(1)),
            Probabilistic("none", START, Hour(1), zeros(3, 0, 2); percentiles = [1, 2], interval = Hour(1)),
            Scenarios("none", START, Hour(1), zeros(3, 0, 4, 2); interval = Hour(1)),
        ]
        ids = add!(store, [(BUS, s) for s in empty])
        back = read_series(store, ids)
        @test back == empty && map(s -> size(s), back) == map(s -> size(s), empty)
        @test read_series(store, Int[]) == []
    end
end

@testset "parts in time" begin
    memory_store() do store
        hour(h) = START + Hour(h)
        values = collect(1.0:3.0)
        outages, price = NonSequentialTimeSeries("x", TIMES, values), PersistentTimeSeries("x", TIMES, values)
        wind = Deterministic("x", START, Hour(1), reshape(1.0:12.0, 3, 4); interval = Hour(6))
        levels = [0.1, 0.9]
        chance = Probabilistic("x", START, Hour(1), rand(3, 4, 2); percentiles = levels, interval = Hour(6))
        a, b, c, d = add!(store, [(BUS, s) for s in (outages, price, wind, chance)])
        between = DateTime(2030, 2)
        @test read_series(store, a; from = between) == NonSequentialTimeSeries("x", TIMES[2:3], values[2:3])
        @test read_series(store, a; from = TIMES[1], to = TIMES[2]).values == [1]
        @test read_series(store, b; from = between) == price
        @test read_series(store, b; from = between, to = DateTime(2030, 3)).timestamps == TIMES[1:2]
        @test refuses(() -> read_series(store, b; from = START), Forcings.InvalidParameterError, "no value")
        part = read_series(store, c; from = hour(6), to = hour(13))
        @test part.initial_timestamp == hour(6) && part.values == wind.values[:, 2:3] && part[hour(12)] == 7:9
        @test read_series(store, c; to = START) |> isempty
        @test read_series(store, d; from = hour(18)).values == chance.values[:, 4:4, :]
        @test refuses(() -> read_series(store, c; from = hour(1)), Forcings.InvalidParameterError, "no window")
        @test length.(read_series(store, [c, d, c]; from = hour(12))) == [2, 2, 2]
    end
end

@testset "bounds that say what they are" begin
    memory_store() do store
        utc, zoneless, invalid = Forcings.Utc, Forcings.Zoneless, Forcings.InvalidParameterError
        series(reference) = SingleTimeSeries("x", START, Hour(1), collect(1.0:24.0); time_reference = reference)
        plain, clock, zoned = add!(
            store,
            [(Owner(n, "Bus"), series(r)) for (n, r) in enumerate((nothing, :zoneless, "-07:00"))],
        )
        noon = START + Hour(12)
        for id in (plain, zoned)
            @test read_series(store, id; from = utc(noon)).values == read_series(store, id; from = noon).values == 13:24
            @test refuses(() -> read_series(store, id; to = zoneless(noon)), invalid, "zoneless", "Component")
        end
        @test read_series(store, clock; from = zoneless(noon), to = noon + Hour(1)).values == [13]
        @test refuses(() -> read_series(store, clock; from = utc(noon)), invalid, "UTC", "x")
        @test refuses(() -> read_series(store, [plain, clock]; from = noon), invalid, "zoneless")
        @test length(read_series(store, [plain, clock, zoned])) == 3
        @test length(read_series(store, [plain, zoned]; from = utc(noon))) == 2
    end
end

@testset "derived forecasts" begin
    each_store() do store
        duplicate = Forcings.DuplicateTimeSeriesError
        load = SingleTimeSeries("load", START, Hour(1), rand(25, 2); time_reference = :utc)
        f = DeterministicSingleTimeSeries(load; horizon = Hour(4), interval = Hour(2))
        id = add!(store, BUS, f; features = (year = 2030,), units = "MW")
        rows = list_series(store)
        @test [row.type for row in rows] == [:SingleTimeSeries, :DeterministicSingleTimeSeries]
        @test all(row -> row.units == "MW" && row.features == Dict("year" => 2030), rows)
        windows = read_series(store, id)
        @test windows isa Deterministic && windows == Deterministic(f) && size(windows) == (4, 11, 2)
        @test windows.time_reference == "utc" && (windows.horizon, windows.interval) == (Hour(4), Hour(2))
        back = read_series(store, id; as_stored = true)
        @test back == f && back isa DeterministicSingleTimeSeries && size(back.series) == (24, 2)
        @test read_series(store, rows[1].id) == load
        for as_stored in (false, true)
            part = read_series(store, id; from = START + Hour(4), to = START + Hour(9), as_stored = as_stored)
            @test part isa (as_stored ? DeterministicSingleTimeSeries : Deterministic)
            @test [window for window in part] == [f[w] for w in 3:5] && part.initial_timestamp == START + Hour(4)
        end
        @test size(read_series(store, id; to = START)) == (4, 0, 2)
        @test refuses(() -> read_series(store, id; from = START + Hour(5)), Forcings.InvalidParameterError, "window")
        @test refuses(() -> add!(store, BUS, f; features = (year = 2030,)), duplicate, "load", string(rows[1].id))
        other = DeterministicSingleTimeSeries(copy(load); horizon = Hour(6), interval = Hour(3))
        @test read_series(store, add!(store, BUS, other; features = (year = 2030,)); as_stored = true) == other
        other.series.values[1] = -1
        @test refuses(() -> add!(store, BUS, other; features = (year = 2030,)), duplicate, "another series")
        # A series and what is derived from it, in any order, as they are listed in another store.
        ids = add!(store, [(Owner(2, "Bus"), f), (Owner(2, "Bus"), load), (Owner(3, "Bus"), f)])
        @test read_series(store, ids) == [Deterministic(f), load, Deterministic(f)]
        @test read_series(store, ids; as_stored = true) == [f, load, f]
        @test length(list_series(store)) == 7
        @test refuses(() -> add!(store, [(Owner(9, "Bus"), f), (BUS, load), (BUS, load)]), duplicate)
        @test length(list_series(store)) == 7
    end
end

@testset "many at once, in batches" begin
    each_store() do store
        made = Ref(0)
        series(n) = (made[] += 1; SingleTimeSeries("x", START, Hour(1), fill(Float64(n), 1000)))
        items = ((Owner(n, "Bus"), series(n), (units = "MW", features = (n = n,))) for n in 1:50)
        ids = Forcings.bulk_add(store, items; batch_bytes = 50_000)
        @test made[] == 50 && length(ids) == 50
        @test [s.values[1] for s in read_series(store, ids)] == 1:50
        @test all(row -> row.units == "MW" && row.features["n"] == row.owner_id, list_series(store))
        @test Forcings.bulk_add(store, ()) == Int64[]
        again = ((Owner(n, "Bus"), SingleTimeSeries("y", START, Hour(1), rand(1000))) for n in [1:20; 1])
        @test refuses(
            () -> Forcings.bulk_add(store, again; batch_bytes = 50_000),
            Forcings.DuplicateTimeSeriesError,
            "y",
        )
        @test length(list_series(store)) == 50
        @test refuses(() -> Forcings.bulk_add(store, [1]), Forcings.InvalidParameterError, "(owner, series)")
        mixed = [(BUS, s) for s in each_type(Float64, (2,), "mixed")]
        @test length(unique(map(typeof, read_series(store, Forcings.bulk_add(store, mixed; batch_bytes = 1))))) == 6
    end
end

@testset "progress goes to loggers that ask for it" begin
    memory_store() do store
        items = [(Owner(n, "Bus"), SingleTimeSeries("x", START, Hour(1), rand(10))) for n in 1:4]
        logs, ids = Test.collect_test_logs(; min_level = Base.CoreLogging.LogLevel(-1)) do
            Forcings.bulk_add(store, items; batch_bytes = 1)
        end
        @test [log.kwargs[:progress] for log in logs] == [0.25, 0.5, 0.75, "done"]
        @test length(unique(log.id for log in logs)) == 1
        remove!(store, ids)
        logs, _ = Test.collect_test_logs(() -> Forcings.bulk_add(store, items; batch_bytes = 1))
        @test isempty(logs)
    end
end

# An array that counts from -1.
struct Shifted{T, N} <: AbstractArray{T, N}
    parent::Array{T, N}
end
Base.size(a::Shifted) = size(a.parent)
Base.axes(a::Shifted) = map(n -> Base.IdentityUnitRange(-1:(n - 2)), size(a.parent))
Base.getindex(a::Shifted{T, N}, i::Vararg{Int, N}) where {T, N} = a.parent[(i .+ 2)...]

@testset "arrays that do not count from 1 are taken by position" begin
    @test values(SingleTimeSeries("a", START, Hour(1), Shifted([1.0, 2.0, 3.0]))) == [1.0, 2.0, 3.0]
    @test values(SingleTimeSeries("a", START, Hour(1), Shifted([1 2; 3 4]))) == [1 2; 3 4]
    outages = NonSequentialTimeSeries("a", Shifted(TIMES), Shifted([1.0, 2.0, 3.0]))
    @test outages.timestamps == TIMES
    @test values(outages) == [1.0, 2.0, 3.0]
end

@testset "numbers that no id, length or feature has, and names given twice" begin
    memory_store() do store
        series = SingleTimeSeries("a", START, Hour(1), [1.0])
        refused(f, text) = refuses(f, Forcings.InvalidParameterError, text)
        huge = typemax(UInt64)
        @test refused(() -> Owner(huge, "Bus"), "the id of an owner, $huge, does not fit into an Int64")
        @test refused(() -> read_series(store, huge), "an id, $huge,")
        @test refused(() -> remove!(store, [huge]), "an id, $huge,")
        @test refused(() -> list_series(store; ids = [huge]), "an id, $huge,")
        @test refused(() -> list_series(store; owner = huge), "the id of an owner, $huge,")
        @test refused(() -> Forcings.clear!(store, huge), "the id of an owner, $huge,")
        @test refused(() -> Forcings.replace_owner!(store, 1, huge), "the id of an owner, $huge,")
        @test refused(() -> Forcings.attached(store, huge), "the id of an owner, $huge,")
        @test refused(() -> list_series(store; length = true), "a length is a number of steps, not true")
        @test refused(() -> list_series(store; length = huge), "a length, $huge,")
        twice = Dict{Any, Int}(:a => 1, "a" => 2)
        @test refused(() -> add!(store, BUS, series; features = twice), "two features have the same name")
        @test refused(() -> create_store(tempname(); compression = 3), "compression must be a text, not 3")
        @test isempty(list_series(store))
        id = add!(store, BUS, series; features = (flag = true, one = 1))
        @test list_series(store; ids = [id])[1].features["flag"] === true
    end
end
