# 200 epochs of 64 MB, taken by a solver that allocates nothing and closes nothing.

include("common.jl")
include("classic.jl")

const RECORDS, EPOCHS, DEPTH, SLOT = 8, 200, 2, 64 * 2^20
peak() = 1024 * parse(Int, match(r"VmHWM:\s+(\d+) kB", read("/proc/self/status", String))[1])

function sweep(bytes)
    group = PrefetchGroup(Dict("holes" => provider(bytes)); depth = DEPTH, inline = false)
    order = repeat(1:RECORDS, EPOCHS ÷ RECORDS)
    start!(group, order)
    total = 0.0
    for k in order
        total += take!(group, k)["holes"].data["field"][1]
    end
    return total
end

function provider(bytes)
    file = write_holes(joinpath(mktempdir(), "holes.nc"); records = RECORDS, elements = bytes ÷ 8)
    return Provider(file; times = 1:RECORDS, time_dim = "time")
end

# Everything is compiled before memory counts.
sweep(2^10)
before = peak()
total = sweep(SLOT)
slots = (peak() - before) / SLOT
println("peak of $slots slots above the start")
total == EPOCHS / RECORDS * sum(1:RECORDS) && slots <= DEPTH + 3 && println("within depth + 3 slots")
