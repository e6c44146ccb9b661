# Fields and datasets: dimensions by name, lazy views, coordinates, iteration, and loops as fast as an array's.

include("common.jl")
using InteractiveUtils: code_llvm

const T0 = datetime2unix(DateTime(2001))
temp(i, j, k) = 100k + 10j + i

@testset "dimensions by name" begin
    f = sample_at(Provider(WINDS), T0)["temp"]
    whole = Array(f)
    @test Forcings.dims(f) == ["lon", "lat", "lev"]
    @test size(f, "lat") == 4 && axes(f, :lev) == Base.OneTo(3)
    # Indexing copies, as always; a view is lazy.
    @test f["lat" => 3] isa Matrix{Float64}
    @test f["lat" => 3] == whole[:, 3, :]
    @test f["lev" => 1, "lon" => 2:4] == whole[2:4, :, 1]
    @test f["lon" => 6, "lat" => 4, "lev" => 3] === 235.0
    @test f[:lat => [4, 1, 1], "lev" => :] == whole[:, [4, 1, 1], :]
    @test f["lat" => isodd.(1:4)] == whole[:, [1, 3], :]
    v = view(f, "lat" => 3)
    @test v isa SubArray && parent(v) === f
    @test v == view(whole, :, 3, :) && Forcings.dims(v) == ["lon", "lev"]
    @test selectdim(f, "lat", 3) == v && Forcings.dims(selectdim(f, :lat, 2:3)) == ["lon", "lat", "lev"]
    w = view(view(f, "lev" => 3:-1:1), "lon" => [6, 1])
    @test w == whole[[6, 1], :, 3:-1:1] && Forcings.dims(w) == ["lon", "lat", "lev"]
    @test w["lev" => 1, "lon" => 1] == whole[6, :, 3]
    @test size(w, "lon") == 2
    scalar = view(f, "lon" => 1, "lat" => 1, "lev" => 1)
    @test scalar[] == 0.0 && isempty(Forcings.dims(scalar))
    @test refuses(() -> f["time" => 1], Forcings.NotFoundError, "\"temp\"", "\"time\"", "\"lon\", \"lat\", \"lev\"")
    @test refuses(() -> view(v, "lat" => 1), Forcings.NotFoundError, "\"lat\"", "\"lon\", \"lev\"")
    @test refuses(() -> f["lat" => 1, :lat => 2], Forcings.InvalidParameterError, "twice")
    @test_throws BoundsError f["lat" => 5]
    @test_throws BoundsError view(f, "lat" => 0:1)
    @test refuses(() -> Forcings.dims(view(f, 1:5)), Forcings.InvalidParameterError, "no names")
    @test refuses(() -> Forcings.dims(view(f, [1 2; 3 4], 1, 1)), Forcings.InvalidParameterError, "no names")
    @test refuses(() -> Forcings.dims(Array(f)), Forcings.InvalidParameterError, "no names")
    @test refuses(() -> v[1, 1] = 0.0, Forcings.InvalidParameterError, "read-only")
end

@testset "in the file's order" begin
    f = sample_at(Provider(WINDS), T0)["temp"]
    p = Forcings.fileorder(f)
    @test Forcings.dims(p) == ["lev", "lat", "lon"] && size(p) == (3, 4, 6)
    @test p["lat" => 2, "lon" => 3] == [temp(2, 1, k) for k in 0:2]
    @test Forcings.dims(view(p, "lat" => 2)) == ["lev", "lon"]
    q = Forcings.fileorder(view(f, "lat" => 2:3))
    @test Forcings.dims(q) == ["lev", "lat", "lon"] && q == permutedims(Array(f)[:, 2:3, :], (3, 2, 1))
    @test Forcings.coordinate(view(q, "lon" => 2:3), "lat") == [10, 20]
end

@testset "coordinates and attributes of a field" begin
    data = sample_at(Provider(WINDS), T0)
    f, bounds = data["uwnd"], data["lat_bounds"]
    @test Forcings.coords(f) == ["lon", "lat"] && Forcings.coords(bounds) == ["lat"]
    @test Forcings.coordinate(f, "lon") isa Forcings.Field{Float64, 1}
    @test Forcings.coordinate(f, :lon) == 15 .* (0:5)
    v = view(f, "lon" => [6, 1], "lat" => 2)
    @test Forcings.coordinate(v, "lon") == [75, 0] && Forcings.coords(v) == ["lon"]
    @test refuses(() -> Forcings.coordinate(v, "lat"), Forcings.NotFoundError, "\"lat\"", "\"lon\"")
    @test refuses(() -> Forcings.coordinate(bounds, "edge"), Forcings.NotFoundError, "no coordinate")
    @test Forcings.attributes(v)["units"] == "m s-1" == Forcings.attributes(Forcings.fileorder(f))["units"]
end

@testset "a dataset is a collection" begin
    data = sample_at(Provider(WINDS), T0)
    names = ["uwnd", "temp", "gusts", "crest", "lat_bounds", "station", "lev", "lat", "lon"]
    @test keys(data) == names == first.(collect(data)) == first.(collect(pairs(data)))
    @test all(p -> p isa eltype(data), data)
    @test length(data) == length(collect(values(data))) == 9
    @test [size(f) for f in values(data)] == [size(data[name]) for name in names]
    @test Dict(data)["gusts"] == 0:5
    @test haskey(data, "station") && !haskey(data, "time")
    @test get(data, "time", 3) == 3 && get(data, "gusts", 3) == 0:5
    @test Forcings.dims(data, "station") == ["lat"]
    @test count(((name, f),) -> f isa Forcings.Field{Float64}, data) == 7
end

@testset "a field keeps its memory through views and arrays" begin
    pick(f) = f(sample_at(Provider(WINDS), T0)["temp"])
    kept = (
        pick(f -> view(f, "lat" => 2)),
        pick(Forcings.fileorder),
        pick(f -> reshape(f, :)),
        pick(f -> f.array),
        pick(f -> reshape(f.array, 24, 3)),
        pick(f -> view(f.array, :, :, 2)),
    )
    for _ in 1:3
        GC.gc()
        # What was given back would be used again.
        foreach(t -> sample_at(Provider(WINDS), t), T0 .+ 21600 .* (1:11))
    end
    @test kept[1] == [temp(i, 1, k) for i in 0:5, k in 0:2]
    @test kept[2] == [temp(i, j, k) for k in 0:2, j in 0:3, i in 0:5]
    @test kept[3] == vec(kept[4]) == vec(kept[5]) == [temp(i, j, k) for i in 0:5, j in 0:3, k in 0:2][:]
    @test kept[6] == [temp(i, j, 1) for i in 0:5, j in 0:3]
end

@testset "memory is given back when neither sample nor fields are used" begin
    live() = Forcings.live_count().pointers
    collected() = (foreach(_ -> GC.gc(), 1:3); live())
    before = collected()
    # In a function of its own, so that nothing here refers to what it held.
    function held()
        data = sample_at(Provider(WINDS), T0)
        fields = Any[data["temp"], view(data["uwnd"], "lat" => 1), data["gusts"].array]
        data = nothing
        return collected() - before, sum(sum, fields)
    end
    @test held()[1] == 1
    @test collected() == before
    # At once, when a block says so, whatever fields are still there.
    group = PrefetchGroup(Dict("winds" => Provider(WINDS)); inline = true)
    start!(group, :forward)
    field = take!(epoch -> epoch["winds"].data["temp"], group, 1)
    @test live() == before
    for use in (f -> f[1], sum, size, Array, pointer, f -> f["lat" => 1], Forcings.dims, f -> f .+ 1)
        @test refuses(() -> use(field), Forcings.ClosedError, "released")
    end
    close(group)
end

function total(a)
    s = 0.0
    @inbounds @simd for i in eachindex(a)
        s += a[i]
    end
    return s
end

@testset "a loop over a field is that over an array" begin
    f = sample_at(Provider(WINDS), T0)["temp"]
    @test total(f) == total(Array(f)) == sum(f)
    # With bounds checks forced, or little optimisation, no loop has vector instructions.
    if Base.JLOptions().check_bounds != 1
        is_vector(T) = occursin(r"fadd[^\n]*<\d+ x double>", sprint(io -> code_llvm(io, total, (T,))))
        @test is_vector(Matrix{Float64}) == is_vector(Forcings.Field{Float64, 2})
    end
end
