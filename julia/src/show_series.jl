# How series and listings print: one line in `show(io, x)`, more for the REPL.

function Base.show(io::IO, s::Series)
    print(io, nameof(typeof(s)), "(", repr(s.name), ", ", axis_of(s), ", ", size_text(size(s)), " ")
    print(io, eltype_of(s), s.time_reference === nothing ? ")" : ", $(s.time_reference))")
    return nothing
end

axis_of(s::SingleTimeSeries) = string(s.initial_timestamp, ", ", s.resolution)
axis_of(s::IrregularSeries) = count_of(length(s), "timestamp")
axis_of(f::Forecast) = string(f.initial_timestamp, ", ", count_of(length(f), "window"), " of ", f.horizon)

eltype_of(::Series{T}) where {T} = T

# Base's printing of 0-dimensional arrays and scalars is fine: each line says one thing.
function Base.show(io::IO, ::MIME"text/plain", s::Series)
    print(io, nameof(typeof(s)), " ", repr(s.name))
    for (title, text) in facts(s)
        print(io, "\n  ", rpad(title, 15), text)
    end
    s.time_reference === nothing || print(io, "\n  ", rpad("time reference", 15), s.time_reference)
    return nothing
end

function facts(s::SingleTimeSeries)
    return (
        span_of(s)...,
        "resolution" => string(s.resolution),
        "length" => count_of(length(s), "step"),
        values_of(s, 1),
    )
end

function facts(s::IrregularSeries)
    noun = s isa PersistentTimeSeries ? "breakpoint" : "timestamp"
    return (span_of(s)..., "length" => count_of(length(s), noun), values_of(s, 1))
end

function facts(f::Forecast)
    windows = count_of(length(f), "window")
    return (
        span_of(f)...,
        "resolution" => string(f.resolution),
        "horizon" => string(f.horizon, ", ", count_of(size(f, 1), "step")),
        "interval" => string(f.interval),
        "count" => windows,
        more_of(f)...,
        values_of(f, length(leading(typeof(f)))),
    )
end

more_of(::Forecast) = ()
more_of(f::Probabilistic) = ("percentiles" => join(f.percentiles, ", "),)
more_of(f::Scenarios) = ("scenarios" => string(size(f, 3)),)

leading(::Type{<:DeterministicSingleTimeSeries}) = leading(Deterministic)

function span_of(s::Series)
    n = length(s)
    n == 0 && return s isa IrregularSeries ? () : ("start" => string(s.initial_timestamp),)
    times = s isa IrregularSeries ? (s.timestamps[1], s.timestamps[n]) : (s.initial_timestamp, last_start(s))
    return ("start" => string(times[1]), (s isa Forecast ? "last window" : "last") => string(times[2]))
end

last_start(s::SingleTimeSeries) = step_at(s.initial_timestamp, s.resolution, length(s) - 1)
last_start(f::Forecast) = step_at(f.initial_timestamp, f.interval, length(f) - 1)

# The type of the elements, and their shape if they have one.
function values_of(s, axes)
    shape = size(s)[(axes + 1):end]
    return "values" => isempty(shape) ? string(eltype_of(s)) : string(eltype_of(s), " of shape ", shape)
end

Base.show(io::IO, l::Listing) = print(io, "Listing of ", length(l), " series")

# The columns of a printed listing, and how they align.
const LISTED = (
    "id" => row -> string(row.id),
    "type" => row -> string(row.type),
    "name" => row -> repr(row.name),
    "owner" =>
        row -> string(row.owner_type, " ", row.owner_id, row.owner_category === :component ? "" : " (attribute)"),
    "start" => row -> shown(row.initial_timestamp),
    "resolution" => row -> shown(row.resolution),
    "length" => row -> row.count === missing ? shown(row.length) : count_of(row.count, "window"),
    "values" => row -> string(row.element_type, isempty(row.element_shape) ? "" : " of shape $(row.element_shape)"),
    "features" => row -> join(sort!(["$key = $(repr(value))" for (key, value) in row.features]), ", "),
)

shown(x) = x === missing ? "" : string(x)

function Base.show(io::IO, ::MIME"text/plain", l::Listing)
    show(io, l)
    isempty(l) && return nothing
    height, width = displaysize(io)
    limited = get(io, :limit, false)
    n = limited ? min(length(l), max(height - 6, 1)) : length(l)
    cells = [[title; [cell(l[i]) for i in 1:n]] for (title, cell) in LISTED]
    widths = [maximum(textwidth, column) for column in cells]
    for i in 1:(n + 1)
        line = rstrip(join((rpad(column[i], w) for (column, w) in zip(cells, widths)), "  "))
        print(io, "\n  ", limited ? cut_to(line, width - 2) : line)
    end
    n < length(l) && print(io, "\n  ⋮")
    return nothing
end

# At most `width` columns of `line`.
function cut_to(line, width)
    textwidth(line) <= width && return line
    room, shown = width - 1, 0
    for (i, c) in pairs(line)
        shown += textwidth(c)
        shown > room && return string(SubString(line, 1, prevind(line, i)), "…")
    end
    return line
end
