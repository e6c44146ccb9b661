# Readers: right values at every instant, in buffers that are reused.

include("common.jl")

series(name, values; initial = DateTime(2030), resolution = Hour(1)) = SingleTimeSeries(
    name,
    initial,
    resolution,
    values,
)
load(bus, steps) = [1000.0bus + step for step in 1:steps]

function filled(store; buses = 3, steps = 24)
    add!(store, [(Owner(bus, "Bus"), series("load", load(bus, steps))) for bus in 1:buses])
    add!(store, [(Owner(bus, "Bus"), series("on", isodd.(bus .+ (1:steps)))) for bus in 1:2])
    shaped = [100step + 10i + j for step in 1:steps, i in 1:2, j in 1:3]
    add!(store, Owner(9, "Plant"), series("cost", shaped))
    return StaticReader(store; resolution = Hour(1))
end

group_of(reader, T) = findfirst(g -> g.element_type === T, Forcings.groups(reader))

@testset "values at every step, both ways" begin
    memory_store() do store
        reader = filled(store)
        @test length(reader) == 24
        @test Forcings.timestamps(reader) == DateTime(2030) .+ Hour.(0:23)
        f, b, i = group_of(reader, Float64), group_of(reader, Bool), group_of(reader, Int64)
        @test [row.name for row in Forcings.entries(reader, f)] == fill("load", 3)
        @test [row.owner_id for row in Forcings.entries(reader, f)] == 1:3
        @test Forcings.groups(reader)[i] == (element_type = Int64, element_shape = (2, 3), columns = 1)
        for step in [1:24; 24:-1:1; 7; 7]
            @test readstep!(reader, step) === reader
            @test values(reader, f) == 1000 .* (1:3) .+ step
            @test values(reader, b) == isodd.((1:2) .+ step)
            @test values(reader, i) == reshape([100step + 10i + j for i in 1:2, j in 1:3], 1, 2, 3)
        end
        @test values(reader, f) isa Vector{Float64}
        @test values(reader, f) === values(reader, f)
        read!(reader, DateTime(2030, 1, 1, 5))
        @test values(reader, f)[1] == 1006
        read!(reader, datetime2unix(DateTime(2030, 1, 1, 6)))
        @test values(reader, f)[1] == 1007
        @test Forcings.index_at(reader, DateTime(2030, 1, 1, 6)) == 7
    end
end

@testset "iteration and copies" begin
    memory_store() do store
        add!(store, [(Owner(bus, "Bus"), series("load", load(bus, 5))) for bus in 1:3])
        reader = StaticReader(store; resolution = Hour(1), name = "load")
        seen = [(t, copy(loads)) for (t, (loads,)) in reader]
        @test seen == [(DateTime(2030, 1, 1, s - 1), 1000 .* (1:3) .+ s) for s in 1:5]
        @test [(t, row[1]) for (t, row) in collect(reader)] == seen
        @test length(values(reader)) == 1
    end
end

@testset "a step allocates nothing" begin
    memory_store() do store
        add!(store, [(Owner(bus, "Bus"), series("load", load(bus, 100))) for bus in 1:1000])
        add!(store, [(Owner(bus, "Bus"), series("cost", rand(50, 2); resolution = Minute(30))) for bus in 1:3])
        add!(store, [(Owner(bus, "Bus"), series("on", isodd.(bus .+ (1:50)); resolution = Minute(30))) for bus in 1:3])
        times = DateTime(2030) .+ Day.(1:100)
        add!(store, [(Owner(bus, "Bus"), NonSequentialTimeSeries("outage", times, rand(100))) for bus in 1:3])
        add!(
            store,
            [(Owner(bus, "Bus"), PersistentTimeSeries("price", times[1:(bus * 30)], rand(30bus))) for bus in 1:3],
        )
        for reader in (
                StaticReader(store; resolution = Hour(1)),
                StaticReader(store; resolution = Hour(1), readahead = 0),
                StaticReader(store; resolution = Hour(1), start = DateTime(2030, 1, 2), extent = 50),
                StaticReader(store; resolution = Minute(30)),
                StaticReader(store; type = NonSequentialTimeSeries),
                StaticReader(store; type = PersistentTimeSeries),
            )
            @test allocated(reader) <= 64
        end
    end
end

@testset "refused" begin
    memory_store() do store
        reader = filled(store)
        @test refuses(() -> values(reader, 1), Forcings.InvalidParameterError, "read an instant first")
        @test refuses(() -> values(reader), Forcings.InvalidParameterError, "read an instant first")
        @test refuses(
            () -> read!(reader, 3),
            Forcings.InvalidParameterError,
            "read!(reader, t)",
            "readstep!(reader, i)",
        )
        @test refuses(() -> read!(reader, Date(2030)), Forcings.InvalidParameterError, "DateTime", "Date(")
        @test refuses(() -> readstep!(reader, 0), Forcings.OffGridError, "step 0", "1 to 24")
        readstep!(reader, 24)
        @test refuses(() -> readstep!(reader, 25), Forcings.OffGridError, "step 25")
        @test refuses(() -> values(reader, 1), Forcings.InvalidParameterError, "read an instant first")
        @test refuses(() -> read!(reader, DateTime(2029)), Forcings.OffGridError, "2029")
        @test refuses(() -> read!(reader, DateTime(2030, 1, 1, 0, 30)), Forcings.OffGridError)
        @test refuses(() -> read!(reader, NaN), Forcings.InvalidParameterError, "NaN")
        @test refuses(() -> values(reader, 4), Forcings.InvalidParameterError, "group 4")
        @test refuses(() -> Forcings.entries(reader, 0), Forcings.InvalidParameterError, "group 0")
        add!(store, Owner(20, "Bus"), series("late", ones(24); initial = DateTime(2031)))
        @test refuses(() -> StaticReader(store; resolution = Hour(1)), Forcings.ForcingsError, "late")
        empty = StaticReader(store; resolution = Hour(1), name = "nothing")
        @test length(empty) == 0 && isempty(Forcings.groups(empty)) && isempty(collect(empty))
        @test thrown(() -> read!(empty, DateTime(2030))) isa Forcings.ForcingsError
        @test refuses(() -> readstep!(empty, 1), Forcings.NotFoundError, "matched no SingleTimeSeries")
        @test refuses(() -> StaticReader(store), Forcings.InvalidParameterError, "resolution")
        @test refuses(
            () -> StaticReader(store; resolution = Hour(1), extent = -1),
            Forcings.InvalidParameterError,
            "extent",
        )
        @test refuses(
            () -> StaticReader(store; resolution = Hour(1), readahead = 1.5),
            Forcings.InvalidParameterError,
            "readahead",
        )
        @test refuses(
            () -> StaticReader(store; type = Deterministic, resolution = Hour(1)),
            Forcings.InvalidParameterError,
            "ForecastReader",
        )
    end
end

@testset "after the end" begin
    store = memory_store()
    reader = filled(store)
    readstep!(reader, 3)
    loads = values(reader, group_of(reader, Float64))
    close(store)
    @test refuses(() -> readstep!(reader, 4), Forcings.ClosedError, "store")
    close(reader)
    close(reader)
    @test !isopen(reader)
    @test refuses(() -> readstep!(reader, 4), Forcings.ClosedError, "reader")
    reader = nothing
    for _ in 1:3
        GC.gc()
    end
    @test loads == 1000 .* (1:3) .+ 3
    @test reshape(loads, 1, 3)[3] == 3003
end

@testset "a calendar grid from the last day of January" begin
    memory_store() do store
        months = series("cost", 1.0:14.0; initial = DateTime(2031, 1, 31), resolution = Month(1))
        add!(store, Owner(1, "Bus"), months)
        reader = StaticReader(store; resolution = Month(1))
        @test Forcings.timestamps(reader) == Forcings.timestamps(months)
        read!(reader, DateTime(2031, 2, 28))
        @test values(reader, 1) == [2]
        @test refuses(() -> read!(reader, DateTime(2031, 3, 28)), Forcings.OffGridError)
    end
end

@testset "a removed column" begin
    memory_store() do store
        reader = filled(store)
        remove!(store, list_series(store; owner = 2, name = "load")[1].id)
        @test thrown(() -> foreach(step -> readstep!(reader, step), 1:24)) isa Forcings.ForcingsError
    end
end

# The values of a column, as `s[t]` has them.
column(v::AbstractVector, c) = v[c]
column(v, c) = selectdim(v, 1, c)

# Every step of a reader, there and back, is what the series have.
function agrees(store, reader)
    times = Forcings.timestamps(reader)
    stored = [
        read_series(store, [e.id for e in Forcings.entries(reader, g)])
        for g in eachindex(Forcings.groups(reader))
    ]
    return all([eachindex(times); reverse(eachindex(times))]) do step
        isodd(step) ? readstep!(reader, step) : read!(reader, times[step])
        all(enumerate(stored)) do (g, columns)
            all(c -> column(values(reader, g), c) == columns[c][times[step]], eachindex(columns))
        end
    end
end

@testset "every type of series" begin
    memory_store() do store
        times = [DateTime(2030, 1, 3, 7, 30), DateTime(2030, 2, 11), DateTime(2030, 2, 12)]
        for bus in 1:3
            owner = Owner(bus, "Bus")
            add!(store, owner, series("load", rand(40)))
            add!(store, owner, series("limits", rand(Int64, 40, 2, 3)))
            add!(store, owner, NonSequentialTimeSeries("outage", times, rand(3)))
            add!(store, owner, NonSequentialTimeSeries("kind", times, rand(Int32, 3, 2)))
            add!(store, owner, PersistentTimeSeries("price", times[1:bus], rand(bus)))
        end
        regular = StaticReader(store; resolution = Hour(1))
        @test agrees(store, regular)
        @test (regular.type, regular.resolution, regular.time_reference) == (:SingleTimeSeries, Hour(1), nothing)
        @test Forcings.index_at(regular, datetime2unix(DateTime(2030, 1, 1, 2))) == 3

        listed = StaticReader(store; type = NonSequentialTimeSeries)
        @test Forcings.timestamps(listed) == times && listed.resolution === nothing
        @test agrees(store, listed)
        @test size(values(listed, group_of(listed, Int32))) == (3, 2)
        @test refuses(() -> read!(listed, DateTime(2030, 2, 11, 1)), Forcings.OffGridError, "2030-02-11")
        @test refuses(
            () -> StaticReader(store; type = NonSequentialTimeSeries, resolution = Hour(1)),
            Forcings.InvalidParameterError,
            "no resolution",
        )
        add!(store, Owner(9, "Bus"), NonSequentialTimeSeries("outage", times[1:2], rand(2)))
        @test refuses(
            () -> StaticReader(store; type = NonSequentialTimeSeries),
            Forcings.InvalidParameterError,
            "outage",
            "2 different",
        )
        @test agrees(store, StaticReader(store; type = PersistentTimeSeries, owner = 3))
    end
end

@testset "step functions have a union of breakpoints" begin
    memory_store() do store
        months(n...) = [DateTime(2030, m) for m in n]
        add!(store, Owner(1, "Fuel"), PersistentTimeSeries("gas", months(1, 3, 6), [1.0, 2.0, 3.0]))
        add!(store, Owner(2, "Fuel"), PersistentTimeSeries("coal", months(2, 3), [10.0, 20.0]))
        reader = StaticReader(store; type = PersistentTimeSeries)
        @test Forcings.timestamps(reader) == months(1, 2, 3, 6)
        @test [copy(values(readstep!(reader, i), 1)) for i in [2:4; 4:-1:2]] ==
            [[1, 10], [2, 20], [3, 20], [3, 20], [2, 20], [1, 10]]
        @test values(read!(reader, DateTime(2030, 4, 15)), 1) == [2, 20]
        @test values(read!(reader, DateTime(2040)), 1) == [3, 20]
        @test Forcings.index_at(reader, DateTime(2030, 4, 15)) == 3
        @test refuses(() -> readstep!(reader, 1), Forcings.OffGridError, "coal", "first breakpoint", "2030-02-01")
        @test refuses(() -> values(reader, 1), Forcings.InvalidParameterError, "read an instant first")
        @test refuses(() -> collect(reader), Forcings.OffGridError, "coal")
        @test refuses(() -> Forcings.index_at(reader, DateTime(2029)), Forcings.OffGridError, "2029")
        @test refuses(
            () -> StaticReader(store; type = PersistentTimeSeries, start = DateTime(2030)),
            Forcings.InvalidParameterError,
            "start",
        )
    end
end

@testset "windows" begin
    memory_store() do store
        hour(h) = DateTime(2030) + Hour(h)
        add!(store, Owner(1, "Bus"), series("year", 1.0:24.0))
        add!(store, Owner(2, "Bus"), series("late", 100.0 .+ (1:10); initial = hour(1)))
        window(; options...) = StaticReader(store; resolution = Hour(1), options...)
        @test refuses(() -> window(), Forcings.InvalidParameterError, "year", "late", "start", "extent", "length")
        reader = window(start = hour(3))
        @test Forcings.timestamps(reader) == hour.(3:10)
        @test agrees(store, reader)
        @test values(readstep!(reader, 1), 1) == [4, 103]
        for start in (hour(3), Forcings.Utc(hour(3)))
            @test Forcings.timestamps(window(start = start, extent = 4)) == hour.(3:6)
        end
        refused(parts...; options...) = refuses(() -> window(; options...), Forcings.InvalidParameterError, parts...)
        @test refused("late", "9 steps", "at most 8"; start = hour(3), extent = 9)
        @test refused("late"; start = hour(0))
        @test refused("no step"; start = hour(3) + Minute(30))
        @test refused("start"; extent = 4)
        @test refused("0 steps"; start = hour(3), extent = 0)
        @test refused("year"; start = Forcings.Zoneless(hour(3)))
        @test refused("an instant must be"; start = 3)
        @test refuses(() -> readstep!(window(start = hour(3)), 9), Forcings.OffGridError, "step 9", "1 to 8")
        # A filter leaves out what is not on the grid.
        on_grid = window(initial_timestamp = hour(0), length = 24)
        @test length(on_grid) == 24 && [e.name for e in Forcings.entries(on_grid, 1)] == ["year"]
        @test isempty(window(initial_timestamp = hour(7)))
    end
end

@testset "wall clocks" begin
    memory_store() do store
        clock = SingleTimeSeries("tariff", DateTime(2030), Hour(1), rand(5); time_reference = :zoneless)
        add!(store, Owner(1, "Bus"), clock)
        add!(store, Owner(2, "Bus"), series("load", rand(5)))
        @test refuses(() -> StaticReader(store; resolution = Hour(1)), Forcings.InvalidParameterError, "`zoneless`")
        reader = StaticReader(store; resolution = Hour(1), zoneless = true, start = Forcings.Zoneless(DateTime(2030)))
        @test reader.time_reference == "zoneless" && length(reader) == 5
    end
end

@testset "a reader keeps its store" begin
    function build()
        store = memory_store()
        add!(store, Owner(1, "Bus"), series("load", 1.0:24.0))
        return StaticReader(store; resolution = Hour(1))
    end
    reader = build()
    foreach(_ -> GC.gc(), 1:3)
    @test values(readstep!(reader, 24), 1) == [24]
end
