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
    # Where epochs may begin. The first boundary of a clipped group need not be a refresh time.
    begins = clip === nothing ? Float64[] : [clip[1]]
    times = sort!(unique!([t + 0.0 for t in vcat(begins, (times_of(key, p) for (key, p) in sorted)...)]))
    list = Member[]
    try
        for (key, provider) in sorted
            native = provider isa Provider
            push!(list, Member(key, provider, native ? provider.handle : host_member(key, provider, times), !native))
        end
    catch
        release_members(list)
        rethrow()
    end
    return list
end

# The library needs the handles of Julia's members no longer.
release_members(list) = foreach(m -> m.by_julia && forcings_handle_release(m.handle), list)

function times_of(key, provider)
    times = Float64[time_number(t) for t in refresh_times(provider)]
    isempty(times) && throw(invalid("the member \"$key\" has no refresh times"))
    if !all(isfinite, times) || any(i -> times[i] >= times[i + 1], 1:(length(times) - 1))
        throw(invalid("the refresh times of the member \"$key\" must be finite and ascend, without repeats"))
    end
    return times
end

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
function host_member(key, provider, at)
    times = times_of(key, provider)
    anchors = Float64[anchor_or_nan(provider, t) for t in at]
    i = findfirst(i -> anchors[i] > at[i], eachindex(at))
    i === nothing || throw(invalid("the anchor of the member \"$key\" at $(at[i]) is later, $(anchors[i])"))
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
