# Adds series to a store and is killed, as by a power cut that spares the disk. `ARGS`: the path, and whether it is durable.

using Dates, Forcings

path, durable = ARGS[1], ARGS[2] == "true"
store = create_store(path; durable = durable)
load(n) = (Owner(n, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), fill(Float64(n), 24)))
add!(store, load(1)...)
flush(store)
add!(store, load(2)...)
transaction(s -> add!(s, load(3)...), store)
add!(store, load(4)...)
Forcings.rename(store, 1, "demand")
ccall(:kill, Cint, (Cint, Cint), getpid(), 9)
