# What a prefetch group counts, and what that means for who uses it.

"""
    Forcings.GroupStats

What [`stats`](@ref) returns.
"""
struct GroupStats
    waited_s::Float64
    decode_s::Float64
    peak_bytes::Int
    epochs_decoded::Int
    samples_decoded::Int
    samples_reused::Int
    oversize_epochs::Int
    overlap::Bool
    depth::Int
    samples_spilled::Int
    samples_restored::Int
    spilled_bytes::Int
    spill_error::Union{String, Nothing}
    workers::Int
end

"""
    stats(group) -> Forcings.GroupStats

What the group counted since it was made:

- `waited_s`: seconds in which `take!` waited; `decode_s`: seconds of decoding and transforms, summed over the workers
- `peak_bytes`: the most bytes held for coming epochs; `oversize_epochs`: epochs larger than `max_bytes`
- `epochs_decoded`, `samples_decoded`, `samples_reused`
- `overlap`: whether decoding runs beside the consumer
- `depth`: how many epochs are held ahead at present; `workers`: the native threads
- `samples_spilled`: those written to the `spill` folder, of `spilled_bytes`; `samples_restored`: those read back instead of
  decoded, which count as decoded too; `spill_error`: what stopped the writing, or `nothing`

It prints with a sentence that says whether you waited, and what to change if so.
"""
function stats(g::PrefetchGroup)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_group_stats(g, table))
    return with_tables(table) do t
        counted(name) = t[name][1] === missing ? nothing : t[name][1]
        names = fieldnames(GroupStats)[1:(end - 1)]
        values = map(name -> name === :overlap ? t[name][1] && overlaps(g) : counted(name), names)
        GroupStats(values..., g.inline ? 0 : g.workers)
    end
end

# Whether something is made beside the consumer: the library's workers have nothing to do where all members are Julia's.
overlaps(g) = g.host === nothing || g.host.spawns || !all(member -> member.by_julia, g.host.members)

# A wait of less than this part of the decoding is as good as none.
const LITTLE = 0.02

"""
    Forcings.advice(stats) -> String

Whether the consumer of a group waited for it, and what to change.
"""
function advice(s::GroupStats)
    s.samples_decoded == 0 && return "nothing was decoded yet"
    # Each sample took this long, so a perfect overlap waits for no more than the first ones.
    share = s.waited_s / max(s.decode_s, eps())
    waited = "you waited $(seconds_text(s.waited_s)) for $(seconds_text(s.decode_s)) of decoding"
    if !s.overlap
        "$waited, which runs inside take!: with inline = false native threads do it beside you"
    elseif share <= LITTLE
        "you hardly waited: decoding is hidden behind your computing"
    elseif s.oversize_epochs > 0
        "$waited: $(count_of(s.oversize_epochs, "epoch")) did not fit in max_bytes and were decoded alone; a larger one helps"
    elseif share * s.workers >= 0.5
        "$waited: it takes longer than your computing. More workers help, and so does reading less (variables, windows)"
    else
        "$waited: now and then an epoch came late. A larger depth helps"
    end
end

seconds_text(s) = s < 1 ? "$(round(1000s; sigdigits = 3)) ms" : "$(round(s; sigdigits = 3)) s"

function Base.show(io::IO, s::GroupStats)
    print(io, "GroupStats(waited ", seconds_text(s.waited_s), ", decoded ", seconds_text(s.decode_s), ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", s::GroupStats)
    print(io, "GroupStats: ", advice(s))
    for name in fieldnames(GroupStats)
        value = getfield(s, name)
        # Of spilling only what there is.
        occursin("spill", String(name)) && value in (0, nothing) && continue
        name === :samples_restored && value == 0 && continue
        print(io, "\n  ", rpad(name, 17), stat_text(name, value))
    end
    return nothing
end

function stat_text(name, value)
    name in (:waited_s, :decode_s) && return seconds_text(value)
    return name in (:peak_bytes, :spilled_bytes) ? bytes_text(value) : string(value)
end

bytes_text(n) = Base.format_bytes(n)
