# Providers: data at a time, of gridded files or of the series of a store.

"""
    Provider(source; format = "netcdf", times, time_dim, records_per_sample = 1, variables, select, group,
             eltype = Float64, threads = 1, cache, auth_realm, name, store_access)

Gridded files that answer [`sample_at`](@ref) on a known list of times. It may be used from any task and thread.

- `source`: the path of a file, or a vector of paths whose records follow each other in time. Or URLs, which are fetched
  when a sample needs them and need `times` and a `cache`: one for all times, a vector with one for each time (the same
  for times that share a file), or a function from a time, as it was given, to its URL or path
- `format`: `"netcdf"` (NetCDF-4 and classic files), or `"zarr"` (versions 2 and 3): then a source is the folder or the URL
  of a store, `variables` have to be named, and the records have no times but those given (a store without any is constant)
- `times`: the times of the records, ascending, as `DateTime`s or as numbers. If the files have a time axis they are
  entries of it, as seconds since 1970 or as the axis' own numbers; otherwise one per record, in any unit. If not given,
  all entries of the time axis, by the CF conventions, as seconds since 1970 in the files' calendar
- `time_dim`: the name of the time dimension; found by the CF conventions if not given
- `records_per_sample`: 1 for the record in force at a time, without its time dimension; 2 for a bracket, that record and
  the one of the next refresh time, see below
- `variables`: the names of the variables to decode; all if not given
- `select`: a [`DimWindow`](@ref), or a selection in the wire form
- `group`: the path of a group in the files instead of the root
- `eltype`: `Float64` or `Float32`, the type of data variables that are floating-point numbers, packed ones included.
  `Float32` takes half the memory: values are computed in double precision and rounded once (to infinity beyond its
  range). Coordinates, variables with CF time units, and unpacked integers of more than 16 bits with a fill value stay
  `Float64`; integers without a fill value stay integers
- `threads`: native threads that share the chunks of a large sample. The workers of a [`PrefetchGroup`](@ref) decode
  in parallel already, so 1 is right there
- `cache`: the [`Cache`](@ref) that URLs are fetched into
- `auth_realm`: the realm whose credential the servers want
- `name`: the name of the source, by which [`Forcings.clear!`](@ref) finds its files
- `store_access`: how the objects of a Zarr store are had: `"cached"`, the only way there is

Packed variables are unpacked (`scale_factor`, `add_offset`) and fill values become NaN, as the CF conventions say; not so in
Zarr stores, whose numbers are read as they are stored.

A bracket keeps the time dimension, with extent 2, where a variable has it; the second record may lie in the next file. The
coordinate of that dimension holds the two times: seconds since 1970 in the calendar of the data, as its attributes
`units` and `calendar` say, or explicit `times` as they are where the files do not tell what they count. At the last
refresh time there is no next one: both records, and both times, are the last. A next record that cannot be read is an
error.

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
    # What it has series of, and the store, which is open as long as it is in use.
    series::String
    store::Union{Store, Nothing}
    Provider(handle::UInt64, files, series = "", store = nothing) = manage(new(handle, files, series, store))
end

function Provider(
    source::Union{AbstractString, AbstractVector{<:AbstractString}, Function};
    format = "netcdf",
    times = nothing,
    time_dim = nothing,
    variables = nothing,
    select = nothing,
    group = nothing,
    records_per_sample = 1,
    eltype = Float64,
    threads = 1,
    cache = nothing,
    auth_realm = nothing,
    name = nothing,
    store_access = nothing,
    unknown...,
)
    isempty(unknown) || throw(unknown_options(keys(unknown)))
    variables isa Union{AbstractVector, Tuple, Nothing} ||
        throw(invalid("variables are a vector of names, not $(repr(variables))"))
    times isa Union{AbstractVector, Nothing} || throw(invalid("times are a vector of times, not $(repr(times))"))
    cache isa Union{Cache, Nothing} || throw(invalid("the cache must be a Cache, not $(repr(cache))"))
    eltype in (Float64, Float32) || throw(invalid("eltype must be Float64 or Float32, not $(repr(eltype))"))
    files = source_files(source, times)
    options = json((
        files = files,
        format = format,
        times = times === nothing ? nothing : map(time_number, times),
        time_dim = time_dim,
        variables = variables === nothing ? String[] : variables,
        select = select === nothing ? nothing : window_object(select),
        group = group,
        records_per_sample = count_option("records_per_sample", records_per_sample),
        eltype = eltype === Float64 ? "float64" : "float32",
        threads = count_option("threads", threads),
        cache = cache === nothing ? nothing : cache.handle,
        auth_realm = auth_realm,
        name = name,
        store_access = store_access,
    ))
    handle = Ref{UInt64}(0)
    GC.@preserve options cache background(job -> forcings_provider_open(options, sizeof(options), handle, job))
    return Provider(handle[], files)
end

"""
    Provider(reader::StaticReader)
    Provider(reader::ForecastReader)

The series of a reader as data at a time, so that one [`PrefetchGroup`](@ref) takes them beside files. The refresh times
are the instants of the reader's timeline as seconds since 1970 (faces of wall clocks as they stand); of a
[`ForecastReader`](@ref), the starts of its windows. As for files, the data of the last time at or before `t` are in force,
also behind the last.

A sample has the variable `values`, whose last dimension is `column`: one for each series, in the reader's order. Before it
are the dimensions of an element, `element1` the last of them. For forecasts there are also `step`, next to the elements,
and `percentile` or `scenario` next to `column`; a forecast that shares its values with others has a column of its own.

- `data["id"]`, `data["owner_id"]`, `data["owner"]`, `data["name"]`: the coordinates of the columns
- `data["step"]`: the seconds since the start of the window; `data["percentile"]`, if all forecasts have the same
- `Forcings.attributes(data["values"])`: what all series have in common, of `series_type`, `resolution`, `units`, and each
  feature as `feature_KEY`

`Forcings.fileorder(data["values"])` has the dimensions of [`values(reader, group)`](@ref values(::Forcings.Reader, ::Integer)).
If the reader has several groups ([`Forcings.groups`](@ref)), or forecasts several types or sizes of windows, there is a
variable for each, and every name says which, as in `values_float64_2x3` and `column_float64_2x3`: the type, and the sizes
in the library's order.

It uses none of the reader's buffers and may be sampled from any number of tasks; the reader may be read on, or closed. A
series that is removed from the store, and a closed store, are the errors of [`readstep!`](@ref). So is a step function
that has no value yet. `with_window` takes windows by position; all columns are read, since a chunk has many of them.

Throws `Forcings.NotFoundError` for a reader over nothing, `Forcings.ClosedError`.

```julia
store = memory_store()
add!(store, [(Owner(bus, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))) for bus in 1:3])
loads = Provider(StaticReader(store; name = "load", resolution = Hour(1)))
data = sample_at(loads, DateTime(2030, 1, 1, 12))
Dict(zip(data["owner_id"], data["values"]))
```
"""
function Provider(reader::Reader)
    handle = Ref{UInt64}(0)
    background(job -> forcings_provider_from_reader(reader, handle, job))
    return Provider(handle[], String[], string(reader.type, ": ", contents_of(reader)), reader.store)
end

const PROVIDER_OPTIONS = "format, times, time_dim, records_per_sample, variables, select, group, eltype, threads, cache, " *
    "auth_realm, name, store_access"

unknown_options(names) = invalid("a Provider has no option $(join(names, ", ")); its options are $PROVIDER_OPTIONS")

function count_option(name, n)
    n isa Integer && !(n isa Bool) && n >= 1 && return Int(n)
    throw(invalid("$name must be a whole number from 1 on, not $(repr(n))"))
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
    refresh(provider, t; select = nothing) -> Forcings.Dataset

As [`sample_at`](@ref), and the provider keeps what it decoded, so that a repeated call within one refresh interval
decodes nothing. After an error it still has what it kept before.

With `select`, a [`DimWindow`](@ref), this call reads under that instead of the provider's own selection; nothing of it is
kept.
"""
function refresh(p::Provider, t; select = nothing)
    select === nothing && return sample(forcings_provider_refresh, p, time_number(t))
    return peek(p, time_number(t), select)
end

"""
    materialize(provider; select = nothing) -> Forcings.Dataset

The data of a provider over files whose data do not change with time ([`refresh_times`](@ref) is empty). `select` is that of
[`refresh`](@ref).

Throws `Forcings.InvalidParameterError` for one whose data do.
"""
function materialize(p::Provider; select = nothing)
    # Data that change are refused, whatever is selected.
    (select === nothing || !describe(p).is_const) && return sample(forcings_provider_materialize, p)
    return peek(p, 0.0, select)
end

function peek(p::Provider, t, select)
    text = json(window_object(select))
    return GC.@preserve text sample(forcings_provider_peek, p, t, text, sizeof(text))
end

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
nothing; offline, checks that they are there. For brackets that includes the file of the next time behind them. Returns
their number; local files count as none. Of a Zarr store it fetches the chunks that the samples need, counted anew for each
of them; of one that never changes, whatever the times.

Throws `Forcings.CacheMissError`, `Forcings.TransportError`, `Forcings.NotFoundError`, `Forcings.IntegrityError`.
"""
function prefetch(p::Provider, from, to)
    files = Ref{UInt64}(0)
    start, stop = time_number(from), time_number(to)
    background(job -> forcings_provider_prefetch(p, start, stop, files, job))
    return Int(files[])
end
prefetch(p::Provider, window::Tuple{Any, Any}) = prefetch(p, window...)
