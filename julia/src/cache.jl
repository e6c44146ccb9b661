# The disk cache of remote files.

"""
    Cache(dir; offline)
    Cache(; offline)

A folder in which files behind URLs are kept, for [`Provider`](@ref). Any number of tasks and processes may share it: each
URL is downloaded once, and a file is seen whole or not at all.

- `dir`: the folder. If not given, that of the environment variable `EARTHSCIDATADIR`, else
  `/scratch.local/<user>/earthsci-cache`
- `offline`: serve what is there and fetch nothing; a file that is not there is a `Forcings.CacheMissError`. If not given,
  what `EARTHSCI_OFFLINE` says (`1`, `true` or `yes`), else `false`

Nothing is written before something is fetched. The schemes are `file`, `http`, `https`, and `s3` for public objects.

Throws `Forcings.InvalidParameterError`, `Forcings.IoError`.

```julia
cache = Cache(mktempdir())
winds = "file://" * joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
p = Provider(winds; times = [DateTime(2001), DateTime(2001, 1, 1, 6)], cache = cache, name = "winds")
sample_at(p, DateTime(2001))["uwnd"]
Forcings.usage(cache)
```
"""
mutable struct Cache <: Managed
    handle::UInt64
    function Cache(dir::Union{AbstractString, Nothing} = nothing; offline = nothing)
        offline isa Union{Bool, Nothing} || throw(invalid("offline is true or false, not $(repr(offline))"))
        options = json((dir = dir === nothing ? nothing : abspath(dir), offline = offline))
        handle = Ref{UInt64}(0)
        check(forcings_cache_open(options, sizeof(options), handle))
        return manage(new(handle[]))
    end
end

"""
    close(cache)

Closes the cache. Providers that use it stay valid, and so do the files. Closing twice does nothing.
"""
Base.close(c::Cache) = check(forcings_cache_close(c))

"""
    Forcings.usage(cache) -> Vector{NamedTuple}

What the cache holds: for each source its name (`missing` for files of no named source), the number of files, and their
bytes.
"""
function usage(c::Cache)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    background(job -> forcings_cache_usage(c, table, job))
    return with_tables(table) do t
        [(source = t[:source][i], files = Int(t[:files][i]), bytes = Int(t[:bytes][i])) for i in eachindex(t[:files])]
    end
end

"""
    Forcings.clear!(cache; older_than = nothing, source = nothing) -> (files, bytes)

Removes files from the cache, and says how many: those fetched longer ago than `older_than` (a period such as `Day(30)`, or
seconds), and those of the source of that name; all without either.

Throws `Forcings.InvalidParameterError` for an offline cache.
"""
function clear!(c::Cache; older_than = nothing, source = nothing)
    options = json((older_than_s = older_than === nothing ? nothing : age_in_seconds(older_than), source = source))
    files, bytes = Ref{UInt64}(0), Ref{UInt64}(0)
    GC.@preserve options background(job -> forcings_cache_clear(c, options, sizeof(options), files, bytes, job))
    return (files = Int(files[]), bytes = Int(bytes[]))
end

age_in_seconds(age::Real) = Float64(age)
age_in_seconds(age::Dates.FixedPeriod) = Dates.value(convert(Millisecond, age)) / 1000
age_in_seconds(age) = throw(invalid("an age is a period such as Day(30), or seconds, not $(repr(age))"))

# The root and whether the cache is offline.
function describe(c::Cache)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_cache_describe(c, table))
    return with_tables(t -> (root = t[:root][1], offline = t[:offline][1]), table)
end

function Base.show(io::IO, c::Cache)
    isopen(c) || return print(io, "Cache(closed)")
    about = describe(c)
    print(io, "Cache(", repr(about.root), about.offline ? "; offline = true)" : ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", c::Cache)
    show(io, c)
    isopen(c) || return nothing
    for row in usage(c)
        name = row.source === missing ? "no named source" : repr(row.source)
        print(io, "\n  ", name, ": ", count_of(row.files, "file"), ", ", count_of(row.bytes, "byte"))
    end
    return nothing
end
