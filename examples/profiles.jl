# Reads profile files as SimBench writes them: `time;name;name;...`, then a line every quarter of an hour. A value is in
# per unit: whoever uses the profile multiplies it by a rated power.
#
# The first column is German civil time, without saying so: the files of 2016 lack 27 March 02:00 to 02:45 and have
# 30 October 02:00 to 02:45 twice. Read as UTC they would have a gap and a fold, and be an hour off all summer. Instants
# are therefore UTC here, and a line that is not a quarter of an hour after the one before it is an error.

using Dates

const STEP = Minute(15)
const CLOCK = dateformat"dd.mm.yyyy HH:MM"

struct Profiles
    names::Vector{String}
    initial::DateTime                # UTC
    columns::Vector{Vector{Float64}} # one for each name
end

"When the European Union changes its clocks in `month` of `year`: the last Sunday at 01:00 UTC."
clock_change(year, month) = DateTime(tolast(Date(year, month), Sunday; of = Month)) + Hour(1)

issummer(utc) = clock_change(year(utc), March) <= utc < clock_change(year(utc), October)

"German civil time at the instant `utc`."
civil(utc) = utc + (issummer(utc) ? Hour(2) : Hour(1))

"The first instant at which German clocks show `time`."
function instant(time)
    for offset in (Hour(2), Hour(1))
        civil(time - offset) == time && return time - offset
    end
    throw(ArgumentError("German clocks never show $time: they are put forward over it"))
end

wrong(path, number, what) = throw(ArgumentError("$path, line $number: $what"))

"The text before the first semicolon."
first_field(line) = SubString(line, 1, prevind(line, something(findfirst(';', line), ncodeunits(line) + 1)))

function clock_at(line, path, number)
    time = tryparse(DateTime, first_field(line), CLOCK)
    return time === nothing ?
        wrong(path, number, "$(repr(first_field(line))) is not a time like 31.12.2016 23:45") :
        time
end

"Parses the numbers after the time in `line` into `row`."
function parse_row!(row, line, path, number)
    before = findfirst(';', line)
    for column in eachindex(row)
        before === nothing && wrong(path, number, "has $column fields, not $(length(row) + 1) as the first line")
        after = findnext(';', line, before + 1)
        text = SubString(line, before + 1, prevind(line, something(after, ncodeunits(line) + 1)))
        value = tryparse(Float64, text)
        (value !== nothing && isfinite(value)) ||
            wrong(path, number, "field $(column + 1) is $(repr(text)), not a finite number")
        row[column] = value
        before = after
    end
    before === nothing || wrong(path, number, "has more than $(length(row) + 1) fields")
    return row
end

function column_names(header, path)
    names = split(header, ';')
    names[1] == "time" && length(names) > 1 || wrong(path, 1, "should begin with time; and a name")
    allunique(names) || wrong(path, 1, "has a name twice")
    return String.(names[2:end])
end

"Reads a profile file; calls `report(fraction)` now and then."
function read_profiles(path; report = fraction -> nothing)
    return open(path) do io
        names = column_names(readline(io), path)
        columns = [Float64[] for _ in names]
        row = Vector{Float64}(undef, length(names))
        initial = next = DateTime(0)
        for (count, line) in enumerate(eachline(io))
            number = count + 1
            time = clock_at(line, path, number)
            count == 1 && (initial = next = instant(time))
            time == civil(next) ||
                wrong(
                    path,
                    number,
                    "has $(Dates.format(time, CLOCK)) where $(Dates.format(civil(next), CLOCK)) is due: a gap, a line " *
                        "twice, or a clock that is not German civil time",
                )
            parse_row!(row, line, path, number)
            for (column, value) in zip(columns, row)
                push!(column, value)
            end
            next += STEP
            count % 256 == 0 && report(position(io) / filesize(path))
        end
        next == initial && wrong(path, 2, "there are no values")
        return Profiles(names, initial, columns)
    end
end

"Adds up every column of a profile file, number by number: from the first line down, and from the last line up."
function text_sums(path)
    lines = readlines(path)
    numbers = Matrix{Float64}(undef, length(column_names(lines[1], path)), length(lines) - 1)
    for (row, number) in zip(eachcol(numbers), 2:length(lines))
        parse_row!(row, lines[number], path, number)
    end
    return add_up(numbers, axes(numbers, 2)), add_up(numbers, reverse(axes(numbers, 2)))
end

function add_up(numbers, order)
    sums = zeros(size(numbers, 1))
    for line in order
        sums .+= view(numbers, :, line)
    end
    return sums
end

"The first column of a profile file as it is written."
clock_texts(path) = [String(first_field(line)) for line in Iterators.drop(eachline(path), 1)]
