# Pictures of the overlap: what a prefetch group decoded, and when its consumer waited.

const Interval = NamedTuple{
    (:activity, :member, :epoch, :begin_s, :end_s),
    Tuple{Symbol, Union{String, Nothing}, Int, Float64, Float64},
}

"""
    Forcings.Trace <: AbstractVector{<:NamedTuple}

What [`Forcings.trace`](@ref) returns: one entry for each interval, with

- `activity`: `:decode`, `:transform` (a sample made or transformed by Julia), `:fetch` (a download ahead), `:wait` or `:take`
- `member`: the name of the member, or `nothing` for `:wait` and `:take`
- `epoch`: its number
- `begin_s`, `end_s`: seconds since the group was made

Notebooks show it as a timeline in SVG, terminals as one of text; [`Forcings.savefig`](@ref) writes the SVG to a file. It is
a vector of named tuples, so any sink of tables takes it.
"""
struct Trace <: AbstractVector{Interval}
    keys::Vector{String}
    intervals::Vector{Interval}
end

const ACTIVITIES = (:decode, :transform, :fetch, :wait, :take)

"""
    Forcings.trace(group) -> Forcings.Trace

What was decoded, waited for and taken when. The group has to be made with `trace = true`. Of more than 250,000 intervals
the latest are kept.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
PrefetchGroup(Dict("winds" => Provider(file)); trace = true) do group
    start!(group, :forward)
    foreach(k -> take!(epoch -> nothing, group, k), eachindex(boundaries(group)))
    Forcings.savefig(Forcings.trace(group), tempname() * ".svg")
end
```
"""
function trace(g::PrefetchGroup)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_group_trace(g, table))
    return with_tables(table) do t
        name(i) = t[:member][i] === missing ? nothing : g.keys[t[:member][i] + 1]
        activity(i) = ACTIVITIES[t[:activity][i] + 1]
        interval(i) = Interval((activity(i), name(i), t[:epoch][i] + 1, t[:begin_s][i], t[:end_s][i]))
        intervals = Interval[interval(i) for i in eachindex(t[:epoch])]
        Trace(g.keys, intervals)
    end
end

Base.size(t::Trace) = size(t.intervals)
Base.getindex(t::Trace, i::Int) = t.intervals[i]
Base.IndexStyle(::Type{Trace}) = IndexLinear()

# The lines of a picture: what they are called, and their intervals.
function lanes(t::Trace)
    lanes = Pair{String, Vector{Interval}}[]
    for activity in (:decode, :transform, :fetch), key in t.keys
        found = filter(i -> i.activity === activity && i.member == key, t.intervals)
        isempty(found) || push!(lanes, "$activity $key" => found)
    end
    push!(lanes, "wait" => filter(i -> i.activity === :wait, t.intervals))
    push!(lanes, "take" => filter(i -> i.activity === :take, t.intervals))
    return lanes
end

function span_of(t::Trace)
    isempty(t.intervals) && return (0.0, 1.0)
    first, last = minimum(i -> i.begin_s, t.intervals), maximum(i -> i.end_s, t.intervals)
    return (first, max(last, first + 1.0e-9))
end

Base.summary(io::IO, t::Trace) = print(io, "Trace of ", count_of(length(t), "interval"))
Base.show(io::IO, t::Trace) = summary(io, t)

# How much of a column is covered, in eighths.
const BLOCKS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

function Base.show(io::IO, ::MIME"text/plain", t::Trace)
    first, last = span_of(t)
    summary(io, t)
    isempty(t.intervals) && return nothing
    print(io, " in ", seconds_text(last - first))
    rows = lanes(t)
    margin = maximum(textwidth(name) for (name, _) in rows)
    columns = max(displaysize(io)[2] - margin - 3, 20)
    for (name, intervals) in rows
        print(io, "\n", lpad(name, margin), " ")
        if name == "take"
            foreach(taken -> print(io, taken ? '|' : ' '), marks(intervals, first, last, columns))
        else
            foreach(part -> print(io, BLOCKS[ceil(Int, 8part) + 1]), covered(intervals, first, last, columns))
        end
    end
    return nothing
end

# For each of the columns, the part of its time that is in an interval.
function covered(intervals, first, last, columns)
    parts, width = zeros(columns), (last - first) / columns
    for i in intervals, c in column(i.begin_s, first, width, columns):column(i.end_s, first, width, columns)
        from = first + (c - 1) * width
        parts[c] += max(0.0, min(i.end_s, from + width) - max(i.begin_s, from)) / width
    end
    return min.(parts, 1.0)
end

function marks(intervals, first, last, columns)
    taken, width = falses(columns), (last - first) / columns
    foreach(i -> taken[column(i.end_s, first, width, columns)] = true, intervals)
    return taken
end

column(t, first, width, columns) = clamp(floor(Int, (t - first) / width) + 1, 1, columns)

const COLORS = (decode = "#4477aa", transform = "#aa3377", fetch = "#66ccee", wait = "#ee6677", take = "#222222")

function Base.show(io::IO, ::MIME"image/svg+xml", t::Trace)
    first, last = span_of(t)
    rows, margin, width, height = lanes(t), 140, 800, 22
    x(s) = round(margin + (s - first) / (last - first) * width; digits = 2)
    bottom = height * length(rows) + 10
    print(io, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"$(margin + width + 20)\" height=\"$(bottom + 30)\"")
    println(io, " font-family=\"sans-serif\" font-size=\"12\">")
    println(io, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")
    for (row, (name, intervals)) in enumerate(rows)
        top = height * (row - 1) + 8
        println(io, "<text x=\"$(margin - 6)\" y=\"$(top + 13)\" text-anchor=\"end\">$(xml(name))</text>")
        for i in intervals
            # What is shorter than a pixel is still seen.
            wide = max(round(x(i.end_s) - x(i.begin_s); digits = 2), 0.6)
            print(io, "<rect x=\"$(x(i.begin_s))\" y=\"$top\" width=\"$wide\" height=\"$(height - 6)\"")
            print(io, " fill=\"$(COLORS[i.activity])\" fill-opacity=\"0.75\"><title>$(xml(name)), epoch $(i.epoch): ")
            println(io, seconds_text(i.end_s - i.begin_s), "</title></rect>")
        end
    end
    for part in 0:4
        s = first + part / 4 * (last - first)
        print(
            io,
            "<line x1=\"$(x(s))\" x2=\"$(x(s))\" y1=\"4\" y2=\"$bottom\" stroke=\"#bbbbbb\" stroke-width=\"0.5\"/>",
        )
        println(io, "<text x=\"$(x(s))\" y=\"$(bottom + 16)\" text-anchor=\"middle\">$(seconds_text(s - first))</text>")
    end
    println(io, "</svg>")
    return nothing
end

xml(text) = replace(replace(replace(replace(text, '&' => "&amp;"), '<' => "&lt;"), '>' => "&gt;"), '"' => "&quot;")

"""
    Forcings.savefig(trace, path) -> path

Writes the timeline of a [`Forcings.Trace`](@ref) to an SVG file.
"""
function savefig(t::Trace, path::AbstractString)
    endswith(lowercase(path), ".svg") ||
        throw(invalid("a timeline is written as SVG; name the file .svg, not $(repr(path))"))
    open(io -> show(io, MIME("image/svg+xml"), t), path, "w")
    return path
end
