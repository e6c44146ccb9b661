# What a prefetch group delivers: the samples of its members in one epoch.

"""
    Forcings.EpochSample

What [`take!`](@ref take!(::PrefetchGroup, ::Integer)) delivers: `epoch["name"]` is the sample of that member, with the
fields

- `data`: its [`Forcings.Dataset`](@ref), read-only, since several epochs may share it
- `anchor`: the refresh time of the member that is in force
- `changed`: whether it differs from the one of the `take!` before

`keys(epoch)` lists the members, `epoch.index` is the number of the epoch and `epoch.time` the time at which it begins.
"""
struct EpochSample
    index::Int
    time::Float64
    keys::Vector{String}
    anchors::Vector{Float64}
    changed::Vector{Bool}
    owner::SampleOwner
end

"""
    Forcings.Sample

The part of one member in an epoch: `data`, `anchor`, `changed`.
"""
struct Sample
    data::Dataset
    anchor::Float64
    changed::Bool
end

function Base.getindex(epoch::EpochSample, key::AbstractString)
    i = findfirst(==(key), epoch.keys)
    i === nothing && throw(NotFoundError("the group has no member \"$key\"; it has $(join(repr.(epoch.keys), ", "))"))
    return Sample(Dataset(epoch.owner, i - 1), epoch.anchors[i], epoch.changed[i])
end

Base.keys(epoch::EpochSample) = epoch.keys
Base.haskey(epoch::EpochSample, key::AbstractString) = key in epoch.keys
Base.length(epoch::EpochSample) = length(epoch.keys)
Base.eltype(::Type{EpochSample}) = Pair{String, Sample}

function Base.iterate(epoch::EpochSample, i = 1)
    i > length(epoch.keys) && return nothing
    return (epoch.keys[i] => epoch[epoch.keys[i]]), i + 1
end
