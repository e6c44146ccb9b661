# Providers over Zarr stores, which are written here object by object.

include("common.jl")

const T0 = datetime2unix(DateTime(2001))
const HOURS = [DateTime(2001, 1, 1, h) for h in (0, 6, 12)]

put(store, key, bytes) = write(joinpath(mkpath(dirname(joinpath(store, key))), basename(key)), bytes)

# Stored 3 × 4 × 5 (time, lat, lon) in chunks of 1 × 2 × 5, without the last chunk; element (t, j, i) is 100t + 10j + i.
function grid()
    store = joinpath(mktempdir(), "grid.zarr")
    put(
        store,
        "u/.zarray",
        """{"zarr_format": 2, "shape": [3, 4, 5], "chunks": [1, 2, 5], "dtype": "<f4", "order": "C",
                                "compressor": null, "filters": null, "fill_value": -1.0}""",
    )
    put(store, "u/.zattrs", """{"_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "units": "m s-1", "valid": NaN}""")
    for t in 0:2, j in 0:1
        t == 2 && j == 1 && continue
        put(store, "u/$t.$j.0", Float32[100t + 10 * (2j + y) + i for i in 0:4, y in 0:1])
    end
    codecs = """[{"name": "bytes", "configuration": {"endian": "big"}}]"""
    for (name, type, chunk) in (
            ("flag", "bool", UInt8[1, 0, 1, 1, 0]),
            ("count", "uint32", hton.(UInt32[0, 1, 2, 3, typemax(UInt32)])),
            ("code", "int16", hton.(Int16[0, -1, 2, -3, 4])),
        )
        put(
            store,
            "$name/zarr.json",
            """{"zarr_format": 3, "node_type": "array", "shape": [5], "data_type": "$type",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5]}}, "chunk_key_encoding": "default",
            "codecs": $codecs, "fill_value": 0, "dimension_names": ["lon"]}""",
        )
        put(store, "$name/c/0", chunk)
    end
    return store
end

zarr(source; options...) = Provider(source; format = "zarr", options...)

value(t, j, i) = t == 2 && j > 1 ? -1.0 : 100.0t + 10j + i

@testset "values of both versions" begin
    store = grid()
    p = zarr(store; variables = ["u", "flag", "count", "code"])
    @test isempty(refresh_times(p))
    data = materialize(p)
    @test Forcings.variables(data) == ["u", "flag", "count", "code"]
    @test isempty(Forcings.coords(data))
    u = data["u"]
    @test u isa Forcings.Field{Float64, 3}
    @test Forcings.dims(u) == ["lon", "lat", "time"]
    @test u == [value(t, j, i) for i in 0:4, j in 0:3, t in 0:2]
    @test Forcings.attributes(u)["units"] == "m s-1"
    @test isnan(Forcings.attributes(u)["valid"])
    @test data["flag"] isa Forcings.Field{Bool, 1}
    @test data["flag"] == [true, false, true, true, false]
    @test data["count"] isa Forcings.Field{Int64, 1}
    @test data["count"] == [0, 1, 2, 3, 4294967295]
    @test data["code"] isa Forcings.Field{Int32, 1}
    @test data["code"] == [0, -1, 2, -3, 4]
end

@testset "times and windows" begin
    p = zarr(grid(); variables = ["u", "code"], times = HOURS)
    @test refresh_times(p) == T0 .+ 3600.0 .* (0:6:12)
    @test Forcings.supports_selection(p)
    @test sample_at(p, HOURS[2])["u"] == [value(1, j, i) for i in 0:4, j in 0:3]
    w = with_window(p, DimWindow("lat" => (2, 4), "lon" => [4, 0, 0]))
    @test sample_at(w, HOURS[2])["u"] == [value(1, j, i) for i in (4, 0, 0), j in 2:3]
    @test sample_at(w, HOURS[3])["u"] == fill(-1, 3, 2)
    @test sample_at(w, HOURS[1])["code"] == [4, 0, 0]
    @test refuses(() -> with_window(p, DimWindow("time" => :all)), Forcings.SelectionError, "time")
    @test refuses(
        () -> sample_at(with_window(p, DimWindow("lon" => [5])), HOURS[1]),
        Forcings.SelectionError,
        "index 5",
    )
    group = PrefetchGroup(Dict("u" => p))
    start!(group, :reverse)
    for k in 3:-1:1
        @test same(take!(group, k)["u"].data, sample_at(p, HOURS[k]))
    end
    close(group)
end

@testset "through a cache" begin
    store, dir = grid(), mktempdir()
    url = "file://" * store
    online = zarr(url; variables = ["u"], times = HOURS, cache = Cache(dir), name = "grid")
    @test sample_at(online, HOURS[2])["u"][5, 4] == 134
    # Metadata, attributes and two chunks; what is not there is not kept.
    @test only(Forcings.usage(Cache(dir))).files == 4
    offline = zarr(url; variables = ["u"], times = HOURS, cache = Cache(dir; offline = true))
    @test same(sample_at(offline, HOURS[2]), sample_at(online, HOURS[2]))
    cold = zarr(url; variables = ["u"], cache = Cache(mktempdir(); offline = true))
    @test refuses(() -> materialize(cold), Forcings.CacheMissError, "u/zarr.json")
end

@testset "errors" begin
    store = grid()
    @test refuses(() -> zarr(store), Forcings.InvalidParameterError, "cannot be listed")
    @test refuses(() -> zarr(store; variables = ["../u"]), Forcings.InvalidParameterError, "../u")
    @test refuses(() -> zarr(store; variables = ["v"]), Forcings.NotFoundError, "\"v\"")
    @test refuses(() -> zarr(store; variables = ["u"], store_access = "direct"), Forcings.UnsupportedError, "direct")
    @test refuses(() -> Provider(WINDS; store_access = "cached"), Forcings.InvalidParameterError, "zarr")
    put(store, "u/0.0.0", "damaged")
    @test refuses(() -> materialize(zarr(store; variables = ["u"])), Forcings.FormatError, "0.0.0", "7 bytes")
end
