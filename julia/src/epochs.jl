# What a prefetch group delivers: the samples of its members in one epoch.

"""
    Forcings.EpochSample{T}

What [`take!`](@ref take!(::PrefetchGroup, ::Integer)) delivers: `epoch["name"]` is the sample of that member, with the
fields

- `data::T`: its [`Forcings.Dataset`](@ref); with `windows` a vector of them, with `transform` what that made. It is
  read-only, since several epochs may share it
- `anchor`: the refresh time of the member that is in force
- `changed`: whether it differs from the one of the `take!` before

`keys(epoch)` lists the members, `epoch.index` is the number of the epoch and `epoch.time` the time at which it begins.
"""
struct EpochSample{T}
    index::Int
    time::Float64
    keys::Vector{String}
    anchors::Vector{Float64}
    changed::Vector{Bool}
    # Per member, the number of its first dataset.
    first::Vector{UInt64}
    # Per member, what Julia has made for it; empty where it made nothing.
    made::Vector{Any}
    # The datasets of a member; `nothing` where there are no windows, and it has one.
    windows::Union{Int, Nothing}
    owner::SampleOwner
end

"""
    Forcings.Sample{T}

The part of one member in an epoch: `data::T`, `anchor`, `changed`.
"""
struct Sample{T}
    data::T
    anchor::Float64
    changed::Bool
end

function Base.getindex(epoch::EpochSample{T}, key::AbstractString) where {T}
    i = findfirst(==(key), epoch.keys)
    i === nothing && throw(NotFoundError("the group has no member \"$key\"; it has $(join(repr.(epoch.keys), ", "))"))
    return Sample{T}(member_data(epoch, i), epoch.anchors[i], epoch.changed[i])
end

member_data(epoch::EpochSample{Dataset}, i) = Dataset(epoch.owner, Int(epoch.first[i]))
member_data(epoch::EpochSample{Vector{Dataset}}, i) = dataset_list(epoch, i)
function member_data(epoch::EpochSample, i)
    made = epoch.made[i]
    made isa Made && return made.value
    return epoch.windows === nothing ? Dataset(epoch.owner, Int(epoch.first[i])) : dataset_list(epoch, i)
end

dataset_list(epoch, i) = [Dataset(epoch.owner, Int(epoch.first[i]) + w - 1) for w in 1:epoch.windows]

# Tells a value that is `nothing` from none.
struct Made
    value::Any
end

Base.keys(epoch::EpochSample) = epoch.keys
Base.haskey(epoch::EpochSample, key::AbstractString) = key in epoch.keys
Base.length(epoch::EpochSample) = length(epoch.keys)
Base.eltype(::Type{EpochSample{T}}) where {T} = Pair{String, Sample{T}}

function Base.iterate(epoch::EpochSample, i = 1)
    i > length(epoch.keys) && return nothing
    return (epoch.keys[i] => epoch[epoch.keys[i]]), i + 1
end
