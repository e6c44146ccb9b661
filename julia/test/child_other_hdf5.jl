# Uses another HDF5 and netCDF-C in turn with Forcings. Arguments: which of the two is loaded first ("other" or "ours"),
# and whether both offer their symbols to everything that is loaded later ("global") or not ("local").

const FIRST, SCOPE = ARGS

using Dates, Libdl, Test
FIRST == "ours" && using Forcings

const FLAGS = Libdl.RTLD_LAZY | (SCOPE == "global" ? Libdl.RTLD_GLOBAL : Libdl.RTLD_LOCAL)
# Ours is opened by the package; opening it once more only widens its scope.
open_ours() = Libdl.dlopen(Forcings.find_library(), FLAGS | Libdl.RTLD_NOLOAD)
FIRST == "ours" && open_ours()
const HDF5 = Libdl.dlopen(ENV["FORCINGS_OTHER_HDF5"], FLAGS)
const NETCDF = Libdl.dlopen(ENV["FORCINGS_OTHER_NETCDF"], FLAGS)
using Forcings
const OURS = open_ours()

const CREATE_NETCDF4, WRITE, DOUBLE, CHUNKED, GLOBAL = 0x1000, 0x0001, 6, 0, -1
const HDF5_FILES, HDF5_ALL = 0x0001, 0x001f
const RECORDS, WIDTH = 4, 3

netcdf(name) = Libdl.dlsym(NETCDF, name)
ok(status) = status == 0 || error("netCDF-C answers $status")

# How many files the other HDF5 has open, all told.
other_files() = ccall(Libdl.dlsym(HDF5, :H5Fget_obj_count), Cssize_t, (Int64, Cuint), HDF5_ALL, HDF5_FILES)

struct OtherFile
    id::Cint
    variable::Cint
end

function other_create(path)
    file, time, x, variable = Ref{Cint}(), Ref{Cint}(), Ref{Cint}(), Ref{Cint}()
    ok(ccall(netcdf(:nc_create), Cint, (Cstring, Cint, Ref{Cint}), path, CREATE_NETCDF4, file))
    dimension(name, n, id) = ccall(netcdf(:nc_def_dim), Cint, (Cint, Cstring, Csize_t, Ref{Cint}), file[], name, n, id)
    ok(dimension("time", RECORDS, time))
    ok(dimension("x", WIDTH, x))
    ok(ccall(
        netcdf(:nc_def_var),
        Cint,
        (Cint, Cstring, Cint, Cint, Ptr{Cint}, Ref{Cint}),
        file[],
        "v",
        DOUBLE,
        2,
        [time[], x[]],
        variable,
    ))
    ok(ccall(
        netcdf(:nc_def_var_chunking),
        Cint,
        (Cint, Cint, Cint, Ptr{Csize_t}),
        file[],
        variable[],
        CHUNKED,
        Csize_t[1, WIDTH],
    ))
    ok(ccall(netcdf(:nc_def_var_deflate), Cint, (Cint, Cint, Cint, Cint, Cint), file[], variable[], 1, 1, 3))
    ok(ccall(netcdf(:nc_enddef), Cint, (Cint,), file[]))
    return OtherFile(file[], variable[])
end

try_open(path, mode, file) = ccall(netcdf(:nc_open), Cint, (Cstring, Cint, Ref{Cint}), path, mode, file)

function other_open(path, variable; group = "/", mode = 0)
    file, inner, found = Ref{Cint}(), Ref{Cint}(), Ref{Cint}()
    ok(try_open(path, mode, file))
    ok(ccall(netcdf(:nc_inq_grp_full_ncid), Cint, (Cint, Cstring, Ref{Cint}), file[], group, inner))
    ok(ccall(netcdf(:nc_inq_varid), Cint, (Cint, Cstring, Ref{Cint}), inner[], variable, found))
    return OtherFile(inner[], found[])
end

other_close(f) = ok(ccall(netcdf(:nc_close), Cint, (Cint,), f.id & ~Cint(0xffff)))

function other_put(f, k, values)
    ok(ccall(
        netcdf(:nc_put_vara_double),
        Cint,
        (Cint, Cint, Ptr{Csize_t}, Ptr{Csize_t}, Ptr{Cdouble}),
        f.id,
        f.variable,
        Csize_t[k - 1, 0],
        Csize_t[1, length(values)],
        values,
    ))
end

function other_get(f, k, n = WIDTH)
    values = fill(NaN, n)
    ok(ccall(
        netcdf(:nc_get_vara_double),
        Cint,
        (Cint, Cint, Ptr{Csize_t}, Ptr{Csize_t}, Ptr{Cdouble}),
        f.id,
        f.variable,
        Csize_t[k - 1, 0],
        Csize_t[1, n],
        values,
    ))
    return values
end

function other_note(f, text)
    ok(ccall(
        netcdf(:nc_put_att_text),
        Cint,
        (Cint, Cint, Cstring, Csize_t, Cstring),
        f.id & ~Cint(0xffff),
        GLOBAL,
        "note",
        sizeof(text),
        text,
    ))
end

record(k) = [10.0k, 10.0k + 1, 10.0k + 2]
load(bus) = [100.0bus + step for step in 1:24]
item(bus) = (Owner(bus, "Bus"), SingleTimeSeries("load", DateTime(2030), Hour(1), load(bus)))

folder = mktempdir()
first_file, second_file, store_file = joinpath.(folder, ("first.nc", "second.nc", "store.nc"))

@testset "both are loaded, and ours shows nothing of what it holds" begin
    loaded = realpath.(filter(isfile, Libdl.dllist()))
    for path in (ENV["FORCINGS_OTHER_HDF5"], ENV["FORCINGS_OTHER_NETCDF"], Forcings.find_library())
        @test realpath(path) in loaded
    end
    @test Libdl.dlsym(OURS, :forcings_abi_version; throw_error = false) !== nothing
    for name in (:H5open, :H5Fopen, :H5Dwrite_chunk, :H5_libinit_g, :nc_open, :sqlite3_open_v2, :inflate)
        @test Libdl.dlsym(OURS, name; throw_error = false) === nothing
    end
    @test Libdl.dlsym(HDF5, :H5Fopen; throw_error = false) !== nothing
    major, minor, patch = Ref{Cuint}(0), Ref{Cuint}(), Ref{Cuint}()
    get_version = Libdl.dlsym(HDF5, :H5get_libversion)
    @test ccall(get_version, Cint, (Ref{Cuint}, Ref{Cuint}, Ref{Cuint}), major, minor, patch) == 0
    @test major[] >= 1
end

# The two may be of one version, so that versions cannot tell them apart; each knows only of its own files.
@testset "files of both are open at once" begin
    other = other_create(first_file)
    other_put(other, 1, record(1))
    create_store(store_file) do store
        @test other_files() == 1
        @test add!(store, item.(1:50)) == 1:50
        foreach(k -> other_put(other, k, record(k)), 2:RECORDS)
        flush(store)
        @test other_get(other, 2) == record(2)
        other_close(other)
        @test other_files() == 0
        @test read_series(store, 50).values == load(50)
    end
end

@testset "turn by turn" begin
    store = open_store(store_file)
    reader = StaticReader(store; name = "load", resolution = Hour(1))
    source = other_open(first_file, "v")
    copy = other_create(second_file)
    PrefetchGroup(Dict("first" => Provider(first_file; times = 1:RECORDS, time_dim = "time")); inline = false) do group
        start!(group, :forward)
        for k in 1:RECORDS
            readstep!(reader, k)
            @test other_get(source, k) == record(k)
            @test take!(epoch -> Vector(epoch["first"].data["v"]), group, k) == record(k)
            other_put(copy, k, 2 .* record(k))
            @test values(reader, 1) == [load(bus)[k] for bus in 1:50]
            @test add!(store, item(50 + k)...) == 50 + k
        end
    end
    @test other_files() == 2
    close(store)
    foreach(other_close, (source, copy))
    copied = Provider(second_file; times = 1:RECORDS, time_dim = "time")
    @test [Vector(sample_at(copied, k)["v"]) for k in 1:RECORDS] == 2 .* record.(1:RECORDS)
end

@testset "neither hears of the other's errors" begin
    broken = joinpath(folder, "broken.nc")
    write(broken, "\x89HDF\r\n\x1a\n and no more of it")
    id = Ref{Cint}()
    @test try_open(broken, 0, id) != 0
    @test_throws Forcings.ForcingsError Provider(broken)
    @test try_open(joinpath(folder, "none.nc"), 0, id) == 2
    @test_throws Forcings.NotFoundError open_store(joinpath(folder, "none.nc"))
    @test other_files() == 0
end

@testset "each reads the other's files, and ours outlives the other" begin
    bulk = other_open(store_file, "sts_f64_s_24_PT1H"; group = "/time_series/single", mode = WRITE)
    for step in (1, 24)
        @test other_get(bulk, step, 50) == [load(bus)[step] for bus in 1:50]
    end
    other_note(bulk, "written by the other library")
    other_close(bulk)
    open_store(store_file) do store
        @test ccall(Libdl.dlsym(HDF5, :H5close), Cint, ()) == 0
        @test [s.values for s in read_series(store, collect(1:54))] == load.(1:54)
        remove!(store, 1)
        @test add!(store, item(60)...) == 55
    end
    open_store(store_file; read_only = true) do store
        @test read_series(store, 55).values == load(60)
        @test length(list_series(store)) == 54
    end
end

println("both libraries gave the right values")
