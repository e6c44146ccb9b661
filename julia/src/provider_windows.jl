# Providers and windows: binding one, sampling several at once, finding one by coordinate values.

"""
    with_window(provider, window) -> Provider

A provider of the same files that reads only `window`, a [`DimWindow`](@ref) or its wire form; the files are read no more
than that needs. The original is unchanged.

Throws `Forcings.SelectionError`, before anything is read, when the provider has a window already, `window` does not name
its dimensions (the positional form, or everything), or it names the time dimension. A dimension that no variable has, and
an index beyond the file, are the same error at the first sample, before any value is read.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
part = with_window(Provider(file), DimWindow("lat" => (1, 3), "lon" => [5, 0]))
sample_at(part, refresh_times(part)[1])["uwnd"]     # 2 × 2
```
"""
function with_window(p::Provider, window)
    text, handle = json(window_object(window)), Ref{UInt64}(0)
    check(forcings_provider_with_window(p, text, sizeof(text), handle))
    return Provider(handle[], p.files, p.series, p.store)
end

"""
    sample_windows_at(provider, t, windows) -> Vector{Forcings.Dataset}

The samples that `sample_at(with_window(provider, w), t)` gives for each of the `windows`, bit for bit. What the windows
have in common is read and decoded once. The samples share their memory: it is given back when none of them is used any
more. No windows give no samples, and nothing is read.

Throws what the first window at fault would raise alone; then no sample is given.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
halves = [DimWindow("lon" => (0, 4)), DimWindow("lon" => (2, 6))]
west, east = sample_windows_at(Provider(file), DateTime(2001), halves)
```
"""
function sample_windows_at(p::Provider, t, windows::Union{AbstractVector, Tuple})
    isempty(windows) && return Dataset[]
    text, time, pointer = json([window_object(w) for w in windows]), time_number(t), Ref{Ptr{Cvoid}}(C_NULL)
    background(job -> forcings_provider_sample_windows_at(p, time, text, sizeof(text), pointer, job))
    owner = Owned(pointer[], forcings_sample_release)
    return [Dataset(owner, i - 1) for i in 1:length(windows)]
end

function sample_windows_at(::Provider, t, windows)
    throw(invalid("windows are a vector of windows, not $(repr(windows))"))
end

"""
    CoordWindow(provider, "coordinate" => (lower, upper), ...) -> DimWindow

The window of the cells whose coordinates lie in these intervals, both ends included, in the order of the file: the axis
may ascend or descend.

A longitude (its `units` are `degrees_east`, or its `standard_name` is `longitude`) goes east from the first bound to the
second, whatever turn the file or the bounds count in: `(350.0, 10.0)` and `(-10.0, 10.0)` are the same cells, whether the
axis runs from 0 to 360 or from -180 to 180. Where they lie on both sides of the seam, the window is a list of indices
across it. An interval of 360 or more is the whole axis. A meridian that an axis has twice, as 0 and 360, is taken once:
the copy at the end only where the window does not go on behind it. An axis that does not go round the globe has no seam,
and an interval that would take both of its ends but not the middle is an error.

A bound that equals a cell but for the rounding of the file, as with single precision, includes it.

The axes are those of the file of the first refresh time, which this reads, and fetches if it is behind a URL. The result
is a plain [`DimWindow`](@ref), by index: use it for this provider and others of the same grid.

Throws `Forcings.SelectionError` when the provider has a window already, there is no such coordinate, it is a time axis,
holds no numbers or does not ascend or descend throughout, a bound is NaN, or no cell lies in an interval.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
p = Provider(file)
CoordWindow(p, "lat" => (5.0, 25.0), "lev" => (500.0, 900.0))    # DimWindow("lat" => (1, 3), "lev" => (1, 3))
```
"""
function CoordWindow(p::Provider, intervals::Pair...)
    names = [String(name) for (name, _) in intervals]
    allunique(names) || throw(invalid("a window names each coordinate once, not $(join(repr.(names), ", "))"))
    bounds = Float64[bound for (name, interval) in intervals for bound in closed(name, interval)]
    text, table = json(names), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve bounds background() do job
        forcings_provider_coord_window(p, text, sizeof(text), bounds, length(bounds), table, job)
    end
    return with_tables(window_of, table)
end

CoordWindow(p::Provider, intervals::AbstractDict) = CoordWindow(p, collect(intervals)...)

closed(_, interval::Tuple{Real, Real}) = interval
function closed(name, interval)
    throw(invalid("the interval of \"$name\" is (lower, upper), two numbers, not $(repr(interval))"))
end

function window_of(t)
    selector(i) = t[:start][i] === missing ? t[:indices][i] : (t[:start][i], t[:stop][i])
    return DimWindow((t[:dim][i] => selector(i) for i in eachindex(t[:dim]))...)
end

"""
    Forcings.supports_selection(provider) -> Bool

Whether [`with_window`](@ref) works for this provider.
"""
supports_selection(p::Provider) = describe(p).supports_selection
