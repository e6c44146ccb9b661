# A writer of JSON text, the form of structured arguments. Nothing in this package reads JSON.

json(x) = sprint(write_json, x)

write_json(io::IO, ::Nothing) = print(io, "null")
write_json(io::IO, x::Bool) = print(io, x)
write_json(io::IO, x::Integer) = print(io, BigInt(x))
write_json(io::IO, x::Symbol) = write_json(io, String(x))
write_json(io::IO, x::Union{NamedTuple, AbstractDict}) = write_object(io, pairs(x))

function write_json(io::IO, x::AbstractFloat)
    isfinite(x) || throw(invalid("$x cannot be passed here; give a finite number"))
    print(io, Float64(x))
    return nothing
end

function write_json(io::IO, text::AbstractString)
    print(io, '"')
    for c in text
        isvalid(c) || throw(invalid("$(repr(text)) is not valid UTF-8"))
        if c == '"' || c == '\\'
            print(io, '\\', c)
        elseif c < ' '
            print(io, "\\u", string(UInt16(c); base = 16, pad = 4))
        else
            print(io, c)
        end
    end
    print(io, '"')
    return nothing
end

function write_json(io::IO, list::Union{AbstractVector, Tuple})
    print(io, '[')
    for (i, x) in enumerate(list)
        i == 1 || print(io, ',')
        write_json(io, x)
    end
    print(io, ']')
    return nothing
end

function write_object(io::IO, members)
    print(io, '{')
    separator = ""
    for (key, value) in members
        print(io, separator)
        write_json(io, string(key))
        print(io, ':')
        write_json(io, value)
        separator = ","
    end
    print(io, '}')
    return nothing
end
