# What an integrator needs to have the forcing of each step: a feed of epochs that follows its time.

"""
    Forcings.EpochFeed(f, group, (t0, tf); times = boundaries(group), start = true)

Gives an integrator from `t0` to `tf`, forward or backward, the epochs of a [`PrefetchGroup`](@ref) as it reaches them.
`f(name, data)` is called for each member whose data are others than before, when another epoch comes into force. It
copies what it needs into the buffers that the right-hand side reads: `data`, those of the sample, may not be used after
`f` returns.

- `times`: the begins of the epochs as the integrator counts its time, ascending
- `start`: declare the order with [`start!`](@ref). With `false` the next entries of an order that was declared already
  are taken: they have to be the epochs of this span, in its direction

For DifferentialEquations, and other integrators with callbacks of that form:

- `feed.condition`, `feed.affect!`, `feed.initialize`: the functions of a `DiscreteCallback`. All three are needed; of
  the integrator they use `integrator.t`
- `feed.tstops`: the boundaries within the span, at which steps have to end. `boundaries(group)` does as well

For a time stepper of your own, call `feed(t)` with the time before the first step and after each one. It returns
whether another epoch came into force.

`feed.epoch` is the epoch in force, 0 before the first call: the next step lies in it from its begin to its end. Times
are compared exactly, since a step that ends beside a boundary has a part that lies in another epoch. At `tf`, where no
step begins, nothing is taken.

Throws `Forcings.OffGridError` for a span that goes before the first epoch, a step that went over a boundary, and an
integrator that turned back; `Forcings.InvalidParameterError` for times that do not fit the group; and what
[`take!`](@ref take!(::PrefetchGroup, ::Integer)) throws.

```julia
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
wind, x, t, dt = zeros(6, 4), zeros(6, 4), 0.0, 1800.0
PrefetchGroup(Dict("winds" => Provider(file))) do group
    times = boundaries(group) .- boundaries(group)[1]      # seconds since the first epoch began
    feed = Forcings.EpochFeed((name, data) -> copyto!(wind, data["uwnd"]), group, (0.0, 86_400.0); times = times)
    feed(t)
    for step in 1:48
        x .+= dt .* (wind .- 1.0e-5 .* x)
        feed(step * dt)
    end
    feed.epoch, feed.tstops
end
```
"""
mutable struct EpochFeed{F, G <: PrefetchGroup, T <: Real}
    update::F
    group::G
    times::Vector{T}
    span::Tuple{T, T}
    # The epochs of the span, in the order in which they come into force, and how many of them did.
    order::StepRange{Int, Int}
    taken::Int
    tstops::Vector{T}
    start::Bool
end

function EpochFeed(f, group::PrefetchGroup, span; times = boundaries(group), start::Bool = true)
    t0, tf = ends_of(span)
    T = typeof(t0)
    begins = T[t for t in times]
    count = length(boundaries(group))
    length(begins) == count || throw(invalid("the group has $count epochs, but there are $(length(begins)) times"))
    all(i -> begins[i] < begins[i + 1], 1:(count - 1)) ||
        throw(invalid("the times of the epochs must ascend, as $T too"))
    min(t0, tf) >= begins[1] ||
        throw(OffGridError("the span from $t0 to $tf goes before the first epoch, which begins at $(begins[1])"))
    # An epoch has its begin, but not its end, for a step that goes forward from there; the other way round backward.
    if t0 <= tf
        first_epoch = searchsortedlast(begins, t0)
        order = first_epoch:1:max(first_epoch, searchsortedfirst(begins, tf) - 1)
        tstops = begins[(first_epoch + 1):last(order)]
    else
        order = (searchsortedfirst(begins, t0) - 1):-1:searchsortedlast(begins, tf)
        tstops = begins[first(order):-1:(last(order) + 1)]
    end
    return EpochFeed{typeof(f), typeof(group), T}(f, group, begins, (t0, tf), order, 0, tstops, start)
end

ends_of(span::Tuple{Real, Real}) = ends_of(promote(map(float, span)...)...)
ends_of(span) = throw(invalid("a span is (t0, tf), two numbers, not $(repr(span))"))
function ends_of(t0::Real, tf::Real)
    isnan(t0) || isnan(tf) ? throw(invalid("a span has no NaN, as ($t0, $tf) has")) : (t0, tf)
end

Base.propertynames(::EpochFeed) = (:condition, :affect!, :initialize, :tstops, :epoch)

function Base.getproperty(feed::EpochFeed, name::Symbol)
    name === :condition && return (u, t, integrator) -> is_due(feed, t)
    name === :affect! && return integrator -> (feed(integrator.t); nothing)
    name === :initialize && return (callback, u, t, integrator) -> begin!(feed, t)
    name === :epoch && return feed.taken == 0 ? 0 : feed.order[feed.taken]
    return getfield(feed, name)
end

function (feed::EpochFeed)(t)
    feed.taken == 0 && return (begin!(feed, t); true)
    is_due(feed, t) || return false
    take_next!(feed)
    return true
end

function begin!(feed, t)
    feed.taken = 0
    t == feed.span[1] || throw(OffGridError("the integrator begins at $t, but its feed at $(feed.span[1])"))
    feed.start && start!(feed.group, feed.order)
    take_next!(feed)
    return nothing
end

# The first epoch fills all buffers, whatever somebody else took of the same order before.
function take_next!(feed)
    is_first = feed.taken == 0
    take!(feed.group, feed.order[feed.taken + 1]) do epoch
        for (name, sample) in epoch
            (is_first || sample.changed) && feed.update(name, sample.data)
        end
    end
    feed.taken += 1
    return nothing
end

# Whether a step that ended at `t` leaves the epoch in force, and another one follows.
function is_due(feed, t)
    feed.taken == 0 && throw(invalid("the feed has no epoch in force: give the callback initialize = feed.initialize"))
    k, times, forward = feed.epoch, feed.times, step(feed.order) > 0
    ahead, behind = forward ? (k + 1, k) : (k, k + 1)
    passed(t, i) = i <= length(times) && (forward ? t > times[i] : t < times[i])
    passed(t, ahead) &&
        throw(OffGridError(
            "a step in epoch $k went over its boundary $(times[ahead]), to $t; steps have to end exactly there: give " *
                "the integrator tstops = feed.tstops",
        ))
    behind <= length(times) &&
        t != times[behind] &&
        !passed(t, behind) &&
        throw(OffGridError("the integrator is at $t, which it passed before epoch $k came into force; begin again"))
    return ahead <= length(times) && t == times[ahead] && feed.taken < length(feed.order)
end

function Base.show(io::IO, feed::EpochFeed)
    print(io, "EpochFeed(epochs ", first(feed.order), " to ", last(feed.order))
    print(io, feed.taken == 0 ? ")" : "; epoch $(feed.epoch) is in force)")
    return nothing
end
