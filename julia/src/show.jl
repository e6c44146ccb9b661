# How objects print: one line in `show(io, x)`, more for the REPL.

kind_of(x) = nameof(typeof(x))

function Base.show(io::IO, store::Store)
    isopen(store) || return print(io, "Store(closed)")
    print(io, "Store(", store.path === nothing ? "in memory" : repr(store.path), store.read_only ? ", read only)" : ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", store::Store)
    show(io, store)
    isopen(store) || return nothing
    now = state(store)
    print(io, "\n  ", now === nothing ? "in use by another call" : count_of(now.series, "series"))
    now !== nothing && now.in_transaction && print(io, ", a transaction is open")
    return nothing
end

function Base.show(io::IO, p::Provider)
    isopen(p) || return print(io, "Provider(closed)")
    print(io, "Provider(", files_of(p), ", ", count_of(length(refresh_times(p)), "time"), ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", p::Provider)
    show(io, p)
    isopen(p) || return nothing
    times, about = refresh_times(p), describe(p)
    isempty(times) && return nothing
    if about.calendar === missing
        print(io, "\n  from ", first(times), " to ", last(times))
    elseif about.calendar == "standard" && maximum(abs, times) < LATEST
        print(io, "\n  from ", unix2datetime(first(times)), " to ", unix2datetime(last(times)))
    else
        print(io, "\n  from ", first(times), " to ", last(times), " seconds since 1970, calendar ", about.calendar)
    end
    return nothing
end

# Seconds since 1970 up to which times are shown as dates; beyond them are years of more than four digits.
const LATEST = 2.5e11

function files_of(p)
    return length(p.files) == 1 ? repr(basename(p.files[1])) : count_of(length(p.files), "file")
end

function Base.show(io::IO, o::Owner)
    print(io, "Owner(", o.id, ", ", repr(o.type))
    print(io, o.category === :component ? ")" : "; category = $(repr(o.category)))")
    return nothing
end

function Base.show(io::IO, w::DimWindow)
    names = sort!(collect(keys(w.dims)))
    print(io, "DimWindow(", join(("$(repr(name)) => $(as_written(w.dims[name]))" for name in names), ", "), ")")
    return nothing
end

# A selector as it is given to `DimWindow`.
as_written(selector::String) = ":" * selector
as_written(s::NamedTuple) = haskey(s, :slice) ? repr(Tuple(s.slice)) : repr(s.indices)

# A shape as Julia writes it in front of an array type.
size_text(size) = isempty(size) ? "0-dimensional" : length(size) == 1 ? "$(size[1])-element" : join(size, '×')

count_of(n, noun) = string(n, " ", noun, n == 1 || noun == "series" ? "" : "s")
