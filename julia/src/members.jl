# Members of prefetch groups: providers of the library, and any type of a user's that answers like one.

"""
    Forcings.anchor(provider, t) -> Float64

The refresh time whose data are in force at `t`: `t` itself, or the last one before.

A type of your own may be a member of a [`PrefetchGroup`](@ref) like a [`Provider`](@ref). It has methods of

- [`refresh_times`](@ref)`(p)`: the times at which its data change, ascending, in the unit of the other members
- [`sample_at`](@ref)`(p, t)`: its data at `t::Float64`, of any type. They depend on `t` through the anchor only, and are
  not changed later
- [`sample_windows_at`](@ref)`(p, t, windows)`, if it is to be in a group with `windows`: a vector, one for each
- `Forcings.anchor(p, t)`, if it is another time than the last refresh time up to `t`

They are called on Julia tasks beside the native ones: from several threads at once, if Julia has several.

Throws `Forcings.OffGridError` before the first refresh time.

```julia
struct Tide end
Forcings.refresh_times(::Tide) = 0.0:3600.0:86400.0
Forcings.sample_at(::Tide, t) = [cospi(t / 22350 + x) for x in 0:0.1:1]

PrefetchGroup(Dict("tide" => Tide()); depth = 3) do group
    start!(group, :forward)
    take!(epoch -> sum(epoch["tide"].data), group, 1)
end
```
"""
function anchor(p, t)
    times, at = refresh_times(p), time_number(t)
    i = searchsortedlast(times, at; by = time_number)
    i == 0 && throw(OffGridError("there are no data at $t, which is before the first time, $(first(times))"))
    return time_number(times[i])
end

# A member as the library knows it, and the object that Julia samples itself, if it does.
struct Member
    key::String
    provider::Any
    handle::UInt64
    by_julia::Bool
end

function members_of(given, windows, clip)
    sorted = sort!([String(key) => provider for (key, provider) in given]; by = first)
    keys = map(first, sorted)
    allunique(keys) || throw(invalid("two members of the group have the same name: $(join(repr.(keys), ", "))"))
    foreach(((key, provider),) -> check_member(key, provider, windows), sorted)
    all(p -> p isa Provider, map(last, sorted)) && return [Member(k, p, p.handle, false) for (k, p) in sorted]
    times = sort!(unique!([t + 0.0 for (_, p) in sorted for t in numbers(refresh_times(p))]))
    # The first boundary of a clipped group need not be a refresh time.
    clip === nothing || (times = sort!(unique!([times; time_number(clip[1])])))
    return map(sorted) do (key, provider)
        provider isa Provider && return Member(key, provider, provider.handle, false)
        return Member(key, provider, host_member(provider, times), true)
    end
end

numbers(times) = Float64[time_number(t) for t in times]

check_member(key, ::Provider, _) = nothing
function check_member(key, provider, windows)
    if !(applicable(refresh_times, provider) && applicable(sample_at, provider, 0.0))
        text = "the member \"$key\" must be a Provider, or have methods of refresh_times and sample_at"
        throw(invalid("$text (see Forcings.anchor), not $(repr(provider))"))
    end
    if windows !== nothing && !applicable(sample_windows_at, provider, 0.0, windows)
        throw(invalid("the member \"$key\" has no method of sample_windows_at, which a group with windows needs"))
    end
    return nothing
end

# Tells the library the times of a member and its anchors at the times of all members. Why there is none is told when the
# epoch is taken.
function host_member(provider, at)
    times = numbers(refresh_times(provider))
    anchors = Float64[anchor_or_nan(provider, t) for t in at]
    handle = Ref{UInt64}(0)
    check(forcings_host_member(times, length(times), at, anchors, length(at), handle))
    return handle[]
end

function anchor_or_nan(provider, t)
    try
        return time_number(anchor(provider, t))
    catch e
        e isa OffGridError || rethrow()
        return NaN
    end
end
