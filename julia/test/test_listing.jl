# Listings: what the rows say of every type, and what each filter selects.

include("common.jl")

const BUS = Owner(1, "Bus")
hours(values; name = "load") = SingleTimeSeries(name, DateTime(2030), Hour(1), values)

# Seven series: their ids in the order of their addition.
function filled(store)
    limit = SingleTimeSeries("limit", DateTime(2031), Month(1), ones(Float32, 12, 2); time_reference = :zoneless)
    wind = Deterministic("wind", DateTime(2030), Hour(1), rand(24, 7, 2); interval = Day(1), time_reference = "-0730")
    chance = Probabilistic("wind", DateTime(2030), Hour(1), rand(24, 7, 3); percentiles = [1, 5, 9], interval = Day(1))
    futures = Scenarios("wind", DateTime(2030), Hour(1), rand(24, 1, 9); interval = Hour(0))
    return [
        add!(store, BUS, hours(ones(24)); features = (scenario = "high", year = 2030)),
        add!(store, BUS, hours(ones(24)); features = Dict("scenario" => "low")),
        add!(store, Owner(1, "Bus"; category = :attribute), hours(ones(48))),
        add!(store, Owner(2, "Line"), limit; ext = "x"),
        add!(store, Owner(3, "Plant"), wind; units = "MW"),
        add!(store, Owner(3, "Plant"), chance),
        add!(store, Owner(3, "Plant"), futures),
        add!(store, Owner(3, "Plant"), PersistentTimeSeries("price", [DateTime(2030)], [1])),
    ]
end

@testset "filters" begin
    memory_store() do store
        ids = filled(store)
        found(; filters...) = [findfirst(==(row.id), ids) for row in list_series(store; filters...)]
        for (expected, filters) in [
                (1:8, (;)),
                (1:3, (owner = 1,)),
                (1:2, (owner = BUS,)),
                ([3], (owner = 1, category = :attribute)),
                ([4], (owner_type = "Line",)),
                ([4], (name = "limit",)),
                ([1, 2, 3, 4], (name_glob = "l*",)),
                ([8], (name_glob = "pr[a-i]c?",)),
                ([], (name_glob = "L*",)),
                ([1, 2, 3, 5, 6, 7], (resolution = Hour(1),)),
                ([1, 2, 3, 5, 6, 7], (resolution = Minute(60),)),
                ([4], (resolution = Month(1),)),
                ([], (resolution = Day(30),)),
                ([5, 6], (interval = Hour(24),)),
                ([7], (interval = Hour(0),)),
                ([4], (initial_timestamp = Date(2031),)),
                ([1, 2], (length = 24, type = SingleTimeSeries)),
                ([5], (type = Deterministic,)),
                ([6], (type = :Probabilistic,)),
                ([8], (type = "PersistentTimeSeries",)),
                ([4], (zoneless = true,)),
                ([1, 2, 3, 5, 6, 7, 8], (zoneless = false,)),
                ([1], (features = (scenario = "high",),)),
                ([1], (features = (year = 2030,),)),
                ([], (features = (year = 2030.0,),)),
                ([], (exact_features = (scenario = "high",),)),
                ([1], (exact_features = (year = 2030, scenario = "high"),)),
                ([3, 4, 5, 6, 7, 8], (exact_features = (;),)),
                ([1, 4], (ids = ids[[4, 1]],)),
                ([], (ids = Int[],)),
            ]
            @test found(; filters...) == expected
            @test Forcings.has_series(store; filters...) == !isempty(expected)
        end
        for (text, filters) in [
                ("category", (owner = BUS, category = :attribute)),
                (":bus", (category = :bus,)),
                ("owner_type", (owner = "Bus",)),
                ("name", (name = ["load"],)),
                ("vector", (ids = 1,)),
                ("Hour(1)", (resolution = "1h",)),
                ("Hour(1)", (interval = 1,)),
                ("DateTime", (initial_timestamp = 2030,)),
                ("length", (length = -1,)),
                ("zoneless", (zoneless = :yes,)),
                ("SingleTimeSeries", (type = "Plain",)),
                ("SingleTimeSeries", (type = Float64,)),
                ("named tuple", (exact_features = "high",)),
            ]
            @test refuses(() -> list_series(store; filters...), Forcings.InvalidParameterError, text)
        end
        @test_throws MethodError list_series(store; nme = "load")
    end
end

@testset "rows" begin
    memory_store() do store
        ids = filled(store)
        rows = list_series(store)
        @test rows isa AbstractVector{<:NamedTuple} && isconcretetype(eltype(rows))
        expected = (
            id = ids[4],
            name = "limit",
            type = :SingleTimeSeries,
            owner_id = 2,
            owner_type = "Line",
            owner_category = :component,
            initial_timestamp = DateTime(2031),
            resolution = Month(1),
            length = 12,
            horizon = missing,
            interval = missing,
            count = missing,
            percentiles = missing,
            scenarios = missing,
            element_type = Float32,
            element_shape = (2,),
            time_reference = "zoneless",
            units = missing,
            ext = "x",
            features = Dict(),
        )
        @test isequal(rows[4], expected)
        @test rows[1].features == Dict("scenario" => "high", "year" => 2030)
        wind = rows[5]
        @test (wind.type, wind.horizon, wind.interval, wind.count) == (:Deterministic, Day(1), Day(1), 7)
        @test wind.length === missing && wind.element_shape == (2,) && wind.time_reference == "-07:30"
        @test wind.units == "MW"
        @test rows[6].percentiles == [1, 5, 9] && rows[6].element_shape == ()
        @test rows[7].scenarios == 9 && rows[7].count == 1 && rows[7].element_shape == ()
        @test rows[8].initial_timestamp === missing && rows[8].resolution === missing && rows[8].length == 1
        @test list_series(store; name = "none") == []
    end
end
