# Writes the stores that deps/interop.py reads with other tools, into the folder that the argument names.

using Dates, Forcings

const FOLDER = ARGS[1]

# Element `e` (counted from 0, the last axis fastest) of step `t` of column `c`; deps/interop.py knows the same rule.
number(c, t, e) = 1_000_000c + 40_000t + e
cell(::Type{Float64}, c, t, e) = number(c, t, e) + 0.25
cell(::Type{Float32}, c, t, e) = Float32(number(c, t, e) / 8)
cell(::Type{Int64}, c, t, e) = -Int64(2)^53 - number(c, t, e)
cell(::Type{Int32}, c, t, e) = Int32(number(c, t, e))
cell(::Type{UInt64}, c, t, e) = typemax(UInt64) - UInt64(number(c, t, e))
cell(::Type{Bool}, c, t, e) = iseven(c + t)

function array(T, column, steps, shape...)
    flat = [cell(T, column, t, e) for e in 0:(prod(shape) - 1), t in 0:(steps - 1)]
    rowmajor = reshape(flat, reverse(shape)..., steps)
    return permutedims(rowmajor, ndims(rowmajor):-1:1)
end

series(name, initial, resolution, values) = SingleTimeSeries(name, initial, resolution, values)
const START = DateTime(2030)

create_store(joinpath(FOLDER, "system.nc")) do store
    features = (scenario = "high", model_year = 2030, factor = 0.5, calibrated = true)
    loads = add!(
        store,
        [
            (
                Owner(n, "Bus"),
                series("load", START, Hour(1), array(Float64, n, 24)),
                (features = features, units = "MW"),
            )
            for n in 0:5
        ],
    )
    for n in 0:1
        wind = series("Ω speed", START, Hour(1), array(Float32, n, 4, 3))
        add!(store, Owner(7 + n, "Wind"), wind; ext = "{\"height\": $n}", units = "")
    end
    add!(
        store,
        [
            (
                Owner(-3 - n, "Outage"; category = :attribute),
                series("state", START, Minute(15), array(Int64, n, 5, 3, 2)),
            )
            for n in 0:1
        ],
    )
    add!(
        store,
        [(Owner(n, "Plant"), series("cost", DateTime(2031, 1, 31), Month(1), array(Int32, n, 12))) for n in 0:1],
    )
    add!(store, [(Owner(n, "Plant"), series("life", START, Year(1), array(UInt64, n, 3))) for n in 0:1])
    before = DateTime(1969, 12, 31, 23, 59, 59, 250)
    add!(store, [(Owner(n, "Switch"), series("on", before, Millisecond(500), array(Bool, n, 3))) for n in 0:1])
    add!(store, [(Owner(n, "Grid"), series("field", START, Hour(1), array(Float64, n, 1, 32_768))) for n in 0:5])
    add!(store, Owner(1, "Bus"), series("none", START, Hour(1), Float64[]))
    # A NaN with a payload, and the value by which netCDF marks cells without one.
    odd = [reinterpret(Float64, 0x7ff8000000001234), -0.0, Inf, 5.0e-324, 9.969209968386869e36]
    add!(store, Owner(1, "Bus"), series("odd", START, Day(1), odd))
    remove!(store, loads[[3, 5]])
    # Columns become free when the removal is on disk.
    flush(store)
    add!(store, Owner(200, "Bus"), series("load", START, Hour(1), array(Float64, 50, 24)))
    add!(store, Owner(300, "Bus"), series("copy", START, Minute(60), array(Float64, 1, 24)); features = (year = 1,))
end

for (name, compression) in ("none" => "none", "deep" => "deflate:9:noshuffle", "shuffled" => "deflate:0:shuffle")
    create_store(joinpath(FOLDER, "$name.nc"); compression = compression) do store
        add!(store, [(Owner(n, "Bus"), series("load", START, Hour(1), array(Float64, n, 10))) for n in 0:1])
    end
end
