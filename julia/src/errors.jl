# Exception types, one per kind of error of the library, and the mapping from its status numbers.

"""
    Forcings.ForcingsError <: Exception

What this package throws: one type per kind of error, such as [`Forcings.NotFoundError`](@ref). `kind` is the kind as a
symbol, `message` says what is wrong, where, and what to do.
"""
abstract type ForcingsError <: Exception end

const ERROR_TYPES = Dict{Int32, Type}()

for (status, name, meaning) in [
        (1, :InvalidParameter, "An argument breaks a rule."),
        (2, :NotFound, "There is no such series, variable, array or file content."),
        (3, :DuplicateTimeSeries, "A series of this identity is already in the store."),
        (4, :DuplicateAssociation, "The pair is already associated."),
        (5, :OffGrid, "An instant lies outside a grid, or between its steps."),
        (6, :Selection, "A window or another selection does not fit the data."),
        (20, :Format, "A file is not what it should be: another format, truncated or damaged."),
        (21, :Integrity, "Stored state contradicts itself."),
        (22, :IncompatibleFormat, "The store was written in another version of the format."),
        (23, :Unsupported, "The data need a feature that the library lacks."),
        (40, :Io, "The operating system refused."),
        (41, :Catalog, "SQLite refused."),
        (42, :Hdf5, "The HDF5 library refused."),
        (43, :CacheMiss, "The cache is offline and does not hold the resource."),
        (44, :Transport, "A remote source could not be asked, or its answer not be used."),
        (60, :ReadOnlyStore, "The store was opened for reading only."),
        (61, :StoreInUse, "Another process or handle holds the store."),
        (62, :StoreExists, "There is a store already."),
        (63, :Closed, "The object was closed."),
        (99, :Internal, "A bug of the library, caught at its boundary."),
    ]
    type = Symbol(name, :Error)
    documentation = "    Forcings.$type <: Forcings.ForcingsError\n\n$meaning The field `message` has the text."
    @eval begin
        struct $type <: ForcingsError
            kind::Symbol
            message::String
        end
        $type(message::AbstractString) = $type($(QuoteNode(name)), message)
        @doc $documentation $type
        ERROR_TYPES[Int32($status)] = $type
    end
end

"""
    Forcings.GroupError <: Forcings.ForcingsError

A prefetch group refused a call in its present state: `state` is `:not_started`, `:exhausted`, `:cancelled`, `:failed`,
`:wrong_epoch` or `:closed`. For `:wrong_epoch`, `asked` and `expected` are the epochs, counted from 1; for `:failed`,
`expected` is the epoch to start from to go on. They are `nothing` otherwise.
"""
struct GroupError <: ForcingsError
    kind::Symbol
    message::String
    state::Symbol
    asked::Union{Int, Nothing}
    expected::Union{Int, Nothing}
end

const GROUP_STATES = (:not_started, :exhausted, :cancelled, :failed, :wrong_epoch, :closed)

function GroupError(state::Symbol; asked = nothing, expected = nothing)
    text = if state === :not_started
        "no order was started; call start! first"
    elseif state === :exhausted
        "every entry of the order was taken; call start! again"
    elseif state === :cancelled
        "the order was cancelled; call start! again"
    elseif state === :failed && expected === nothing
        "the order ended with an error at its last entry; call start! again"
    elseif state === :failed
        "the order ended with an error; call start! again, with from = $expected to go on behind it"
    elseif state === :wrong_epoch
        "epoch $asked was asked for, but epoch $expected comes next in the order"
    else
        "this prefetch group is closed"
    end
    return GroupError(:Group, text, state, asked, expected)
end

Base.showerror(io::IO, e::ForcingsError) = print(io, nameof(typeof(e)), ": ", e.message)

invalid(text) = InvalidParameterError(text)

# The status of an error that Julia code raised, under the number of a value in `HOST_VALUES`.
const HOST_STATUS = 65

# Throws the error of a failed call. There must be no yield between the call and this: the text is kept per thread.
check(status::Int32) = status == 0 ? nothing : throw(last_error(status))

@noinline function last_error(status::Int32)
    text, length, state = Ref{Ptr{UInt8}}(C_NULL), Ref{UInt64}(0), Ref{Int64}(0)
    numbers = Int64[-1, -1]
    kept = forcings_last_error(text, length, state, numbers)
    kept == status || return InternalError("a call failed with status $status, but the last error has status $kept")
    status == HOST_STATUS && return host_error(UInt64(numbers[1]))
    if state[] > 0
        epoch(n) = n < 0 ? nothing : Int(n) + 1
        name = GROUP_STATES[state[]]
        name === :failed && return GroupError(name; expected = epoch(numbers[1]))
        return GroupError(name; asked = epoch(numbers[1]), expected = epoch(numbers[2]))
    end
    message = unsafe_string(text[], length[])
    type = get(ERROR_TYPES, status, nothing)
    return type === nothing ? InternalError("status $status: $message") : type(message)
end
