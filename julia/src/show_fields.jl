# How datasets and fields print.

function Base.show(io::IO, data::Dataset)
    isopen(data.owner) || return print(io, "Dataset(closed)")
    line = string("Dataset(", join(repr.(keys(data)), ", "), ")")
    print(io, get(io, :limit, false) ? cut_to(line, displaysize(io)[2]) : line)
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", data::Dataset)
    isopen(data.owner) || return print(io, "Dataset(closed)")
    names, axes = variables(data), coords(data)
    print(io, "Dataset with ", count_of(length(names), "variable"), " and ", count_of(length(axes), "coordinate"))
    lines = String[]
    section!(lines, "dimensions", [[dim, string(n)] for (dim, n) in extents(data)])
    section!(lines, "coordinates", [coordinate_row(data, name) for name in axes])
    section!(lines, "variables", [variable_row(data, name) for name in names])
    section!(lines, "attributes", attribute_rows(attributes(data)))
    print_lines(io, lines, displaysize(io)[1] - 4)
    return nothing
end

# The distinct dimensions and their extents, in the order in which variables and coordinates have them.
function extents(data)
    found = Pair{String, Int}[]
    for name in keys(data)
        append!(found, Pair.(dims(data, name), size(data[name])))
    end
    return unique!(found)
end

function coordinate_row(data, name)
    values = data[name]
    return [name, string(eltype(values)), range_text(values), units(data, name)]
end

function variable_row(data, name)
    return [name, join(dims(data, name), " × "), string(eltype(data[name])), units(data, name)]
end

units(data, name) = (text = get(attributes(data, name), "units", ""); text isa String ? text : "")

# The first and the last value.
function range_text(values)
    isempty(values) && return ""
    text(x) = x isa AbstractString ? repr(x) : sprint(print, x; context = :compact => true)
    return length(values) == 1 ? text(first(values)) : string(text(first(values)), " … ", text(last(values)))
end

attribute_rows(about) = [[name, attribute_text(about[name])] for name in sort!(collect(keys(about)))]
attribute_text(value) = value isa AbstractString ?
    escape_string(value) :
    sprint(show, value; context = :compact => true)

function section!(lines, title, rows)
    isempty(rows) && return lines
    push!(lines, "  " * title)
    return append!(lines, "    " .* aligned(rows))
end

# One line for each row, its cells in columns.
function aligned(rows)
    isempty(rows) && return String[]
    widths = [maximum(textwidth(row[i]) for row in rows) for i in eachindex(first(rows))]
    pad(cell, width) = cell * " "^(width - textwidth(cell))
    return [rstrip(join((pad(cell, width) for (cell, width) in zip(row, widths)), "  ")) for row in rows]
end

# Each on a line of its own; as many, and as much of each, as a limited display has room for.
function print_lines(io, lines, room)
    limited = get(io, :limit, false)
    shown = limited && length(lines) > room ? max(room - 1, 0) : length(lines)
    for line in view(lines, 1:shown)
        print(io, "\n", limited ? cut_to(line, displaysize(io)[2]) : line)
    end
    shown < length(lines) && print(io, "\n  ⋮")
    return min(shown + 1, length(lines))
end

function Base.summary(io::IO, f::Field)
    isopen(f.owner) || return print(io, "Field(closed)")
    print(io, size_text(size(f)), " Field{", eltype(f), "} ", f.name, "(", join(dims(f), ", "), ")")
    return nothing
end

Base.show(io::IO, f::Field) = isopen(f.owner) ?
    invoke(show, Tuple{IO, AbstractArray}, io, f) :
    print(io, "Field(closed)")

# The dimensions and attributes have half of a limited display, the values the rest.
function Base.show(io::IO, ::MIME"text/plain", f::Field)
    isopen(f.owner) || return print(io, "Field(closed)")
    summary(io, f)
    height, width = displaysize(io)
    lines = "  " .* vcat(aligned([dim_row(f, dim) for dim in dims(f)]), aligned(attribute_rows(attributes(f))))
    above = print_lines(io, lines, height ÷ 2)
    isempty(f) && return nothing
    println(io, "\n  values")
    context = IOContext(io, :typeinfo => eltype(f), :displaysize => (max(height - above - 1, 5), width))
    haskey(io, :compact) || ndims(f) < 2 || (context = IOContext(context, :compact => true))
    # What Julia prints of an array, without the line that says what it is.
    text = sprint(show, MIME"text/plain"(), f.array; context = context)
    print(io, split(text, '\n'; limit = 2)[end])
    return nothing
end

function dim_row(f, dim)
    text = ""
    if dim in coords(f)
        about = units(Dataset(f.owner, f.member), dim)
        text = rstrip(string(range_text(coordinate(f, dim)), "  ", about))
    end
    return [dim, string(size(f, dim)), text]
end
