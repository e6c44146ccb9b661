# Instants and periods between Julia's `Dates` and the library: instants are milliseconds since 1970, periods are a
# number of months (calendar) or of milliseconds (fixed), never both.

to_millis(t::DateTime) = Dates.value(t) - Dates.UNIXEPOCH
from_millis(ms::Integer) = DateTime(Dates.UTM(ms + Dates.UNIXEPOCH))

# Seconds since 1970, the unit of times that are numbers.
to_seconds(t::DateTime) = to_millis(t) / 1000

# The form in which a period is passed to the library.
wire(p::CalendarPeriod) = (months = Dates.value(convert(Month, p)),)
wire(p::Period) = (ms = millis(p),)
wire(p) = throw(invalid("a resolution must be a period such as Hour(1), not $(repr(p))"))

function wire(p::Dates.CompoundPeriod)
    isempty(p.periods) && throw(invalid("an empty period has no length"))
    parts = map(wire, p.periods)
    all(part -> haskey(part, :ms), parts) && return (ms = sum(part.ms for part in parts),)
    all(part -> haskey(part, :months), parts) && return (months = sum(part.months for part in parts),)
    throw(invalid("the period $p mixes calendar parts (years, months) with fixed ones; give one kind"))
end

function millis(p::Period)
    p isa Union{Microsecond, Nanosecond} || return Dates.value(convert(Millisecond, p))
    n = Dates.value(convert(Nanosecond, p))
    n % 1_000_000 == 0 || throw(invalid("the period $p is not a whole number of milliseconds"))
    return n ÷ 1_000_000
end

# The period in the largest fitting unit: `Month` for calendar periods, `Day` to `Millisecond` for fixed ones.
from_months(n::Integer) = Month(n)
function from_fixed(ms::Integer)
    for (unit, length) in ((Day, 86_400_000), (Hour, 3_600_000), (Minute, 60_000), (Second, 1_000))
        ms % length == 0 && return unit(ms ÷ length)
    end
    return Millisecond(ms)
end

# An instant as a number of milliseconds, or `nothing`.
optional_millis(::Nothing) = nothing
optional_millis(t::DateTime) = to_millis(t)
optional_millis(t) = throw(invalid("an instant must be a DateTime, not $(repr(t))"))
