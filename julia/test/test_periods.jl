# Instants and periods on their way to the library and back.

include("common.jl")

@testset "instants" begin
    @test Forcings.to_millis(DateTime(1970)) == 0
    @test Forcings.to_millis(DateTime(2000, 1, 1, 0, 0, 0, 1)) == 946_684_800_001
    for t in (DateTime(1), DateTime(1969, 12, 31, 23, 59, 59, 999), DateTime(9999, 12, 31))
        @test Forcings.from_millis(Forcings.to_millis(t)) == t
    end
end

@testset "periods" begin
    @test Forcings.wire(Hour(1)) == (ms = 3_600_000,)
    @test Forcings.wire(Week(1)) == (ms = 604_800_000,)
    @test Forcings.wire(Month(1)) == (months = 1,)
    @test Forcings.wire(Year(2)) == (months = 24,)
    @test Forcings.wire(Hour(730) + Minute(30)) == (ms = 2_629_800_000,)
    @test Forcings.wire(Year(1) + Month(1)) == (months = 13,)
    @test Forcings.wire(Microsecond(2_000)) == (ms = 2,)
    @test refuses(() -> Forcings.wire(Nanosecond(1)), Forcings.InvalidParameterError, "milliseconds")
    @test refuses(() -> Forcings.wire(Month(1) + Day(1)), Forcings.InvalidParameterError, "calendar")
    @test refuses(() -> Forcings.wire(Dates.CompoundPeriod()), Forcings.InvalidParameterError, "empty")
end

@testset "fixed periods come back in the largest unit" begin
    for p in (Day(30), Hour(1), Minute(43_830), Second(1), Millisecond(1_001))
        @test Forcings.from_fixed(Forcings.wire(p).ms) === p
    end
end
