# A reader of JSON for the files of the corpus: objects become `Dict{String,Any}`, lists `Vector{Any}`, whole numbers
# `Int`, others `Float64`, and null `nothing`.

mutable struct JsonText
    text::String
    at::Int
end

function read_json(text::AbstractString)
    input = JsonText(String(text), 1)
    value = read_value(input)
    skip_blanks(input)
    input.at > ncodeunits(input.text) || bad_json(input, "text behind the value")
    return value
end

bad_json(input, what) = error("JSON, byte $(input.at): $what")

function skip_blanks(input)
    while input.at <= ncodeunits(input.text) && codeunit(input.text, input.at) in (0x20, 0x09, 0x0a, 0x0d)
        input.at += 1
    end
    return nothing
end

# The next character that is no blank.
function peek_json(input)
    skip_blanks(input)
    input.at <= ncodeunits(input.text) || bad_json(input, "the text ends")
    return input.text[input.at]
end

# Whether `c` comes next; it is passed over then.
function accept(input, c)
    peek_json(input) == c || return false
    input.at += 1
    return true
end

expect(input, c) = accept(input, c) || bad_json(input, "expected $c, not $(peek_json(input))")

function read_value(input)
    c = peek_json(input)
    c == '{' && return read_object(input)
    c == '[' && return read_list(input)
    c == '"' && return read_string(input)
    for (word, value) in ("null" => nothing, "true" => true, "false" => false)
        startswith(SubString(input.text, input.at), word) || continue
        input.at += ncodeunits(word)
        return value
    end
    return read_number(input)
end

function read_object(input)
    members = Dict{String, Any}()
    expect(input, '{')
    accept(input, '}') && return members
    while true
        peek_json(input) == '"' || bad_json(input, "expected a name")
        key = read_string(input)
        haskey(members, key) && bad_json(input, "two members $key")
        expect(input, ':')
        members[key] = read_value(input)
        accept(input, ',') && continue
        expect(input, '}')
        return members
    end
end

function read_list(input)
    list = Any[]
    expect(input, '[')
    accept(input, ']') && return list
    while true
        push!(list, read_value(input))
        accept(input, ',') && continue
        expect(input, ']')
        return list
    end
end

const JSON_ESCAPES = Dict(
    '"' => '"',
    '\\' => '\\',
    '/' => '/',
    'b' => '\b',
    'f' => '\f',
    'n' => '\n',
    'r' => '\r',
    't' => '\t',
)

function read_string(input)
    expect(input, '"')
    out = IOBuffer()
    while true
        input.at <= ncodeunits(input.text) || bad_json(input, "the text ends in a string")
        c = input.text[input.at]
        input.at = nextind(input.text, input.at)
        if c == '"'
            return String(take!(out))
        elseif c != '\\'
            c < ' ' && bad_json(input, "a control character in a string")
            print(out, c)
        else
            print(out, read_escape(input))
        end
    end
end

function read_escape(input)
    input.at <= ncodeunits(input.text) || bad_json(input, "the text ends in a string")
    c = input.text[input.at]
    input.at = nextind(input.text, input.at)
    c == 'u' || return get(() -> bad_json(input, "unknown escape \\$c"), JSON_ESCAPES, c)
    unit = read_unit(input)
    0xd800 <= unit <= 0xdfff || return Char(unit)
    # Characters beyond 16 bits are written as two halves.
    startswith(SubString(input.text, input.at), "\\u") || bad_json(input, "half a character")
    input.at += 2
    low = read_unit(input)
    unit < 0xdc00 <= low <= 0xdfff || bad_json(input, "half a character")
    return Char(0x00010000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
end

function read_unit(input)
    digits = match(r"\G[0-9a-fA-F]{4}", input.text, input.at)
    digits === nothing && bad_json(input, "expected four hex digits")
    input.at += 4
    return parse(UInt32, digits.match; base = 16)
end

function read_number(input)
    found = match(r"\G-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", input.text, input.at)
    found === nothing && bad_json(input, "no value: $(peek_json(input))")
    input.at += ncodeunits(found.match)
    whole = found.captures[2] === found.captures[3] === nothing
    return parse(whole ? Int : Float64, found.match)
end
