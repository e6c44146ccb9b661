# What users do with series that are in a store: derive forecasts, rename, copy, move, remove, and sum up.

include("common.jl")

hours(values; name = "load", initial = DateTime(2030)) = SingleTimeSeries(name, initial, Hour(1), values)
ids_of(store; filters...) = [row.id for row in list_series(store; filters...)]
repl(x; limit = false) = sprint(show, MIME("text/plain"), x; context = :limit => limit)

function each_store(f)
    memory_store(f)
    create_store(f, joinpath(mktempdir(), "s.nc"))
    return nothing
end

@testset "forecasts are derived once" begin
    each_store() do store
        ids = add!(store, [(Owner(n, "Bus"), hours(n .+ (1.0:48.0)), (features = (n = n,),)) for n in 1:3])
        one = Forcings.transform_single_time_series!(store, Hour(24), Hour(12); owner = 2)
        @test (one.sources, one.existing, length(one.ids)) == (1, 0, 1)
        @test sprint(show, one) == "TransformReport(1 series, 1 new forecast)"
        rest = Forcings.transform_single_time_series!(store, Hour(24), Hour(12))
        @test (rest.sources, rest.existing, length(rest.ids)) == (3, 1, 2)
        @test occursin("2 forecasts, ids $(rest.ids[1]), $(rest.ids[2])", repl(rest))
        again = Forcings.transform_single_time_series!(store, Hour(24), Hour(12); name = "load")
        @test (again.existing, again.ids) == (3, Int64[])
        rows = list_series(store; ids = [one.ids; rest.ids])
        @test all(row -> row.type === :DeterministicSingleTimeSeries, rows)
        @test [row.features["n"] for row in rows] == [2, 1, 3]
        forecast = read_series(store, one.ids[1])
        @test forecast isa Deterministic && length(forecast) == 3
        @test forecast[2] == read_series(store, ids[2]).values[13:36]
        @test Forcings.transform_single_time_series!(store, Hour(24), Hour(12); name = "none").sources == 0
        @test Forcings.intervals(store) == [Hour(12)]
        expected = (initial = DateTime(2030), resolution = Hour(1), horizon = Day(1), interval = Hour(12), count = 3)
        @test Forcings.forecast_parameters(store) == expected
        @test Forcings.forecast_parameters(store; resolution = Hour(1), interval = Hour(12)) == expected
        @test Forcings.forecast_parameters(store; interval = Hour(6)) === nothing
    end
end

@testset "a transform that does not fit changes nothing" begin
    memory_store() do store
        add!(store, Owner(1, "Bus"), hours(rand(24)))
        transform(horizon, interval) = Forcings.transform_single_time_series!(store, horizon, interval)
        @test refuses(() -> transform(Hour(48), Hour(12)), Forcings.InvalidParameterError, "load")
        @test refuses(() -> transform(Hour(6), Hour(12)), Forcings.InvalidParameterError, "load")
        @test refuses(() -> transform(Minute(90), Hour(1)), Forcings.InvalidParameterError, "load")
        @test refuses(() -> transform(24, Hour(1)), Forcings.InvalidParameterError, "horizon", "24")
        @test refuses(() -> transform(Hour(24), "PT1H"), Forcings.InvalidParameterError, "interval", "PT1H")
        add!(store, Owner(2, "Bus"), hours(rand(25)))
        @test refuses(() -> transform(Hour(24), Hour(1)), Forcings.IntegrityError, "narrow the scope")
        @test all(row -> row.type === :SingleTimeSeries, list_series(store))
    end
end

@testset "a study is renumbered" begin
    each_store() do store
        load = add!(store, Owner(1, "Bus"), hours(1.0:3.0); features = (year = 2030,), units = "MW", ext = "x")
        Forcings.rename(store, load, "demand")
        @test list_series(store)[1].name == "demand"
        other = Forcings.copy_series!(store, load, Owner(2, "Line"))
        third = Forcings.copy_series!(store, load, Owner(2, "Line"); name = "limit")
        rows = list_series(store; owner = 2)
        @test [(row.id, row.name, row.owner_type, row.units, row.ext) for row in rows] ==
            [(other, "demand", "Line", "MW", "x"), (third, "limit", "Line", "MW", "x")]
        @test all(row -> row.features == Dict("year" => 2030), rows)
        @test read_series(store, third).values == 1:3
        @test Forcings.counts(store).arrays == 1
        @test Forcings.replace_owner!(store, 2, 102) == 2
        @test Forcings.replace_owner!(store, 2, 103) == 0
        @test Forcings.replace_owner!(store, Owner(102, "Line"), 2) == 2
        @test Forcings.owner_ids(store) == [1, 2]
        attribute = Owner(1, "Outage"; category = :attribute)
        own = add!(store, attribute, hours(1.0:3.0))
        @test Forcings.replace_owner!(store, attribute, Owner(9, "Outage"; category = :attribute)) == 1
        @test Forcings.replace_owner!(store, 9, 8; category = :attribute) == 1
        @test Forcings.owner_ids(store; category = :attribute) == [8]
        @test ids_of(store; category = :attribute) == [own]
    end
end

@testset "names, copies and moves that are refused" begin
    memory_store() do store
        a, b = add!(store, Owner(1, "Bus"), hours([1.0])), add!(store, Owner(2, "Bus"), hours([2.0]))
        c = add!(store, Owner(1, "Bus"), hours([3.0]; name = "limit"))
        attribute = Owner(1, "Outage"; category = :attribute)
        @test refuses(() -> Forcings.rename(store, c, "load"), Forcings.DuplicateTimeSeriesError, "load")
        @test refuses(() -> Forcings.rename(store, 99, "load"), Forcings.NotFoundError, "99")
        @test refuses(() -> Forcings.rename(store, c, 5), Forcings.InvalidParameterError, "name", "5")
        @test refuses(() -> Forcings.rename(store, c, nothing), Forcings.InvalidParameterError, "name")
        @test refuses(() -> Forcings.copy_series!(store, a, Owner(2, "Bus")), Forcings.DuplicateTimeSeriesError)
        @test refuses(() -> Forcings.copy_series!(store, a, attribute), Forcings.InvalidParameterError, "Component")
        @test refuses(() -> Forcings.copy_series!(store, 99, attribute), Forcings.NotFoundError, "99")
        @test refuses(() -> Forcings.replace_owner!(store, 1, 2), Forcings.DuplicateTimeSeriesError, "$a", "$b")
        @test refuses(() -> Forcings.replace_owner!(store, Owner(1, "Bus"), attribute), Forcings.InvalidParameterError)
        @test refuses(() -> Forcings.replace_owner!(store, "a", 2), Forcings.InvalidParameterError, "old owner")
        @test refuses(Forcings.InvalidParameterError, ":attribute") do
            Forcings.replace_owner!(store, Owner(1, "Bus"), 2; category = :attribute)
        end
        @test [(row.id, row.owner_id, row.name) for row in list_series(store)] ==
            [(a, 1, "load"), (b, 2, "load"), (c, 1, "limit")]
    end
end

@testset "removal by what series have in common" begin
    each_store() do store
        items = [(Owner(n, "Bus"), hours([1.0 * n]), (features = (scenario = s,),)) for n in 1:4, s in ("high", "low")]
        ids = add!(store, vec(items))
        @test remove!(store; features = (scenario = "low",), owner = 1) == 1
        @test remove!(store; features = (scenario = "low",)) == 3
        @test remove!(store; ids = [ids[1], ids[5]]) == 1
        @test remove!(store; ids = Int[]) == 0
        @test remove!(store; name = "none") == 0
        @test ids_of(store) == ids[2:4]
        plain = add!(store, Owner(9, "Bus"), hours([1.0]))
        @test remove!(store; exact_features = (;)) == 1
        @test refuses(() -> read_series(store, plain), Forcings.NotFoundError)
        for filters in ((;), (owner = nothing,), (features = (;),), (features = Dict{String, Int}(), name = nothing))
            @test refuses(() -> remove!(store; filters...), Forcings.InvalidParameterError, "clear!")
        end
        @test_throws MethodError remove!(store; nme = "load")
        @test Forcings.clear!(store, Owner(2, "Bus")) == 1
        @test Forcings.clear!(store, 3) == 1
        @test Forcings.clear!(store, 4; category = :attribute) == 0
        @test ids_of(store) == [ids[4]]
        @test refuses(() -> Forcings.clear!(store, "Bus"), Forcings.InvalidParameterError, "Owner")
        @test refuses(
            () -> Forcings.clear!(store, Owner(4, "Bus"); category = :attribute),
            Forcings.InvalidParameterError,
        )
        @test Forcings.clear!(store) == 1
        @test Forcings.clear!(store) == 0
        @test add!(store, Owner(1, "Bus"), hours([1.0])) > maximum(ids)
    end
end

@testset "a store is summed up" begin
    each_store() do store
        @test repl(Forcings.overview(store)) == "Overview: 0 series, 0 distinct arrays"
        @test Forcings.counts(store).types == []
        @test Forcings.series_names(store) == Forcings.owner_types(store) == String[]
        @test Forcings.resolutions(store) == []
        add!(store, [(Owner(n, "Bus"), hours(ones(24))) for n in 1:3])
        add!(store, Owner(9, "Line"), SingleTimeSeries("limit", DateTime(2031), Month(1), ones(12)))
        add!(store, Owner(1, "Outage"; category = :attribute), hours(zeros(24); name = "on"))
        Forcings.transform_single_time_series!(store, Hour(6), Hour(6); name = "load", owner = 1)
        counts = Forcings.counts(store)
        @test counts ==
            (
                components = 4,
                attributes = 1,
                static_series = 5,
                forecasts = 1,
                static_arrays = 3,
                forecast_arrays = 1,
                arrays = 3,
                types = [:SingleTimeSeries => 5, :DeterministicSingleTimeSeries => 1],
            )
        @test Forcings.series_names(store) == ["limit", "load", "on"]
        @test Forcings.owner_types(store) == ["Bus", "Line", "Outage"]
        @test Forcings.owner_ids(store) == [1, 2, 3, 9]
        @test Forcings.resolutions(store) == [Month(1), Hour(1)]
        @test refuses(() -> Forcings.owner_ids(store; category = :bus), Forcings.InvalidParameterError, ":bus")
        static = Forcings.static_summary(store)
        @test static[1] ==
            (
                owner_type = "Bus",
                owner_category = :component,
                type = :SingleTimeSeries,
                name = "load",
                initial = DateTime(2030),
                resolution = Hour(1),
                length = 24,
                series = 3,
            )
        @test [(row.owner_type, row.owner_category, row.series) for row in static] ==
            [("Bus", :component, 3), ("Line", :component, 1), ("Outage", :attribute, 1)]
        forecast = Forcings.forecast_summary(store)
        @test length(forecast) == 1
        @test (forecast[1].horizon, forecast[1].interval, forecast[1].count) == (Hour(6), Hour(6), 4)
        overview = Forcings.overview(store)
        @test overview.counts == counts && overview.static_series == static && overview.forecasts == forecast
        @test sprint(show, overview) == "Overview(6 series, 3 arrays)"
        @test repl(overview) ==
            """
            Overview: 6 series, 3 distinct arrays
              owners   4 components, 1 attribute
              types    5 SingleTimeSeries
                       1 DeterministicSingleTimeSeries
              grids    1 hour: 24 steps from 2030-01-01T00:00:00, 4 series
                       1 month: 12 steps from 2031-01-01T00:00:00, 1 series
              windows  6 hours every 6 hours in steps of 1 hour: 4 windows from 2030-01-01T00:00:00, 1 series
              names    "load" of Bus, 3 SingleTimeSeries
                       "limit" of Line, 1 SingleTimeSeries
                       "on" of Outage, 1 SingleTimeSeries
                       "load" of Bus, 1 DeterministicSingleTimeSeries"""
    end
end

@testset "a long overview is cut where the display asks for it" begin
    memory_store() do store
        add!(store, [(Owner(1, "Bus"), hours([1.0]; name = "load $n")) for n in 1:30])
        overview = Forcings.overview(store)
        @test length(split(repl(overview), '\n')) == 4 + 30 - 1 + 1
        @test endswith(repl(overview; limit = true), "… and 11 more")
    end
end

@testset "a store that is closed or read only" begin
    path = joinpath(mktempdir(), "s.nc")
    id = create_store(store -> add!(store, Owner(1, "Bus"), hours(ones(24))), path)
    store = open_store(path; read_only = true)
    owner = Owner(2, "Bus")
    changes = [
        () -> Forcings.transform_single_time_series!(store, Hour(6), Hour(6)),
        () -> Forcings.rename(store, id, "x"),
        () -> Forcings.copy_series!(store, id, owner),
        () -> Forcings.replace_owner!(store, 1, 2),
        () -> remove!(store; name = "load"),
        () -> Forcings.clear!(store),
        () -> Forcings.clear!(store, 1),
        () -> Forcings.compact!(store),
        () -> Forcings.link!(store, owner, owner),
        () -> Forcings.detach!(store, :),
        () -> transaction(identity, store),
    ]
    questions = [
        () -> Forcings.overview(store),
        () -> Forcings.counts(store),
        () -> Forcings.series_names(store),
        () -> Forcings.check_consistency(store),
        () -> Forcings.verify(store),
        () -> Forcings.links(store),
    ]
    @test all(change -> refuses(change, Forcings.ReadOnlyStoreError, path), changes)
    @test all(question -> thrown(question) === nothing, questions)
    close(store)
    @test all(f -> refuses(f, Forcings.ClosedError, "store"), [changes; questions])
end
