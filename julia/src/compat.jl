# Every test of the Julia version in this package.

# `Quarter` came with Julia 1.6.
const CalendarPeriod = @static VERSION >= v"1.6" ? Union{Year, Dates.Quarter, Month} : Union{Year, Month}

# Calls `f()` once, when the memory of `array` is no longer used. From 1.11 on the memory is an object of its own, which
# a reshape shares; before that a reshape keeps the array itself. What only a finalizer refers to counts as unreachable:
# nothing that `f` uses may have a finalizer of its own.
function when_unused(f, array::Array)
    @static if VERSION >= v"1.11"
        finalizer(_ -> f(), array.ref.mem)
    else
        finalizer(_ -> f(), array)
    end
    return array
end
