# A year of a real power system: the load, renewable, power-plant and storage profiles of SimBench go into one store, and
# the year is swept forward and backward. Every sum must equal, bit for bit, the one taken straight from the text.
#
#     julia --project=julia examples/real_year.jl FOLDER [STORE]
#
# FOLDER holds the profiles of one SimBench grid: LoadProfile.csv, RESProfile.csv, PowerPlantProfile.csv and
# StorageProfile.csv, as far as the grid has them; `make year` fetches one from the Python package simbench. The store is
# kept at STORE if that is given.

using Dates, Forcings, Logging, Printf

include("profiles.jl")

const KINDS = ("LoadProfile", "RESProfile", "PowerPlantProfile", "StorageProfile")

"""
    with_progress(f, title)

Calls `f(report)`; `report(fraction)` tells the logger and, on a terminal, shows how far the work is.
"""
function with_progress(f, title)
    id, shown = gensym(:progress), Ref(-1)
    function report(fraction)
        percent = floor(Int, 100fraction)
        percent == shown[] && return
        shown[] = percent
        @logmsg LogLevel(-1) title progress = fraction _id = id
        stdout isa Base.TTY && print('\r', rpad(title, 28), lpad(percent, 4), " % ")
        return
    end
    try
        return f(report)
    finally
        @logmsg LogLevel(-1) title progress = "done" _id = id
        stdout isa Base.TTY && print("\r\e[K")
    end
end

"The profile and the quantity of a column: SimBench gives loads two columns each, `H0-A_pload` and `H0-A_qload`."
function split_name(column)
    endswith(column, "_pload") && return chop(column; tail = 6), "active_power"
    endswith(column, "_qload") && return chop(column; tail = 6), "reactive_power"
    return column, "active_power"
end

"""
The items of one batch. The owner is the profile: an attribute that many components share, each with its own rated power.
`owners` numbers them across all kinds.
"""
function items(kind, profiles, owners)
    return map(profiles.names, profiles.columns) do column, values
        profile, quantity = split_name(column)
        owner = Owner(get!(owners, (kind, profile), length(owners) + 1), kind; category = :attribute)
        series = SingleTimeSeries(quantity, profiles.initial, STEP, values)
        (owner, series, (features = (profile = profile,), units = "p.u."))
    end
end

"Puts the profiles of all `files` into a new store; the sums from the text (down, up) of each series by its id."
function load(path, files)
    expected = Dict{Int64, Tuple{Float64, Float64}}()
    owners = Dict{Tuple{String, String}, Int}()
    seconds = (parse = Ref(0.0), add = Ref(0.0))
    create_store(path) do store
        for file in files
            kind = first(splitext(basename(file)))
            local profiles, ids
            seconds.parse[] += @elapsed profiles = with_progress(kind) do report
                read_profiles(file; report = report)
            end
            seconds.add[] += @elapsed ids = add!(store, items(kind, profiles, owners))
            for (id, down, up) in zip(ids, text_sums(file)...)
                expected[id] = (down, up)
            end
        end
        seconds.add[] += @elapsed flush(store)
    end
    return expected, seconds.parse[], seconds.add[]
end

"Adds up every series over `steps`, in that order."
function sweep(reader, steps, title)
    sums = zeros(only(Forcings.groups(reader)).columns)
    with_progress(title) do report
        for (count, step) in enumerate(steps)
            readstep!(reader, step)
            sums .+= values(reader, 1)
            count % 256 == 0 && report(count / length(steps))
        end
    end
    return sums
end

"Reads every step in the order of `steps` and does nothing else: the seconds and allocated bytes of a step."
function cost(reader, steps)
    bare() = foreach(step -> readstep!(reader, step), steps)
    bare()
    bytes = @allocated bare()
    return (@elapsed bare()) / length(steps), bytes / length(steps)
end

function print_means(entries, sums, steps)
    of = Dict{Tuple{String, String}, Vector{Float64}}()
    for (entry, total) in zip(entries, sums)
        push!(get!(() -> Float64[], of, (entry.owner_type, entry.name)), total / steps)
    end
    println("\nmean of the year, p.u.        series   least    mean    most")
    for (kind, quantity) in sort!(collect(keys(of)))
        means = of[(kind, quantity)]
        @printf(
            "%-28s %6d %8.3f %7.3f %7.3f\n",
            "$kind $(quantity == "active_power" ? "P" : "Q")",
            length(means),
            minimum(means),
            sum(means) / length(means),
            maximum(means),
        )
    end
    return
end

"Does everything, with the store at `path`; the exit code of the program."
function run_year(folder, path)
    failures = String[]
    check(passed, text) = (println(passed ? "ok      " : "FAILED  ", text); passed || push!(failures, text))
    files = filter!(isfile, [joinpath(folder, kind * ".csv") for kind in KINDS])
    isempty(files) && throw(ArgumentError("$folder has none of the files $(join(KINDS, ".csv, ")).csv"))

    expected, parse_seconds, add_seconds = load(path, files)
    open_store(path; read_only = true) do store
        reader = StaticReader(store; resolution = STEP)
        times, entries = Forcings.timestamps(reader), Forcings.entries(reader, 1)
        println("$(length(entries)) series, $(length(times)) steps from $(first(times)) to $(last(times)) UTC")

        texts = Dates.format.(civil.(times), CLOCK)
        check(
            all(file -> clock_texts(file) == texts, files),
            "the instants are the times in all $(length(files)) files, which are German civil time: " *
                "$(count(issummer, times)) steps in summer time",
        )
        forward = sweep(reader, 1:length(reader), "forward")
        backward = sweep(reader, length(reader):-1:1, "backward")
        differ(sums, which) = count(sums .!== [expected[entry.id][which] for entry in entries])
        check(differ(forward, 1) == 0, "$(length(forward)) sums of the forward sweep equal those of the text")
        check(differ(backward, 2) == 0, "$(length(backward)) sums of the backward sweep equal those of the text")
        print_means(entries, forward, length(reader))

        text_bytes, stored_bytes = sum(filesize, files), filesize(path) + filesize(path * ".sqlite")
        @printf("\n%-28s %.2f s\n", "parsing the text", parse_seconds)
        @printf("%-28s %.2f s, compilation included\n", "adding to the store", add_seconds)
        for (title, steps) in (("forward", 1:length(reader)), ("backward", length(reader):-1:1))
            seconds, bytes = cost(reader, steps)
            @printf("%-28s %.2f us, %.1f bytes allocated\n", "a step $title", 1.0e6 * seconds, bytes)
        end
        @printf("%-28s %.1f MB, %.1f MB as text\n", "the store", stored_bytes / 1.0e6, text_bytes / 1.0e6)
        close(reader)
    end
    return isempty(failures) ? 0 : 1
end

function main(arguments)
    length(arguments) in (1, 2) || (println(stderr, "usage: real_year.jl FOLDER [STORE]"); return 2)
    try
        length(arguments) == 2 && return run_year(arguments...)
        return mktempdir(folder -> run_year(arguments[1], joinpath(folder, "year.nc")))
    catch e
        e isa Union{ArgumentError, SystemError, Forcings.ForcingsError} || rethrow()
        println(stderr, sprint(showerror, e))
        return 1
    end
end

abspath(PROGRAM_FILE) == @__FILE__() && exit(main(ARGS))
