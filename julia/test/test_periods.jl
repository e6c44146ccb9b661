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
    @test Forcings.wire(Day(1)) == Forcings.wire(Hour(24)) != Forcings.wire(Month(1))
    @static VERSION >= v"1.6" && @test Forcings.wire(Dates.Quarter(2)) == (months = 6,)
    @test refuses(() -> Forcings.wire(Nanosecond(1)), Forcings.InvalidParameterError, "milliseconds")
    @test refuses(() -> Forcings.wire(Month(1) + Day(1)), Forcings.InvalidParameterError, "calendar")
    @test refuses(() -> Forcings.wire(Dates.CompoundPeriod()), Forcings.InvalidParameterError, "empty")
    @test refuses(() -> Forcings.wire("1h"), Forcings.InvalidParameterError, "Hour(1)")
    for p in (Week(typemax(Int64)), Day(typemin(Int64)), Month(2^31), Year(2^29), Hour(typemax(Int64)) + Minute(1))
        @test refuses(() -> Forcings.wire(p), Forcings.InvalidParameterError, "too long")
    end
    @test Forcings.wire(Millisecond(typemax(Int64))) == (ms = typemax(Int64),)
end

@testset "bounds" begin
    t = DateTime(2030)
    @test Forcings.bound(nothing) === nothing
    @test Forcings.bound(t) == Forcings.bound(Date(2030)) == (ms = Forcings.to_millis(t), kind = "floating")
    @test Forcings.bound(Forcings.Utc(t)).kind == "utc"
    @test Forcings.bound(Forcings.Zoneless(Date(2030))) == (ms = Forcings.to_millis(t), kind = "zoneless")
    @test refuses(() -> Forcings.Utc(3), Forcings.InvalidParameterError, "DateTime", "3")
end

@testset "steps between instants, and periods in periods" begin
    steps = Forcings.steps_to
    @test steps(DateTime(2030), Hour(1), DateTime(2030, 1, 2)) == 24
    @test steps(DateTime(2030), Hour(1), DateTime(2030, 1, 1, 0, 30)) === nothing
    @test steps(DateTime(2030), Hour(1), DateTime(2029)) === nothing
    @test steps(DateTime(2031, 1, 31), Month(1), DateTime(2031, 2, 28)) == 1
    @test steps(DateTime(2031, 1, 31), Month(1), DateTime(2031, 3, 28)) === nothing
    @test steps(DateTime(2031, 1, 31), Year(1), DateTime(2033, 1, 31)) == 2
    @test Forcings.whole_steps(Day(1), Hour(1)) == 24
    @test Forcings.whole_steps(Year(1), Month(3)) == 4
    for (long, short) in ((Month(1), Day(30)), (Day(30), Month(1)), (Hour(3), Hour(2)), (Hour(-2), Hour(1)))
        @test Forcings.whole_steps(long, short) === nothing
    end
    @test Forcings.whole_steps(Hour(0), Month(1)) == 0
end

@testset "fixed periods come back in the largest unit" begin
    for p in (Day(30), Hour(1), Minute(43_830), Second(1), Millisecond(1_001))
        @test Forcings.from_fixed(Forcings.wire(p).ms) === p
    end
end
