# Readers of forecasts: the windows that the series themselves have, in buffers that are reused.

include("common.jl")

const START = DateTime(2030)

deterministic(values; name = "wind", interval = Hour(6)) = Deterministic(
    name,
    START,
    Hour(1),
    values;
    interval = interval,
)

# Every window of a reader, there and back, is what the series have.
function agrees(store, reader)
    entries = Forcings.entries(reader)
    stored = read_series(store, [e.id for e in entries])
    times = Forcings.timestamps(reader)
    return all([eachindex(times); reverse(eachindex(times))]) do k
        isodd(k) ? readstep!(reader, k) : read!(reader, times[k])
        all(i -> values(reader, entries[i].slot) == stored[i][k], eachindex(entries))
    end
end

@testset "dense forecasts" begin
    memory_store() do store
        shared = rand(12, 9)
        add!(store, Owner(1, "Plant"), deterministic(shared))
        add!(store, Owner(2, "Plant"), deterministic(rand(24, 9)))
        add!(store, Owner(3, "Plant"), deterministic(shared))
        add!(store, Owner(3, "Plant"), deterministic(rand(Bool, 3, 9); name = "on"))
        add!(store, Owner(4, "Plant"), deterministic(rand(4, 9, 2, 3); name = "limits"))
        reader = ForecastReader(store; type = Deterministic, resolution = Hour(1))
        @test length(reader) == 9 && Forcings.timestamps(reader) == START .+ Hour.(0:6:48)
        @test (reader.type, reader.resolution, reader.interval) == (:Deterministic, Hour(1), Hour(6))
        entries = Forcings.entries(reader)
        @test [(e.owner_id, e.name, e.slot) for e in entries] ==
            [(1, "wind", 1), (2, "wind", 2), (3, "on", 3), (3, "wind", 1), (4, "limits", 4)]
        @test [s.size for s in Forcings.slots(reader)] == [(12,), (24,), (3,), (4, 2, 3)]
        @test [s.element_type for s in Forcings.slots(reader)] == [Float64, Float64, Bool, Float64]
        @test agrees(store, reader)
        @test values(reader, 1) isa Vector{Float64} && size(values(reader, 4)) == (4, 2, 3)
        @test Forcings.index_at(reader, START + Hour(12)) == 3
        @test [(t, copy(w[1])) for (t, w) in reader] == [(START + Hour(6k - 6), shared[:, k]) for k in 1:9]
        @test [w[1] for (_, w) in collect(reader)] == [shared[:, k] for k in 1:9]
        wind = ForecastReader(store; type = Deterministic, resolution = Hour(1), name = "wind", readahead = 0)
        @test eltype(wind) == Tuple{DateTime, Vector{Vector{Float64}}}
        @test agrees(store, wind)
        @test allocated(wind) <= 64
    end
end

@testset "derived forecasts" begin
    memory_store() do store
        for bus in 1:5
            add!(store, Owner(bus, "Bus"), SingleTimeSeries("load", START, Hour(1), rand(100)))
        end
        Forcings.transform_single_time_series!(store, Hour(24), Hour(6))
        add!(store, Owner(9, "Bus"), deterministic(rand(24, 13)))
        for (type, n) in ((DeterministicSingleTimeSeries, 5), (Deterministic, 6))
            reader = ForecastReader(store; type = type, resolution = Hour(1), interval = Hour(6))
            @test length(reader) == 13 && length(Forcings.entries(reader)) == n
            @test agrees(store, reader)
            @test allocated(reader) <= 64
        end
    end
end

@testset "percentiles and scenarios" begin
    memory_store() do store
        options, levels = (interval = Hour(6),), [0.1, 0.5, 0.9]
        for plant in 1:3
            owner = Owner(plant, "Plant")
            add!(store, owner, Probabilistic("wind", START, Hour(1), rand(24, 7, 3); percentiles = levels, options...))
            add!(store, owner, Scenarios("wind", START, Hour(1), rand(24, 7, 10); options...))
            add!(store, owner, Scenarios("flow", START, Hour(1), rand(Float32, 24, 7, 4, 2, 3); options...))
        end
        chance = ForecastReader(store; type = Probabilistic, resolution = Hour(1))
        @test agrees(store, chance)
        @test values(chance, 1) isa Matrix{Float64} && size(values(chance, 1)) == (24, 3)
        @test allocated(chance) <= 64
        futures = ForecastReader(store; type = Scenarios, resolution = Hour(1))
        @test Set(s.size for s in Forcings.slots(futures)) == Set([(24, 10), (24, 4, 2, 3)])
        @test agrees(store, futures)
        flows = ForecastReader(store; type = Scenarios, resolution = Hour(1), name = "flow")
        @test allocated(flows) <= 64
    end
end

@testset "refused" begin
    memory_store() do store
        id = add!(store, Owner(1, "Plant"), deterministic(rand(12, 4)))
        read_type(type; options...) = () -> ForecastReader(store; type = type, options...)
        @test refuses(() -> ForecastReader(store; resolution = Hour(1)), Forcings.InvalidParameterError, "type")
        @test refuses(read_type(SingleTimeSeries; resolution = Hour(1)), Forcings.InvalidParameterError, "StaticReader")
        @test refuses(read_type(Deterministic), Forcings.InvalidParameterError, "resolution")
        reader = ForecastReader(store; type = Deterministic, resolution = Hour(1))
        @test refuses(() -> values(reader, 1), Forcings.InvalidParameterError, "read an instant first")
        @test refuses(() -> values(reader, 2), Forcings.InvalidParameterError, "slot 2")
        @test refuses(() -> readstep!(reader, 5), Forcings.OffGridError, "window 5", "1 to 4")
        @test refuses(
            () -> read!(reader, 5),
            Forcings.InvalidParameterError,
            "read!(reader, t)",
            "readstep!(reader, i)",
        )
        readstep!(reader, 1)
        @test refuses(() -> read!(reader, START + Hour(1)), Forcings.OffGridError, "2030-01-01T01:00")
        @test refuses(() -> values(reader, 1), Forcings.InvalidParameterError, "read an instant first")
        @test refuses(() -> Forcings.index_at(reader, START + Hour(1)), Forcings.OffGridError)
        none = ForecastReader(store; type = Scenarios, resolution = Hour(1))
        @test isempty(none) && isempty(Forcings.entries(none)) && isempty(collect(none))
        @test refuses(() -> readstep!(none, 1), Forcings.NotFoundError, "matched no Scenarios")
        add!(store, Owner(2, "Plant"), deterministic(rand(12, 5)))
        @test refuses(
            read_type(Deterministic; resolution = Hour(1)),
            Forcings.InvalidParameterError,
            "4 windows",
            "5 windows",
        )
        remove!(store, id)
        @test refuses(() -> readstep!(reader, 1), Forcings.NotFoundError, "wind", "removed")
    end
end

@testset "after the end" begin
    store = memory_store()
    add!(store, Owner(1, "Plant"), deterministic(reshape(1.0:48.0, 12, 4)))
    reader = ForecastReader(store; type = Deterministic, resolution = Hour(1))
    window = values(readstep!(reader, 2), 1)
    close(store)
    @test refuses(() -> readstep!(reader, 3), Forcings.ClosedError, "store")
    close(reader)
    @test refuses(() -> readstep!(reader, 3), Forcings.ClosedError, "reader")
    reader = nothing
    foreach(_ -> GC.gc(), 1:3)
    @test window == 13:24
end

# A day-ahead and a real-time model in one loop, over a store on disk that another session reopened.
@testset "a whole program" begin
    mktempdir() do folder
        path = joinpath(folder, "system.nc")
        actual, ahead = [10n + h for h in 1.0:96.0, n in 1:3], [100n + 10d + h for h in 1.0:24.0, d in 1:4, n in 1:3]
        create_store(path) do store
            for n in 1:3
                add!(store, Owner(n, "Bus"), SingleTimeSeries("load", START, Hour(1), actual[:, n]))
                add!(store, Owner(n, "Bus"), deterministic(ahead[:, :, n]; name = "load", interval = Day(1)))
            end
        end
        errors = open_store(path; read_only = true) do store
            loads = StaticReader(store; name = "load", resolution = Hour(1))
            plans = ForecastReader(store; name = "load", type = Deterministic, resolution = Hour(1))
            slots = [entry.slot for entry in Forcings.entries(plans)]
            map(collect(plans)) do (day, windows)
                sum(0:23) do h
                    read!(loads, day + Hour(h))
                    sum(abs(windows[slots[n]][h + 1] - values(loads, 1)[n]) for n in 1:3)
                end
            end
        end
        @test errors == [sum(abs, ahead[:, d, :] - actual[(24d - 23):(24d), :]) for d in 1:4]
    end
end
