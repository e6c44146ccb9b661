# What most test files use.

using Dates, Forcings, Test

# Inside a command literal Julia 1.5 takes @__DIR__ for the working directory.
const TESTS = @__DIR__
const DATA = joinpath(TESTS, "data")
const WINDS = joinpath(DATA, "winds.nc")
const COARSE = joinpath(DATA, "coarse.nc")

# The error that `f()` throws, or `nothing`.
function thrown(f)
    try
        f()
        return nothing
    catch e
        return e
    end
end

# `f()` throws an error of this type whose text has all of the parts.
function refuses(f, type, parts...)
    e = thrown(f)
    text = e === nothing ? "" : sprint(showerror, e)
    good = e isa type && all(part -> occursin(part, text), parts)
    good || @info "expected $type with $(repr(parts))" e
    return good
end

# Runs a script of this folder in a process of its own; what it prints, and whether it exited with 0.
function child(script, arguments...; options...)
    output = IOBuffer()
    process = run(pipeline(
        ignorestatus(child_command(script, arguments...; options...));
        stdout = output,
        stderr = output,
    ))
    return String(take!(output)), success(process)
end

function child_command(script, arguments...; threads = Threads.nthreads(), options = ``)
    command = `$(Base.julia_cmd()) $options --startup-file=no --project=$(Base.active_project())`
    command = `$command $(joinpath(TESTS, script)) $(string.(arguments))`
    environment = copy(ENV)
    environment["JULIA_NUM_THREADS"] = string(threads)
    return setenv(command, environment)
end

# Equal bit for bit: names, dimensions, attributes, types and elements, NaN for NaN.
function same(a::Forcings.Dataset, b::Forcings.Dataset)
    keys(a) == keys(b) && isequal(Forcings.attributes(a), Forcings.attributes(b)) || return false
    return all(name -> same(a[name], b[name]) && same_header(a, b, name), keys(a))
end

function same_header(a, b, name)
    return Forcings.dims(a, name) == Forcings.dims(b, name) &&
        isequal(Forcings.attributes(a, name), Forcings.attributes(b, name))
end

function same(@nospecialize(a::AbstractArray), @nospecialize(b::AbstractArray))
    eltype(a) == eltype(b) && size(a) == size(b) || return false
    a isa Array && b isa Array && isbitstype(eltype(a)) || return all(same_bits.(a, b))
    # Their bytes: one comparison for all types.
    bytes = length(a) * sizeof(eltype(a))
    return GC.@preserve a b ccall(:memcmp, Cint, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), pointer(a), pointer(b), bytes) == 0
end
same_bits(x::Float64, y::Float64) = reinterpret(UInt64, x) == reinterpret(UInt64, y)
same_bits(x::Float32, y::Float32) = reinterpret(UInt32, x) == reinterpret(UInt32, y)
same_bits(x, y) = x == y

# Calls `f()` until it is true, for a few seconds at most.
function eventually(f)
    for _ in 1:500
        f() && return true
        sleep(0.01)
    end
    return false
end

# A loop over all steps of a reader, by `readstep!`, by `read!` and by `for`; and what it allocates when it runs again.
function walk(reader, times)
    total = 0.0
    for (step, t) in enumerate(times)
        readstep!(reader, step)
        total += values(reader, 1)[1]
        read!(reader, t)
        total += values(reader)[1][end]
    end
    for (t, row) in reader
        total += row[1][1]
    end
    return total
end

function allocated(reader)
    times = Forcings.timestamps(reader)
    walk(reader, times)
    return @allocated walk(reader, times)
end
