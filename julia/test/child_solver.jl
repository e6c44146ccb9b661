# A solver that computes without a yield while native workers decode: the total wait is below a third of the wait of the
# same sweep without prefetching.

include("common.jl")
include("classic.jl")

const EPOCHS = 12
file = write_holes(joinpath(mktempdir(), "slow.nc"); records = EPOCHS, elements = 8 * 2^17)
provider = Provider(file; times = 1:EPOCHS, time_dim = "time")

function compute(seconds)
    stop = time_ns() + 1.0e9seconds
    x = 0.0
    while time_ns() < stop
        x += 1
    end
    return x
end

# The seconds that a sweep waits, the first epoch aside, which nothing can hide.
function sweep(group, seconds)
    start!(group, :forward)
    take!(epoch -> epoch["slow"].data["field"][1], group, 1)
    before = stats(group).waited_s
    for k in 2:EPOCHS
        compute(seconds)
        take!(epoch -> epoch["slow"].data["field"][1], group, k) == k || error("epoch $k has another epoch's data")
    end
    return stats(group).waited_s - before
end

members = Dict("slow" => provider)
PrefetchGroup(members; inline = true) do inline
    PrefetchGroup(members; inline = false, depth = 2) do ahead
        sweep(inline, 0.0), sweep(ahead, 0.0)
        threads = [strip(read("/proc/self/task/$id/comm", String)) for id in readdir("/proc/self/task")]
        any(startswith("forcings-dec"), threads) && println("workers seen")
        alone = sweep(inline, 0.0)
        # Compute that is longer than decoding, also when decoding has to share a core with others; who they are changes from
        # sweep to sweep, and without decoding ahead no sweep would hide anything.
        pause = max(6 * alone / (EPOCHS - 1), 0.2)
        hidden = minimum(sweep(ahead, pause) for _ in 1:3)
        println("waited $alone s without and $hidden s with decoding ahead")
        hidden < alone / 3 && println("ratio below a third")
    end
end
