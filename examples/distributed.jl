# Two worker processes compute the parts of a basin, in the two ways in which processes can share the winds of one grid:
# each with a prefetch group and a window of its own over a cache that all share, and with one group that cuts every
# epoch into windows, which are sent to the workers. Both give the bits of one process.
#
#     julia --project=julia examples/distributed.jl [URL]
#
# URL is a folder that serves a copy of monthly_winds.nc for each year, winds-1982.nc to winds-1985.nc; a temporary one
# if none is given.

using Dates, Distributed, Forcings

addprocs(2; exeflags = ["--startup-file=no", "--project=$(Base.active_project())"])
@everywhere include($(joinpath(@__DIR__, "pumping.jl")))

const WINDS = joinpath(@__DIR__, "data", "monthly_winds.nc")
const YEARS = 1982:1985
const LAT = 41:64          # 12.5 to 70 N
const LON = [49:67, 68:88] # 142.5 to 190 E and on to 120 W: the cells of each worker

"A folder with a file for each year, as a URL."
function copies()
    folder = mktempdir()
    foreach(year -> cp(WINDS, joinpath(folder, "winds-$year.nc")), YEARS)
    return "file://" * folder
end

# Handles of the library mean nothing in another process: a worker gets texts and numbers, and opens what it needs.
@everywhere function part(urls, times, folder, lon, lat)
    provider = Provider(urls; times = times, cache = Cache(folder), name = "winds")
    return thermocline(provider, lon, lat)
end

"Each worker with a group of its own."
function group_per_worker(urls, times, folder)
    parts = [@spawnat(worker, part(urls, times, folder, lon, LAT)) for (worker, lon) in zip(workers(), LON)]
    return vcat(fetch.(parts)...)
end

# What a worker keeps between the epochs that it is sent.
@everywhere begin
    const DEPTH = Ref(zeros(0, 0))
    begin_part(lon, lat) = (DEPTH[] = zeros(length(lon), length(lat)); nothing)
    advance_part(seconds, fields...) = (integrate!(DEPTH[], pumping(fields...), seconds); nothing)
    end_part() = DEPTH[]
end

"One group for all workers, which reads and decodes what their windows have in common once."
function group_per_node(urls, times, folder)
    provider = Provider(urls; times = times, cache = Cache(folder), name = "winds")
    foreach((worker, lon) -> remotecall_wait(begin_part, worker, lon, LAT), workers(), LON)
    windows = [with_halo(lon, LAT) for lon in LON]
    PrefetchGroup(Dict("winds" => provider); windows = windows) do group
        start!(group, :forward)
        for k in 1:(length(times) - 1)
            take!(group, k) do epoch
                sent = map(workers(), epoch["winds"].data) do worker, data
                    fields = [Array(data[name]) for name in ("uwnd", "vwnd", "lon", "lat")]
                    remotecall(advance_part, worker, times[k + 1] - times[k], fields...)
                end
                foreach(wait, sent)
            end
        end
    end
    return vcat([remotecall_fetch(end_part, worker) for worker in workers()]...)
end

function main(arguments)
    base = isempty(arguments) ? copies() : only(arguments)
    times = filter(t -> year(unix2datetime(t)) in YEARS, refresh_times(Provider(WINDS)))
    urls = ["$base/winds-$(year(unix2datetime(t))).nc" for t in times]
    folder = mktempdir()

    failures = 0
    check(passed, text) = (println(passed ? "ok      " : "FAILED  ", text); failures += !passed)
    serial = thermocline(Provider(WINDS; times = times), first(LON[1]):last(LON[2]), LAT)
    same(h) = reinterpret(UInt64, h) == reinterpret(UInt64, serial)
    check(
        maximum(abs, serial) > 1,
        "the thermocline of one process moves by up to $(round(Int, maximum(abs, serial))) m",
    )
    check(same(group_per_worker(urls, times, folder)), "the same bits: a group and a window for each worker")
    held = Forcings.usage(Cache(folder))
    check(
        [row.files for row in held] == [length(YEARS)],
        "the workers' cache holds each of $(length(YEARS)) files once",
    )
    check(same(group_per_node(urls, times, folder)), "the same bits: one group with the windows of all workers")
    rmprocs(workers())
    return failures == 0 ? 0 : 1
end

exit(main(ARGS))
