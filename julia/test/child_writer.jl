# Changes a store without end and reports each change that has returned. `ARGS`: the path, whether it is durable, and the
# number of the first change.

using Dates, Forcings

include("writing.jl")

open_store(ARGS[1]; durable = ARGS[2] == "true") do store
    for k in Iterators.countfrom(parse(Int, ARGS[3]))
        perform(store, k)
        write(stdout, "$k\n")
        flush(stdout)
    end
end
