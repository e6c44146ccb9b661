# Every test of the Julia version in this package.

# `Quarter` came with Julia 1.6.
const CalendarPeriod = @static VERSION >= v"1.6" ? Union{Year, Dates.Quarter, Month} : Union{Year, Month}

# Keeps `owner` reachable for as long as the memory of `array` is used. From 1.11 on the memory is an object of its
# own, which a reshape shares; before that a reshape keeps the array itself.
function attach_owner!(array::Array, owner)
    @static if VERSION >= v"1.11"
        finalizer(_ -> release(owner), array.ref.mem)
    else
        finalizer(_ -> release(owner), array)
    end
    return array
end
