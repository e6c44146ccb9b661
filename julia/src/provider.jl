# Providers: gridded files as data at a time.

"""
    Provider(source; format = "netcdf", times, time_dim, variables, select, group, cache, auth_realm, name)

Gridded files that answer [`sample_at`](@ref) on a known list of times. It may be used from any task and thread.

- `source`: the path of a file, or a vector of paths whose records follow each other in time. Or URLs, which are fetched
  when a sample needs them and need `times` and a `cache`: one for all times, a vector with one for each time (the same
  for times that share a file), or a function from a time, as it was given, to its URL or path
- `format`: `"netcdf"` (NetCDF-4 and classic files)
- `times`: the times of the records, ascending, as `DateTime`s or as numbers. If the files have a time axis they are
  entries of it, as seconds since 1970 or as the axis' own numbers; otherwise one per record, in any unit. If not given,
  all entries of the time axis, by the CF conventions, as seconds since 1970 in the files' calendar
- `time_dim`: the name of the time dimension; found by the CF conventions if not given
- `variables`: the names of the variables to decode; all if not given
- `select`: a [`DimWindow`](@ref), or a selection in the wire form
- `group`: the path of a group in the files instead of the root
- `cache`: the [`Cache`](@ref) that URLs are fetched into
- `auth_realm`: the realm whose credential the servers want
- `name`: the name of the source, by which [`Forcings.clear!`](@ref) finds its files

Packed variables are unpacked (`scale_factor`, `add_offset`) and fill values become NaN, as the CF conventions say.

Building a provider over URLs fetches nothing, so what is wrong with them is an error of the first sample. Its message has
the URL and the time.

Throws `Forcings.IoError`, `Forcings.FormatError`, `Forcings.NotFoundError`, `Forcings.SelectionError`,
`Forcings.InvalidParameterError`.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
p = Provider(file; variables = ["uwnd"])
sample_at(p, refresh_times(p)[1])["uwnd"]
```
"""
mutable struct Provider <: Managed
    handle::UInt64
    files::Vector{String}
    Provider(handle::UInt64, files) = manage(new(handle, files))
end

function Provider(
    source::Union{AbstractString, AbstractVector{<:AbstractString}, Function};
    format = "netcdf",
    times = nothing,
    time_dim = nothing,
    variables = nothing,
    select = nothing,
    group = nothing,
    cache = nothing,
    auth_realm = nothing,
    name = nothing,
)
    variables isa Union{AbstractVector, Tuple, Nothing} ||
        throw(invalid("variables are a vector of names, not $(repr(variables))"))
    times isa Union{AbstractVector, Nothing} || throw(invalid("times are a vector of times, not $(repr(times))"))
    cache isa Union{Cache, Nothing} || throw(invalid("the cache must be a Cache, not $(repr(cache))"))
    files = source_files(source, times)
    options = json((
        files = files,
        format = format,
        times = times === nothing ? nothing : map(time_number, times),
        time_dim = time_dim,
        variables = variables === nothing ? String[] : variables,
        select = select === nothing ? nothing : window_object(select),
        group = group,
        cache = cache === nothing ? nothing : cache.handle,
        auth_realm = auth_realm,
        name = name,
    ))
    handle = Ref{UInt64}(0)
    GC.@preserve options cache background(job -> forcings_provider_open(options, sizeof(options), handle, job))
    return Provider(handle[], files)
end

# Paths, made absolute, and URLs.
source_files(source::AbstractString, times) = [located(source)]
source_files(source::AbstractVector, times) = map(located, source)

# A function is called here, on the caller's task, once for each time. Local files are each listed once: they are looked
# into for their times.
function source_files(source::Function, times)
    times === nothing && throw(invalid("a function from times to files needs times"))
    files = map(times) do t
        file = source(t)
        file isa AbstractString || throw(invalid("the function must return a URL or a path for $t, not $(repr(file))"))
        return located(file)
    end
    return any(is_url, files) ? files : unique(files)
end

located(file) = is_url(file) ? String(file) : abspath(file)

is_url(text) = occursin(r"^[A-Za-z][A-Za-z0-9+.-]*://", text)

# A time as the library counts it.
time_number(t::DateTime) = to_seconds(t)
time_number(t::Real) = Float64(t)
time_number(t) = throw(invalid("a time must be a number or a DateTime, not $(repr(t))"))

"""
    close(provider)

Closes the provider. Providers made from it, groups that use it and samples stay valid. Closing twice does nothing.
"""
Base.close(p::Provider) = check(forcings_provider_close(p))

"""
    refresh_times(provider) -> Vector{Float64}

The times at which the data change, ascending: seconds since 1970, or numbers in the unit of the explicit `times`. Empty
if the data never change.
"""
function refresh_times(p::Provider)
    count = Ref{UInt64}(0)
    check(forcings_provider_times(p, C_NULL, 0, count))
    times = Vector{Float64}(undef, count[])
    check(forcings_provider_times(p, times, length(times), count))
    return times
end

"""
    sample_at(provider, t) -> Forcings.Dataset

The data in force at `t` (a number in the unit of [`refresh_times`](@ref), or a `DateTime`): those of the last refresh
time at or before it. Changes nothing in the provider; may be called from several tasks at once.

Throws `Forcings.OffGridError` for a time before the first one, and whatever decoding may raise.
"""
sample_at(p::Provider, t) = sample(forcings_provider_sample_at, p, time_number(t))

"""
    refresh(provider, t) -> Forcings.Dataset

As [`sample_at`](@ref), and the provider keeps what it decoded, so that a repeated call within one refresh interval
decodes nothing.
"""
refresh(p::Provider, t) = sample(forcings_provider_refresh, p, time_number(t))

"""
    materialize(provider) -> Forcings.Dataset

The data of a provider whose data do not change with time ([`refresh_times`](@ref) is empty).

Throws `Forcings.InvalidParameterError` for one whose data do.
"""
materialize(p::Provider) = sample(forcings_provider_materialize, p)

# Runs a call that decodes, and owns its result.
function sample(call, arguments...)
    pointer = Ref{Ptr{Cvoid}}(C_NULL)
    background(job -> call(arguments..., pointer, job))
    return Dataset(Owned(pointer[], forcings_sample_release), 0)
end

function describe(p::Provider)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_provider_describe(p, table))
    return with_tables(table) do t
        (calendar = t[:calendar][1], is_const = t[:is_const][1], supports_selection = t[:supports_selection][1])
    end
end

"""
    Forcings.prefetch(provider, from, to) -> Int
    Forcings.prefetch(provider, (from, to))

Fetches the files of the times in force from `from` to before `to` into the provider's [`Cache`](@ref), and decodes
nothing; offline, checks that they are there. Returns their number; local files count as none.

Throws `Forcings.CacheMissError`, `Forcings.TransportError`, `Forcings.NotFoundError`, `Forcings.IntegrityError`.
"""
function prefetch(p::Provider, from, to)
    files = Ref{UInt64}(0)
    start, stop = time_number(from), time_number(to)
    background(job -> forcings_provider_prefetch(p, start, stop, files, job))
    return Int(files[])
end
prefetch(p::Provider, window::Tuple{Any, Any}) = prefetch(p, window...)
