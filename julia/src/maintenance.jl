# Checking, compacting and copying a store.

"""
    Forcings.Finding

One thing that is wrong with a store: `kind`, the ids of the `series` that it is about (the first ten), and a `message`
with the rest. Kinds are `:hash_mismatch` (an array is not the one that was stored), `:unreadable_array`,
`:missing_array` (a series has none), `:unreferenced_array` (it belongs to no series), `:damaged_row`,
`:damaged_catalog`, and `:generations` (the two files are of different times).
"""
struct Finding
    kind::Symbol
    series::Vector{Int64}
    message::String
end

"""
    Forcings.VerifyReport

What [`Forcings.verify`](@ref) looked at and found: the numbers of `arrays` and of `series` that were examined, the
number of `unused_variables` (arrays of removed series that take space in the file and harm nothing), and the `findings`,
a vector of [`Forcings.Finding`](@ref)s that is empty when nothing is wrong.
"""
struct VerifyReport
    arrays::Int
    series::Int
    unused_variables::Int
    findings::Vector{Finding}
end

"""
    Forcings.CompactReport

What [`Forcings.compact!`](@ref) found and did: the number of `free_slots`, places for arrays that are filled before the
file grows, of `features_removed`, which no series has any more, and the `bytes` of the two files afterwards (`missing`
in memory).
"""
struct CompactReport
    free_slots::Int
    features_removed::Int
    bytes::Union{Int, Missing}
end

"""
    Forcings.PhysicalCompactReport

What [`Forcings.compact!`](@ref) with `physical = true` did: the number of `features_removed`, which no series had any
more, and the length of the array file before and after, `bytes_before` and `bytes_after`.
"""
struct PhysicalCompactReport
    features_removed::Int
    bytes_before::Int
    bytes_after::Int
end

"""
    Forcings.verify(store) -> Forcings.VerifyReport

Reads every array and every row, and reports each array that is not what was stored, each series without its array, each
array without a series, rows that cannot be read, and files of different times. Nothing is changed; other calls on the
store wait for its end.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
report = Forcings.verify(store)
isempty(report.findings) || error("restore the backup")
```
"""
function verify(store::Store)
    counts, findings, series = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    background(job -> forcings_store_verify(store, counts, findings, series, job))
    return with_tables(report_from_tables, counts, findings, series)
end

function report_from_tables(counts, found, lines)
    findings = [Finding(Symbol(found[:kind][i]), Int64[], found[:text][i]) for i in eachindex(found[:kind])]
    for i in eachindex(lines[:finding])
        push!(findings[lines[:finding][i] + 1].series, lines[:id][i])
    end
    return VerifyReport(counts[:arrays][1], counts[:series][1], counts[:unused_variables][1], findings)
end

"""
    Forcings.check_consistency(store) -> Vector of named tuples

The grids of the `SingleTimeSeries`, one for each resolution: `resolution, initial, length, series`, the last their
number.

Throws `Forcings.IntegrityError`, naming two series, when series of one resolution differ in their start or length.

```julia
store = memory_store()
add!(store, [(Owner(n, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24))) for n in 1:3])
Forcings.check_consistency(store)[1].length
```
"""
function check_consistency(store::Store)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    background(job -> forcings_store_check(store, table, job))
    return with_tables(table) do grids
        [
            (
                resolution = period_at(grids, :resolution, i),
                initial = from_millis(grids[:initial_ms][i]),
                length = grids[:length][i],
                series = grids[:series][i],
            )
            for i in eachindex(grids[:length])
        ]
    end
end

"""
    Forcings.compact!(store) -> Forcings.CompactReport
    Forcings.compact!(store; physical = true) -> Forcings.PhysicalCompactReport

Deletes what is left of the features of removed series, and counts the places in the array file that are free for new
series; the array file keeps its length, and [`Forcings.persist`](@ref) copies it as it is.

With `physical = true` the array file is written anew with the arrays that series have, and takes the place of the old one.
Ids stay, and readers go on. Meanwhile the disk holds both files; a process that ends in between leaves the store as it
was before, or after. Variables that other software has put into the file are not kept.

Throws `Forcings.InvalidParameterError` inside a transaction, `Forcings.ReadOnlyStoreError`; with `physical = true` also
`Forcings.IntegrityError` or `Forcings.FormatError` when an array cannot be read. The store is as it was then.

```julia
store = memory_store()
id = add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)); features = (year = 1,))
remove!(store, id)
Forcings.compact!(store).features_removed
Forcings.compact!(store; physical = true).bytes_after
```
"""
function compact!(store::Store; physical::Bool = false)
    table = Ref{Ptr{Cvoid}}(C_NULL)
    if physical
        background(job -> forcings_store_compact_physical(store, table, job))
        return with_tables(table) do report
            columns = (:feature_sets_reclaimed, :bytes_before, :bytes_after)
            PhysicalCompactReport(map(column -> report[column][1], columns)...)
        end
    end
    background(job -> forcings_store_compact(store, table, job))
    return with_tables(table) do report
        CompactReport(report[:slots_reclaimed][1], report[:feature_sets_reclaimed][1], bytes_on_disk(store))
    end
end

bytes_on_disk(store) = store.path === nothing ? missing : filesize(store.path) + filesize(store.path * ".sqlite")

"""
    Forcings.persist(store, path; overwrite = false) -> String

Writes the store to another place, as a pair of files of its own, and returns its path. The copy is made beside the
target and moved into place when it is complete; a failure leaves what was there before. This is also how a store in
memory gets to a disk. At its own path a store is only flushed.

Throws `Forcings.StoreExistsError` when there is a store and `overwrite` is `false`, `Forcings.StoreInUseError` when the
one to be replaced is open, `Forcings.InvalidParameterError` inside a transaction or when a file there is no store.

```julia
store = memory_store()
add!(store, Owner(1, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), rand(24)))
path = Forcings.persist(store, joinpath(mktempdir(), "system.nc"))
open_store(list_series, path; read_only = true)
```
"""
function persist(store::Store, path::AbstractString; overwrite::Bool = false)
    full = store_path(path)
    GC.@preserve full background(job -> forcings_store_persist(store, full, sizeof(full), overwrite, job))
    return full
end

# What a store is doing, or `nothing` while another call uses it. Never waits.
function state(store::Store)
    known, series, in_transaction = Ref{UInt8}(0), Ref{UInt64}(0), Ref{UInt8}(0)
    check(forcings_store_state(store, known, series, in_transaction))
    return known[] == 0 ? nothing : (series = Int(series[]), in_transaction = in_transaction[] != 0)
end

Base.show(io::IO, finding::Finding) = print(io, "Finding(", repr(finding.kind), ", ", repr(finding.message), ")")

function Base.show(io::IO, report::VerifyReport)
    print(io, "VerifyReport(", examined(report), ", ", count_of(length(report.findings), "finding"), ")")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", report::VerifyReport)
    print(io, "VerifyReport: ", examined(report), " examined, ")
    print(io, isempty(report.findings) ? "nothing is wrong" : count_of(length(report.findings), "finding"))
    report.unused_variables == 0 ||
        print(io, "\n  ", count_of(report.unused_variables, "array"), " of removed series in the file, harmless")
    for finding in report.findings
        print(io, "\n  ", finding.kind, ": ", finding.message)
    end
    return nothing
end

examined(report) = string(count_of(report.arrays, "array"), ", ", count_of(report.series, "series"))

function Base.show(io::IO, report::CompactReport)
    print(io, "CompactReport(", count_of(report.free_slots, "free slot"), ", ")
    print(io, count_of(report.features_removed, "feature"), " removed)")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", report::CompactReport)
    print(io, "CompactReport")
    print(io, "\n  free slots       ", report.free_slots)
    print(io, "\n  features removed ", report.features_removed)
    report.bytes === missing || print(io, "\n  on disk          ", Base.format_bytes(report.bytes))
    return nothing
end

function Base.show(io::IO, report::PhysicalCompactReport)
    print(io, "PhysicalCompactReport(", Base.format_bytes(report.bytes_before), " to ")
    print(io, Base.format_bytes(report.bytes_after), ", ", count_of(report.features_removed, "feature"), " removed)")
    return nothing
end

function Base.show(io::IO, ::MIME"text/plain", report::PhysicalCompactReport)
    print(io, "PhysicalCompactReport")
    print(io, "\n  features removed ", report.features_removed)
    print(io, "\n  array file       ", Base.format_bytes(report.bytes_after))
    print(io, ", before ", Base.format_bytes(report.bytes_before))
    return nothing
end
