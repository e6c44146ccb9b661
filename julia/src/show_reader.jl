# How readers print: one line in `show(io, x)`, more for the REPL.

function Base.show(io::IO, reader::Reader)
    isopen(reader) || return print(io, kind_of(reader), "(closed)")
    print(io, kind_of(reader), "(", reader.type, ": ", contents_of(reader), ", ")
    print(io, count_of(reader.length, step_noun(reader)), ")")
    return nothing
end

contents_of(reader::StaticReader) = count_of(sum(Int[p.shape[1] for p in reader.parts]), "series")
function contents_of(reader::ForecastReader)
    return string(count_of(reader.forecasts, "forecast"), " in ", count_of(length(reader.parts), "slot"))
end

function Base.show(io::IO, ::MIME"text/plain", reader::Reader)
    show(io, reader)
    isopen(reader) || return nothing
    isempty(reader) || print(io, "\n  from ", first(instants(reader)), " to ", last(instants(reader)))
    reader.resolution === nothing || print(io, "\n  resolution ", reader.resolution)
    reader.interval === nothing || print(io, ", interval ", reader.interval)
    reader.time_reference === nothing || print(io, "\n  time reference ", reader.time_reference)
    show_parts(io, reader)
    print(io, "\n  readahead ", reader.readahead == 0 ? "off" : Base.format_bytes(reader.readahead))
    return nothing
end

function show_parts(io, reader::StaticReader)
    for (i, p) in enumerate(reader.parts)
        print(io, "\n  group ", i, ": ", p.shape[1], " × ", p.element_type)
        length(p.shape) == 1 || print(io, " of shape ", Base.tail(p.shape))
    end
    return nothing
end

function show_parts(io, reader::ForecastReader)
    for (type, size) in unique((p.element_type, extents(p)) for p in reader.parts)
        n = count(p -> p.element_type == type && extents(p) == size, reader.parts)
        print(io, "\n  ", count_of(n, "slot"), ": ", size_text(size), " ", type)
    end
    return nothing
end
