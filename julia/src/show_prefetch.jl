# How groups and what they deliver print.

function Base.show(io::IO, g::PrefetchGroup)
    isopen(g) || return print(io, "PrefetchGroup(closed)")
    print(io, "PrefetchGroup(", join(repr.(g.keys), ", "), "; ", count_of(length(boundaries(g)), "epoch"))
    print(io, ", depth ", g.depth isa Symbol ? repr(g.depth) : g.depth, g.inline ? ", inline)" : ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", g::PrefetchGroup)
    show(io, g)
    isopen(g) || return nothing
    now, counted = snapshot(g), stats(g)
    print(io, "\n  order    ", order_text(now))
    if now.held > 0
        print(io, "\n  ahead    ", count_of(now.held, "epoch"), ", ", now.finished, " of them ready, ")
        print(io, bytes_text(now.bytes), " decoded")
    end
    g.windows === nothing || print(io, "\n  windows  ", g.windows)
    g.host === nothing || print(io, "\n  in Julia ", julia_text(g.host))
    counted.samples_decoded == 0 || print(io, "\n  so far   ", advice(counted))
    return nothing
end

# Where a group stands in its order.
function snapshot(g::PrefetchGroup)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    check(forcings_group_snapshot(g, table))
    return with_tables(table) do t
        state = t[:state][1] == 0 ? :active : GROUP_STATES[t[:state][1]]
        next = t[:next][1] === missing ? nothing : t[:next][1] + 1
        counts = map(name -> t[name][1], (:entries, :taken, :held, :finished, :bytes))
        (; state = state, next = next, zip((:entries, :taken, :held, :finished, :bytes), counts)...)
    end
end

function order_text(now)
    now.state === :active && return "epoch $(now.next) is next, $(now.taken) of $(now.entries) taken"
    now.state === :exhausted && return "all of $(now.entries) taken"
    now.state === :not_started && return "none yet; call start!"
    return "$(now.state); call start! again"
end

function julia_text(h::Host)
    own = [repr(member.key) for member in h.members if member.by_julia]
    parts = isempty(own) ? String[] : [join(own, ", ")]
    h.transform === nothing || push!(parts, "a transform")
    return string(join(parts, " and "), h.spawns ? ", on tasks" : ", inside take!")
end

function Base.show(io::IO, epoch::EpochSample)
    print(io, "EpochSample(", epoch.index, ", ", join(repr.(epoch.keys), ", "))
    print(io, isopen(epoch.owner) || !isempty(epoch.made) ? ")" : "; closed)")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", epoch::EpochSample)
    show(io, epoch)
    for (i, key) in enumerate(epoch.keys)
        print(io, "\n  ", repr(key), ": anchor ", epoch.anchors[i], epoch.changed[i] ? ", changed" : "")
    end
    return nothing
end

function Base.show(io::IO, sample::Sample)
    print(io, "Sample(", sample.data, ", anchor ", sample.anchor, sample.changed ? ", changed)" : ")")
    return nothing
end
