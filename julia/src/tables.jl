# Results of many values: the library's tables as vectors, and those as named tuples.

# Calls `f(tables...)` with pointers to tables, which are freed afterwards.
function with_tables(f, tables::Ref{Ptr{Cvoid}}...)
    try
        return f(map(read_table, tables)...)
    finally
        for table in tables
            forcings_table_free(table[])
            table[] = C_NULL
        end
    end
end

# Copies a table: names and columns. A column in which a row has no value has `missing` there.
function read_table(table::Ref{Ptr{Cvoid}})
    rows, columns = Ref{UInt64}(0), Ref{UInt64}(0)
    check(forcings_table_size(table[], rows, columns))
    return Dict(read_column(table[], i - 1, Int(rows[])) for i in 1:Int(columns[]))
end

function read_column(table, column, rows)
    name, name_length = Ref{Ptr{UInt8}}(C_NULL), Ref{UInt64}(0)
    kind, values = Ref{Int32}(0), Ref{Ptr{Cvoid}}(C_NULL)
    ends, nulls = Ref{Ptr{UInt64}}(C_NULL), Ref{Ptr{UInt8}}(C_NULL)
    check(forcings_table_column(table, column, name, name_length, kind, values, ends, nulls))
    data = if kind[] == 0
        copy_from(Ptr{Int64}(values[]), rows)
    elseif kind[] == 1
        copy_from(Ptr{Float64}(values[]), rows)
    elseif kind[] == 2
        copy_from(Ptr{Bool}(values[]), rows)
    elseif kind[] == 3
        spans(text_from, Ptr{UInt8}(values[]), ends[], rows)
    elseif kind[] == 4
        spans(copy_from, Ptr{Int64}(values[]), ends[], rows)
    elseif kind[] == 6
        spans(copy_from, Ptr{Float64}(values[]), ends[], rows)
    else
        [(unsafe_load(Ptr{Ptr{UInt8}}(values[]), i), Int(unsafe_load(ends[], i))) for i in 1:rows]
    end
    key = Symbol(unsafe_string(name[], name_length[]))
    nulls[] == C_NULL && return key => data
    isnull = copy_from(Ptr{Bool}(nulls[]), rows)
    return key => [isnull[i] ? missing : data[i] for i in 1:rows]
end

function copy_from(source::Ptr{T}, n::Integer) where {T}
    target = Vector{T}(undef, n)
    n > 0 && GC.@preserve target unsafe_copyto!(pointer(target), source, n)
    return target
end

text_from(source::Ptr{UInt8}, n::Integer) = n == 0 ? "" : unsafe_string(source, n)

# The rows of a column of varying length: each row ends where `ends` says, in units of the elements.
function spans(f, start::Ptr{T}, ends::Ptr{UInt64}, rows) where {T}
    stop(i) = i == 0 ? 0 : Int(unsafe_load(ends, i))
    return [f(start + stop(i - 1) * sizeof(T), stop(i) - stop(i - 1)) for i in 1:rows]
end

# The values of features, as they are stored and returned.
const FeatureValue = Union{Bool, Int64, Float64, String}

# One dictionary per row from a table with one line per row and key.
function features_of(lines, rows)
    features = [Dict{String, FeatureValue}() for _ in 1:rows]
    for i in eachindex(lines[:row])
        kind = lines[:kind][i]
        value = kind == 0 ?
            lines[:int][i] :
            kind == 1 ? lines[:float][i] : kind == 2 ? lines[:bool][i] : lines[:text][i]
        features[lines[:row][i] + 1][lines[:key][i]] = value
    end
    return features
end
