# Instants and periods between Julia's `Dates` and the library: instants are milliseconds since 1970, periods are a
# number of months (calendar) or of milliseconds (fixed), never both.

to_millis(t::DateTime) = Dates.value(t) - Dates.UNIXEPOCH
from_millis(ms::Integer) = DateTime(Dates.UTM(ms + Dates.UNIXEPOCH))

# Seconds since 1970, the unit of times that are numbers.
to_seconds(t::DateTime) = to_millis(t) / 1000

# A `Date` stands for its first instant.
instant(t::DateTime) = t
instant(t::Date) = DateTime(t)
instant(t) = throw(invalid("an instant must be a DateTime, not $(repr(t))"))

# An instant as a number of milliseconds, or `nothing`.
optional_millis(::Nothing) = nothing
optional_millis(t) = to_millis(instant(t))

"""
    Forcings.Utc(t::DateTime)

A bound of a range of time that is an instant in UTC: series that are zoneless refuse it. A plain `DateTime` fits every
series: it is the face of the clock for those that are zoneless, and an instant in UTC for all others.

```julia
store = memory_store()
id = add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
read_series(store, id; from = Forcings.Utc(DateTime(2030, 1, 1, 12)))
```
"""
struct Utc
    t::DateTime
    Utc(t) = new(instant(t))
end

"""
    Forcings.Zoneless(t::DateTime)

A bound of a range of time that is the face of a wall clock: only series that are zoneless take it. See
[`Forcings.Utc`](@ref).
"""
struct Zoneless
    t::DateTime
    Zoneless(t) = new(instant(t))
end

# The form in which a bound is passed to the library.
bound(::Nothing) = nothing
bound(b::Utc) = (ms = to_millis(b.t), kind = "utc")
bound(b::Zoneless) = (ms = to_millis(b.t), kind = "zoneless")
bound(t) = (ms = to_millis(instant(t)), kind = "floating")

# The form in which a period is passed to the library.
wire(p::CalendarPeriod) = (months = months(p),)
wire(p::Period) = (ms = millis(p),)
wire(p) = throw(invalid("a period must be one of Dates, such as Hour(1), not $(repr(p))"))

function wire(p::Dates.CompoundPeriod)
    isempty(p.periods) && throw(invalid("an empty period has no length"))
    parts = map(wire, p.periods)
    all(part -> haskey(part, :ms), parts) && return (ms = fitting(p, sum(Int128(part.ms) for part in parts)),)
    all(part -> haskey(part, :months), parts) &&
        return (months = fitting(p, sum(Int128(part.months) for part in parts), Int32),)
    throw(invalid("the period $p mixes calendar parts (years, months) with fixed ones; give one kind"))
end

# Nanoseconds in one unit of a fixed period.
nanoseconds(::Nanosecond) = 1
nanoseconds(::Microsecond) = 1_000
nanoseconds(::Millisecond) = 1_000_000
nanoseconds(::Second) = 1_000_000_000
nanoseconds(::Minute) = 60_000_000_000
nanoseconds(::Hour) = 3_600_000_000_000
nanoseconds(::Day) = 86_400_000_000_000
nanoseconds(::Week) = 604_800_000_000_000
nanoseconds(p) = throw(invalid("periods of the type $(typeof(p)) cannot be stored"))

function millis(p::Period)
    n = Int128(Dates.value(p)) * nanoseconds(p)
    n % 1_000_000 == 0 || throw(invalid("the period $p is not a whole number of milliseconds"))
    return fitting(p, n ÷ 1_000_000)
end

months(p::Month) = fitting(p, Dates.value(p), Int32)
months(p::Year) = fitting(p, Int128(12) * Dates.value(p), Int32)
# A quarter, where there is one.
months(p) = fitting(p, Int128(3) * Dates.value(p), Int32)

# `n` as it is stored, or an error that names the period.
function fitting(p, n::Integer, ::Type{T} = Int64) where {T}
    typemin(T) <= n <= typemax(T) || throw(invalid("the period $p is too long to be stored"))
    return Int64(n)
end

# The period in two numbers of which one is 0: milliseconds and months.
function period_numbers(p)
    length = wire(p)
    return haskey(length, :ms) ? (length.ms, 0) : (0, length.months)
end

# The period in the largest fitting unit: `Month` for calendar periods, `Day` to `Millisecond` for fixed ones.
from_months(n::Integer) = Month(n)
function from_fixed(ms::Integer)
    for (unit, length) in ((Day, 86_400_000), (Hour, 3_600_000), (Minute, 60_000), (Second, 1_000))
        ms % length == 0 && return unit(ms ÷ length)
    end
    return Millisecond(ms)
end

# A period of one unit, and one that can be stored: a compound period in the largest fitting unit, others as they are.
function plain_period(p)::Period
    ms, months = period_numbers(p)
    p isa Period && return p
    return months == 0 ? from_fixed(ms) : from_months(months)
end

# The instant `i` periods after `initial`; months are counted from `initial` itself.
step_at(initial::DateTime, p::Period, i::Integer) = initial + i * p

# How many periods after `initial` the instant `t` lies, or `nothing` if that is no whole number from 0 on.
function steps_to(initial::DateTime, p::Period, t::DateTime)
    ms, months = period_numbers(p)
    t == initial && return 0
    if months == 0
        distance = to_millis(t) - to_millis(initial)
        return ms > 0 && distance > 0 && distance % ms == 0 ? distance ÷ ms : nothing
    end
    distance = 12 * (year(t) - year(initial)) + month(t) - month(initial)
    months > 0 && distance > 0 && distance % months == 0 || return nothing
    k = distance ÷ months
    return step_at(initial, p, k) == t ? k : nothing
end

# How often `part` fits into `whole`, or `nothing` if that is no whole number from 0 on.
function whole_steps(whole::Period, part::Period)
    long, short = period_numbers(whole), period_numbers(part)
    long == (0, 0) && return 0
    a, b = long[1] == 0 ? (long[2], short[2]) : (long[1], short[1])
    return b > 0 && a > 0 && a % b == 0 ? a ÷ b : nothing
end
