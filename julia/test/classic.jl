# Writes a large NetCDF file in no time: classic format (64-bit offsets), one variable of doubles whose records are holes
# of the file system, zeros, but for their first element, which is the number of the record.

function write_holes(path; records, elements, name = "field")
    header = IOBuffer()
    number(n, T = UInt32) = write(header, hton(T(n)))
    text(s) = (number(sizeof(s)); write(header, s, zeros(UInt8, mod(-sizeof(s), 4))))
    write(header, "CDF", 0x02)
    number(records)
    number(0x0a), number(2) # dimensions: the unlimited one, and the elements
    text("time"), number(0)
    text("n"), number(elements)
    number(0), number(0)    # no attributes of the file
    number(0x0b), number(1) # one variable
    text(name), number(2), number(0), number(1)
    number(0), number(0)            # no attributes of the variable
    number(6), number(8 * elements) # doubles; bytes of a record
    start = position(header) + 8
    number(start, UInt64)
    open(path, "w") do file
        write(file, take!(header))
        for record in 1:records
            seek(file, start + (record - 1) * 8 * elements)
            write(file, hton(Float64(record)))
        end
        truncate(file, start + records * 8 * elements)
    end
    return path
end

# Writes a small one: the doubles `v` along the dimension `time`, whose coordinate is `clock` with these attributes.
function write_series(path, clock, values; attributes...)
    header = series_header(length(clock), 0, attributes)
    return open(path, "w") do file
        write(file, series_header(length(clock), length(header), attributes))
        foreach(x -> write(file, hton(Float64(x))), [clock; values])
        return path
    end
end

function series_header(n, start, attributes)
    header = IOBuffer()
    number(n) = write(header, hton(UInt32(n)))
    text(s) = (number(sizeof(s)); write(header, s, zeros(UInt8, mod(-sizeof(s), 4))))
    write(header, "CDF", 0x01)
    number(0)
    number(0x0a), number(1), text("time"), number(n)
    number(0), number(0)    # no attributes of the file
    number(0x0b), number(2) # two variables
    for (k, name) in enumerate(("time", "v"))
        text(name), number(1), number(0)
        list = name == "time" ? collect(attributes) : []
        number(isempty(list) ? 0 : 0x0c), number(length(list))
        for (key, value) in list
            text(String(key)), number(2), text(value)
        end
        number(6), number(8n), number(start + 8n * (k - 1))
    end
    return take!(header)
end
