# Providers: gridded files as data at a time.

"""
    Provider(source; format = "netcdf", times, time_dim, variables, select, group)

Gridded files that answer [`sample_at`](@ref) on a known list of times. It may be used from any task and thread.

- `source`: the path of a file, or a vector of paths whose records follow each other in time
- `format`: `"netcdf"` (NetCDF-4 and classic files)
- `times`: the times of the records, ascending, as `DateTime`s or as numbers. If the files have a time axis they are
  entries of it, as seconds since 1970 or as the axis' own numbers; otherwise one per record, in any unit. If not given,
  all entries of the time axis, by the CF conventions, as seconds since 1970 in the files' calendar
- `time_dim`: the name of the time dimension; found by the CF conventions if not given
- `variables`: the names of the variables to decode; all if not given
- `select`: a [`DimWindow`](@ref)
- `group`: the path of a group in the files instead of the root

Packed variables are unpacked (`scale_factor`, `add_offset`) and fill values become NaN, as the CF conventions say.

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
    source::Union{AbstractString, AbstractVector{<:AbstractString}};
    format = "netcdf",
    times = nothing,
    time_dim = nothing,
    variables = nothing,
    select = nothing,
    group = nothing,
)
    variables isa Union{AbstractVector, Tuple, Nothing} ||
        throw(invalid("variables are a vector of names, not $(repr(variables))"))
    times isa Union{AbstractVector, Nothing} || throw(invalid("times are a vector of times, not $(repr(times))"))
    files = map(abspath, source isa AbstractString ? [source] : source)
    options = json((
        files = files,
        format = format,
        times = times === nothing ? nothing : map(time_number, times),
        time_dim = time_dim,
        variables = variables === nothing ? String[] : variables,
        select = select === nothing ? nothing : window_object(select),
        group = group,
    ))
    handle = Ref{UInt64}(0)
    GC.@preserve options background(job -> forcings_provider_open(options, sizeof(options), handle, job))
    return Provider(handle[], files)
end

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

"""
    with_window(provider, window::DimWindow) -> Provider

A provider of the same files that reads only `window`; the files are read no more than that needs. The original is
unchanged.

Throws `Forcings.SelectionError` when the provider has a window already, the window names the time dimension, or no
variable has one of its dimensions (this may be found only by the first sample).
"""
function with_window(p::Provider, window)
    text, handle = json(window_object(window)), Ref{UInt64}(0)
    check(forcings_provider_with_window(p, text, sizeof(text), handle))
    return Provider(handle[], p.files)
end

"""
    Forcings.supports_selection(provider) -> Bool

Whether [`with_window`](@ref) works for this provider.
"""
supports_selection(p::Provider) = describe(p).supports_selection

function describe(p::Provider)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_provider_describe(p, table))
    return with_tables(table) do t
        (calendar = t[:calendar][1], is_const = t[:is_const][1], supports_selection = t[:supports_selection][1])
    end
end
