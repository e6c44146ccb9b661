# Stores: what goes in comes out, is listed, removed, kept and refused.

include("common.jl")

const BUS = Owner(1, "Bus")
hours(values; name = "load", initial = DateTime(2030)) = SingleTimeSeries(name, initial, Hour(1), values)

function each_store(f)
    memory_store(f)
    create_store(f, joinpath(mktempdir(), "s.nc"))
    return nothing
end

@testset "every element type and shape comes back" begin
    each_store() do store
        for T in (Float64, Float32, Int64, Int32, UInt64, Bool), shape in ((), (3,), (2, 3))
            values = T === Bool ? rand(Bool, 5, shape...) : T.(reshape(1:(5 * prod(shape)), 5, shape...))
            series = hours(values; name = "$T $shape")
            id = add!(store, BUS, series)
            back = read_series(store, id)
            @test back == series
            @test eltype(back.values) === T && back.values isa Array
        end
        nan = hours([NaN, -0.0, Inf, floatmin()]; name = "odd")
        @test isequal(read_series(store, add!(store, BUS, nan)).values, nan.values)
        none = hours(Float64[]; name = "none")
        @test read_series(store, add!(store, BUS, none)) == none
    end
end

@testset "values of other array types" begin
    memory_store() do store
        values = collect(1.0:10)
        for (i, v) in enumerate((1.0:10, view(values, 1:10), reverse(reverse(values))))
            @test read_series(store, add!(store, Owner(i, "Bus"), hours(v))).values == values
        end
        bits = isodd.(1:10)
        @test bits isa BitVector
        @test read_series(store, add!(store, Owner(9, "Bus"), hours(bits))).values == bits
    end
end

@testset "many at once" begin
    each_store() do store
        items = [(Owner(n, "Bus"), hours(fill(Float64(n), 48)), (features = (n = n,), units = "MW")) for n in 1:200]
        ids = add!(store, items)
        @test issorted(ids) && allunique(ids) && length(ids) == 200
        series = read_series(store, reverse(ids))
        @test [s.values[1] for s in series] == 200:-1:1
        rows = list_series(store)
        @test [row.id for row in rows] == ids
        @test all(row -> row.units == "MW" && row.features == Dict("n" => row.owner_id), rows)
        @test add!(store, []) == Int64[]
    end
end

@testset "all or none" begin
    memory_store() do store
        add!(store, Owner(2, "Bus"), hours(ones(3)))
        items = [(Owner(n, "Bus"), hours(ones(3))) for n in 1:3]
        @test refuses(() -> add!(store, items), Forcings.DuplicateTimeSeriesError, "load", "2")
        @test length(list_series(store)) == 1
        @test refuses(() -> add!(store, [items[1], items[1]]), Forcings.DuplicateTimeSeriesError)
        @test length(list_series(store)) == 1
    end
end

@testset "ranges of time" begin
    memory_store() do store
        id = add!(store, BUS, hours(1.0:24.0))
        noon = DateTime(2030, 1, 1, 12)
        part = read_series(store, id; from = noon, to = noon + Hour(3))
        @test part == hours([13.0, 14.0, 15.0]; initial = noon)
        @test read_series(store, id; from = noon + Minute(30)).values[1] == 13.0
        @test read_series(store, id; to = noon).values == 1:12
        @test read_series(store, [id, id]; from = noon)[2].values == 13:24
        @test read_series(store, id; from = DateTime(2031)).values == Float64[]
        @test refuses(() -> read_series(store, id; from = noon, to = noon - Hour(1)), Forcings.InvalidParameterError)
        @test refuses(() -> read_series(store, id; from = 3), Forcings.InvalidParameterError, "DateTime")
    end
end

@testset "calendar periods" begin
    memory_store() do store
        series = SingleTimeSeries("cost", DateTime(2031, 1, 31), Month(1), 1.0:13.0)
        @test Forcings.timestamps(series)[[1, 2, 3, 13]] ==
            [DateTime(2031, 1, 31), DateTime(2031, 2, 28), DateTime(2031, 3, 31), DateTime(2032, 1, 31)]
        id = add!(store, BUS, series)
        @test read_series(store, id) == series
        @test list_series(store)[1].resolution === Month(1)
        part = read_series(store, id; from = DateTime(2031, 3, 31))
        @test part.initial_timestamp == DateTime(2031, 3, 31) && part.values == 3:13
    end
end

@testset "removal and shared values" begin
    memory_store() do store
        ids = add!(store, [(Owner(n, "Bus"), hours([1.0, 2.0])) for n in 1:3])
        remove!(store, ids[2])
        @test [row.id for row in list_series(store)] == ids[[1, 3]]
        @test read_series(store, ids[3]).values == [1, 2]
        @test refuses(() -> read_series(store, ids[2]), Forcings.NotFoundError, string(ids[2]))
        @test refuses(() -> remove!(store, [ids[1], ids[2]]), Forcings.NotFoundError)
        @test length(list_series(store)) == 2
        remove!(store, ids[[1, 3]])
        @test isempty(list_series(store))
        @test add!(store, BUS, hours([1.0])) > ids[3]
    end
end

@testset "transactions" begin
    each_store() do store
        @test transaction(s -> add!(s, BUS, hours([1.0])), store) == 1
        @test refuses(ErrorException) do
            transaction(store) do s
                add!(s, Owner(2, "Bus"), hours([2.0]))
                remove!(s, 1)
                @test isempty(list_series(s; owner = 1))
                error("undo")
            end
        end
        @test [row.owner_id for row in list_series(store)] == [1]
        transaction(store) do s
            add!(s, Owner(3, "Bus"), hours([3.0]))
            thrown(() -> transaction(_ -> (add!(s, Owner(4, "Bus"), hours([4.0])); error("inner")), s))
        end
        @test [row.owner_id for row in list_series(store)] == [1, 3]
        @test read_series(store, list_series(store)[2].id).values == [3]
    end
end

@testset "files" begin
    path = joinpath(mktempdir(), "system.nc")
    series = hours(1.0:24.0)
    @test create_store(store -> add!(store, BUS, series; units = "MW"), path) == 1
    @test isfile(path) && isfile(path * ".sqlite")
    open_store(path; read_only = true) do store
        @test read_series(store, 1) == series
        @test list_series(store)[1].units == "MW"
        @test refuses(() -> add!(store, BUS, series), Forcings.ReadOnlyStoreError, path)
        open_store(other -> read_series(other, 1), path; read_only = true) == series
    end
    store = open_store(path)
    @test refuses(() -> open_store(path), Forcings.StoreInUseError, path)
    @test refuses(() -> open_store(path; read_only = true), Forcings.StoreInUseError)
    add!(store, Owner(2, "Bus"), series)
    flush(store)
    @test isopen(store)
    close(store)
    close(store)
    @test !isopen(store)
    @test refuses(() -> list_series(store), Forcings.ClosedError, "store")
    @test refuses(() -> add!(store, BUS, series), Forcings.ClosedError)
    @test refuses(() -> create_store(path), Forcings.StoreExistsError, path, "overwrite")
    @test length(open_store(list_series, path)) == 2
    @test isempty(create_store(list_series, path; overwrite = true, compression = "none"))
    @test refuses(() -> open_store(path * "x"), Forcings.NotFoundError, path * "x")
    rm(path * ".sqlite")
    @test refuses(() -> open_store(path), Forcings.NotFoundError, "sqlite")
    for wrong in ("lzma", "deflate:3", "deflate:10:shuffle")
        create() = create_store(path; compression = wrong, overwrite = true)
        @test refuses(create, Forcings.InvalidParameterError, wrong == "deflate:10:shuffle" ? "10" : wrong, "9")
    end
end

@testset "bad input" begin
    memory_store() do store
        @test refuses(() -> Owner(1, "Bus"; category = :bus), Forcings.InvalidParameterError, ":bus")
        @test refuses(
            () -> add!(store, BUS, hours([1.0]); features = (x = NaN,)),
            Forcings.InvalidParameterError,
            "NaN",
        )
        @test refuses(
            () -> add!(store, BUS, hours([1.0]); features = (length = 1,)),
            Forcings.InvalidParameterError,
            "length",
        )
        @test refuses(() -> add!(store, BUS, hours([1.0]); features = (x = [1],)), Forcings.InvalidParameterError)
        for wrong in ("high", ["high"], "scenario" => "high")
            @test refuses(
                () -> add!(store, BUS, hours([1.0]); features = wrong),
                Forcings.InvalidParameterError,
                "named tuple",
            )
        end
        @test refuses(
            () -> add!(store, BUS, hours([1.0]); features = (x = big(2)^63,)),
            Forcings.InvalidParameterError,
            "Int64",
        )
        @test refuses(() -> add!(store, BUS, hours([1.0]); units = 5), Forcings.InvalidParameterError, "units", "5")
        @test refuses(() -> add!(store, [(BUS,)]), Forcings.InvalidParameterError, "(owner, series)")
        @test refuses(() -> add!(store, [hours([1.0])]), Forcings.InvalidParameterError, "(owner, series)")
        @test refuses(() -> add!(store, (BUS, hours([1.0]))), Forcings.InvalidParameterError, "(owner, series)")
        add!(store, BUS, hours([1.0]))
        @test refuses(() -> add!(store, BUS, hours([2.0])), Forcings.DuplicateTimeSeriesError, "load", "Component 1")
        @test length(list_series(store)) == 1
    end
end

@testset "a store may be used from many tasks" begin
    each_store() do store
        tasks = [Threads.@spawn(add!(store, Owner(n, "Bus"), hours(fill(Float64(n), 10)))) for n in 1:20]
        ids = fetch.(tasks)
        @test [read_series(store, id).values[1] for id in ids] == 1:20
    end
end

@testset "a link to a store stands for the store" begin
    mktempdir() do folder
        path = joinpath(folder, "s.nc")
        create_store(store -> add!(store, BUS, hours([1.0])), path)
        one, both = joinpath(folder, "one.nc"), joinpath(folder, "both.nc")
        symlink(path, one)
        symlink(path, both)
        symlink(path * ".sqlite", both * ".sqlite")
        for (n, link) in enumerate((one, both))
            store = open_store(link)
            @test store.path == realpath(path)
            add!(store, Owner(10 + n, "Bus"), hours([2.0, 3.0]))
            Forcings.compact!(store; physical = true)
            @test Forcings.persist(store, link; overwrite = true) == realpath(path)
            close(store)
            @test islink(link)
        end
        open_store(path; read_only = true) do store
            @test [row.owner_id for row in list_series(store)] == [1, 11, 12]
            @test isempty(Forcings.verify(store).findings)
        end
    end
end

@testset "paths that no file has" begin
    @test refuses(() -> create_store(""), Forcings.InvalidParameterError, "empty")
    @test refuses(() -> open_store("a\0b"), Forcings.InvalidParameterError, "NUL")
    memory_store() do store
        @test refuses(() -> Forcings.persist(store, "a\0b"), Forcings.InvalidParameterError, "NUL")
    end
end
