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

@testset "a step allocates next to nothing" begin
    memory_store() do store
        add!(store, [(Owner(bus, "Bus"), series("load", load(bus, 100))) for bus in 1:1000])
        reader = StaticReader(store; resolution = Hour(1))
        function sweep(reader)
            total = 0.0
            for step in 1:100
                readstep!(reader, step)
                total += values(reader, 1)[1000]::Float64
            end
            return total
        end
        at(reader, t) = (read!(reader, t); nothing)
        sweep(reader), at(reader, DateTime(2030))
        @test sweep(reader) == sum(1_000_000 .+ (1:100))
        @test (@allocated sweep(reader)) <= 100 * 64
        @test (@allocated at(reader, DateTime(2030))) <= 64
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
        @test_throws UndefKeywordError StaticReader(store)
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
