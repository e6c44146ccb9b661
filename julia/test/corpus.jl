# The corpus: its files, what a sample must be, and the checks of one case. Included by test_corpus.jl and by
# child_corpus.jl, which runs the same where no socket can be opened.

include("common.jl")
include("read_json.jl")
using SHA

const CORPUS = joinpath(TESTS, "corpus")

corpus_file(name) = read_json(read(joinpath(CORPUS, split(name, '/')...), String))
corpus_cache() = Cache(joinpath(CORPUS, "cache"); offline = true)
corpus_cases() = [(entry, corpus_file(entry["file"])) for entry in corpus_file("cases.json")["cases"]]

hex(bytes) = bytes2hex(sha256(bytes))

const CORPUS_TYPES = Dict("float64" => Float64, "int64" => Int64, "int32" => Int32, "bool" => Bool, "string" => String)

# The elements that are expected, with the dimensions in Julia's order.
function expected_array(field)
    shape = Int.(get(() -> nesting(field["data"]), field, "shape"))
    type = CORPUS_TYPES[field["dtype"]]
    flat = type[]
    flatten!(flat, field["data"], shape)
    return reshape(flat, Tuple(reverse(shape)))
end

# The lengths of nested lists, outermost first.
function nesting(data)
    data isa AbstractVector || return Int[]
    return isempty(data) ? [0] : [length(data); nesting(data[1])]
end

function flatten!(flat, data, shape)
    isempty(shape) && return push!(flat, data === nothing ? NaN : data)
    length(data) == shape[1] || error("the lists do not have the shape that is said")
    foreach(inner -> flatten!(flat, inner, shape[2:end]), data)
    return flat
end

# The field without one dimension: its record `k`, from 1.
function record(field, dim, k)
    haskey(field, "dims") || return field
    axis = findfirst(==(dim), field["dims"])
    axis === nothing && return field
    cut(data, axis) = axis == 1 ? data[k] : Any[cut(inner, axis - 1) for inner in data]
    others = filter(!=(axis), eachindex(field["dims"]))
    parts = Dict(key => field[key][others] for key in ("dims", "shape") if haskey(field, key))
    return merge(field, parts, Dict("data" => cut(field["data"], axis)))
end

# What the sample of one record must be: without the dimension, and without its coordinate.
function record_of(expected, dim, k)
    cut(fields) = Dict(name => record(field, dim, k) for (name, field) in fields)
    return Dict("variables" => cut(expected["variables"]), "coords" => delete!(cut(expected["coords"]), dim))
end

# The faults of a sample; none if it is what is expected, bit for bit.
function faults(data, expected)
    found = String[]
    names = (Forcings.variables(data), Forcings.coords(data))
    for (kind, present) in zip(("variables", "coords"), names)
        sort(present) == sort(collect(keys(expected[kind]))) || return ["the $kind are $present"]
        for (name, field) in expected[kind]
            dims = Forcings.dims(data, name)
            dims == reverse(get(field, "dims", reverse(dims))) || push!(found, "$name has $dims")
            wanted = expected_array(field)
            same(data[name], wanted) || push!(found, "$name is $(repr(data[name])), not $(repr(wanted))")
            kind == "coords" || continue
            for key in ("units", "calendar")
                text = get(Forcings.attributes(data, name), key, nothing)
                text == get(field, key, nothing) || push!(found, "$key of $name is $(repr(text))")
            end
        end
    end
    return found
end

# The bytes of one URL against what is said of them, and against their manifest.
function blob_faults(url, about)
    key = hex(url)
    key == about["cache_key"] || return ["the key of $url is $key"]
    bytes = read(joinpath(CORPUS, about["blob_path"]))
    manifest = corpus_file("cache/v1/meta/$key.json")
    said = [(about["content_sha256"], about["bytes"]), (manifest["sha256_content"], manifest["bytes"])]
    all(==((hex(bytes), length(bytes))), said) && manifest["url"] == url && return String[]
    return ["the blob of $url is not what its manifest and its case tell"]
end

function key_faults(entry, case)
    url = haskey(case, "objects") ? case["objects"][1]["url"] : case["resolved_url"]
    said = (entry["cache_key"], case["cache_key"], splitext(basename(entry["blob_path"]))[1])
    all(==(hex(url)), said) && entry["id"] == case["id"] && entry["blob_path"] == case["blob_path"] && return String[]
    return ["the index and the case do not agree about $url"]
end

# Every check of a case: keys, blobs, and the sample of each record.
function case_faults(entry, case, cache)
    objects = get(case, "objects", [merge(case, Dict("url" => case["resolved_url"]))])
    found = vcat(key_faults(entry, case), map(o -> blob_faults(o["url"], o), objects)...)
    decode, expected = get(case, "decode", Dict()), case["expected"]
    dim = get(decode, "time_dim", nothing)
    whole = case["format"] == "zarr" ? nothing : [0.0]
    times = dim === nothing ? whole : Float64.(vec(expected_array(expected["coords"][dim])))
    p = Provider(
        case["resolved_url"];
        format = case["format"],
        cache = cache,
        times = times,
        variables = get(case, "variables", nothing),
        select = get(case, "select", nothing),
        group = get(decode, "group", nothing),
    )
    for (k, t) in enumerate(something(times, 0.0))
        wanted = dim === nothing ? expected : record_of(expected, dim, k)
        append!(found, map(fault -> "at $t: $fault", faults(sample_at(p, t), wanted)))
    end
    # The times of the file's own axis, in Unix seconds.
    if case["format"] == "netcdf"
        own = Provider(joinpath(CORPUS, case["blob_path"]); group = get(decode, "group", nothing))
        refresh_times(own) == get(decode, "refresh_times_s", []) || push!(found, "its times are $(refresh_times(own))")
    end
    return map(fault -> "$(case["id"]): $fault", found)
end

# A provider of a series of files.
function series(source, cache, records = 1)
    p = Provider(
        String.(source["urls"]);
        format = source["format"],
        cache = cache,
        times = source["refresh_times_s"],
        time_dim = source["time_dim"],
        variables = source["variables"],
        records_options(records)...,
    )
    refresh_times(p) == source["refresh_times_s"] || error("the times are $(refresh_times(p))")
    return p
end

records_options(records) = records == 1 ? () : (records_per_sample = records,)
