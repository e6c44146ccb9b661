# Binomial checkpointing: the order in which an adjoint that stores few states goes over the epochs.

"""
    Forcings.RevolveStep

One action of a [`Forcings.revolve`](@ref) schedule:

| `action` | what to do | `epochs` | `slot` |
|---|---|---|---|
| `:store` | keep a copy of the state | none | where to keep it |
| `:restore` | make that copy the state | none | where it was kept |
| `:advance` | carry the state over these epochs | one or more, ascending | 0 |
| `:reverse` | carry the adjoint back over this epoch | one | 0 |

`first(epochs)` is always the epoch at whose begin the state stands: before the action, and for `:restore` after it.
Where there are none, `epochs` is empty but has a first.
"""
struct RevolveStep
    action::Symbol
    epochs::UnitRange{Int}
    slot::Int
end

"""
    Forcings.Revolve <: AbstractVector{Forcings.RevolveStep}

What [`Forcings.revolve`](@ref) returns: the actions in their order.
"""
struct Revolve <: AbstractVector{RevolveStep}
    epochs::Int
    snapshots::Int
    steps::Vector{RevolveStep}
end

"""
    Forcings.revolve(n, s) -> Forcings.Revolve

The schedule of a reverse sweep over `n` epochs that keeps at most `s` states (snapshots), the first one included, at
any time. It is a vector of actions, see [`Forcings.RevolveStep`](@ref); it begins with the state at the begin of epoch
1 and reverses the epochs `n, n - 1, …, 1`, each from the state at its own begin and with its own forcing.

No other schedule advances over fewer epochs: with ``b(s, r) = \\binom{s + r}{s}`` and the smallest ``r`` for which
``n ≤ b(s, r)``, it is ``r n - b(s + 1, r - 1)`` of them, and no epoch is advanced over more than ``r`` times. Of those
schedules, it is one that stores the fewest snapshots.

Reversing an epoch evaluates it once more, as far as the adjoint needs what happens within; that is not counted as an
advance. The first reversed epoch is `n`, whose evaluation ends with the final state: there the adjoint gets its value.
The state is of no use after a `:reverse`, so it may be overwritten.

[`Forcings.epochs`](@ref) gives the order for [`start!`](@ref), [`stats`](@ref stats(::Forcings.Revolve)) the counts.

Throws `Forcings.InvalidParameterError` unless `n` and `s` are 1 or more.

```julia
# dx/dt = f[k] - x^2 in epoch k, one explicit step each; the derivative of the last x with respect to the first.
f = [1.0, 0.5, 2.0, 1.5, 0.0, 1.0]
advanced(x, k) = x + 0.1 * (f[k] - x^2)
slope(x) = 1 - 0.2x
function gradient(x, schedule)
    kept, derivative = Dict{Int, Float64}(), 1.0
    for step in schedule
        step.action === :store && (kept[step.slot] = x)
        step.action === :restore && (x = kept[step.slot])
        step.action === :advance && (x = foldl(advanced, step.epochs; init = x))
        step.action === :reverse && (derivative *= slope(x))
    end
    return derivative
end
gradient(0.2, Forcings.revolve(6, 2)) == gradient(0.2, Forcings.revolve(6, 6))
```
"""
function revolve(n::Integer, s::Integer)
    n >= 1 || throw(invalid("a schedule reverses at least 1 epoch, not $n"))
    s >= 1 || throw(invalid("a schedule needs room for at least 1 snapshot, not $s"))
    steps = RevolveStep[]
    # The epochs at whose begin the kept states stand: the slot is the position. Then, where the state stands, and the
    # last epoch that is not reversed yet.
    kept, here, last_left = Int[], 1, Int(n)
    while last_left > 0
        if here < last_left
            if isempty(kept) || last(kept) != here
                push!(kept, here)
                push!(steps, RevolveStep(:store, here:(here - 1), length(kept)))
            end
            stride = advance_length(last_left - here + 1, s - length(kept) + 1)
            push!(steps, RevolveStep(:advance, here:(here + stride - 1), 0))
            here += stride
        else
            push!(steps, RevolveStep(:reverse, here:here, 0))
            last_left -= 1
            while !isempty(kept) && last(kept) > last_left
                pop!(kept)
            end
            if last_left > 0
                here = last(kept)
                push!(steps, RevolveStep(:restore, here:(here - 1), length(kept)))
            end
        end
    end
    return Revolve(n, s, steps)
end

# The most epochs that `c` snapshots reverse when no epoch is advanced over more than `r` times. One snapshot takes the
# first `m` epochs with one repetition less, and the others the rest: b(c, r) = b(c, r - 1) + b(c - 1, r).
reach(c, r) = c < 0 || r < 0 ? 0 : binomial(c + r, r)

# Up to here, from b(c, r - 1) on, further epochs need no further snapshots to be stored. It obeys the same recursion.
plateau(c, r) = reach(c, r) - reach(c - 2, r)

# How far to advance from a kept state before the next one is stored, `l` epochs being left from here on, and `c`
# snapshots, that one included. The advances are a minimum if both parts lie between the same repetitions as the whole:
# b(c, r - 2) <= m <= b(c, r - 1) and b(c - 1, r - 1) <= l - m <= b(c - 1, r). Within that, both parts stay on their
# plateaus as long as the whole does, and neither is short of its own when the whole is beyond.
function advance_length(l, c)
    c == 1 && return l - 1
    # More snapshots than epochs are of no use.
    c = min(c, l)
    r = 0
    while reach(c, r) < l
        r += 1
    end
    l <= plateau(c, r) && return max(1, min(plateau(c, r - 1), l - reach(c - 1, r - 1)))
    return min(reach(c, r - 1), l - plateau(c - 1, r))
end

Base.size(schedule::Revolve) = size(schedule.steps)
Base.IndexStyle(::Type{Revolve}) = IndexLinear()
Base.@propagate_inbounds Base.getindex(schedule::Revolve, i::Int) = schedule.steps[i]

"""
    Forcings.epochs(schedule) -> Vector{Int}

The epochs that a [`Forcings.revolve`](@ref) schedule takes from a group, in order, for [`start!`](@ref): one `take!`
for every epoch advanced over and one for every epoch reversed. No epoch follows itself.

```julia
schedule = Forcings.revolve(12, 3)
file = joinpath(pkgdir(Forcings), "test", "data", "winds.nc")
PrefetchGroup(Dict("winds" => Provider(file))) do group
    start!(group, Forcings.epochs(schedule))
    for step in schedule, k in step.epochs
        take!(epoch -> sum(epoch["winds"].data["uwnd"]), group, k)    # forward for :advance, backward for :reverse
    end
end
```
"""
epochs(schedule::Revolve) = Int[k for step in schedule.steps for k in step.epochs]

"""
    stats(schedule::Forcings.Revolve) -> NamedTuple

What a schedule costs: the epochs `advanced` over and `reversed`, and the snapshots `stored` and `restored`.
"""
function stats(schedule::Revolve)
    total(count, action) = sum(Int[count(step) for step in schedule.steps if step.action === action])
    return (
        advanced = total(step -> length(step.epochs), :advance),
        reversed = total(step -> 1, :reverse),
        stored = total(step -> 1, :store),
        restored = total(step -> 1, :restore),
    )
end

function Base.show(io::IO, step::RevolveStep)
    k = first(step.epochs)
    if step.action in (:store, :restore)
        print(io, step.action, " the state at the begin of epoch ", k, " in slot ", step.slot)
    elseif step.action === :advance && length(step.epochs) > 1
        print(io, "advance over the epochs ", k, " to ", last(step.epochs))
    else
        print(io, step.action, step.action === :advance ? " over" : "", " epoch ", k)
    end
    return nothing
end

function Base.show(io::IO, schedule::Revolve)
    print(io, "Revolve(", count_of(schedule.epochs, "epoch"), ", ", count_of(schedule.snapshots, "snapshot"), ")")
    return nothing
end

# What stands above the actions in the REPL.
function Base.summary(io::IO, schedule::Revolve)
    show(io, schedule)
    counts = stats(schedule)
    print(io, " of ", count_of(length(schedule), "action"), ", ", counts.advanced, " epochs advanced over")
    return nothing
end
