# Providers over readers: the values and errors of the reader, alone and in groups with files.

include("common.jl")

const YEAR = DateTime(2001)

# Loads of `n` owners for 12 hours from the first of the winds on, and prices every three hours.
function filled(store = memory_store(); n = 3)
    start = unix2datetime(refresh_times(Provider(WINDS))[1])
    step = Millisecond(round(Int, 1000 * (refresh_times(Provider(WINDS))[2] - refresh_times(Provider(WINDS))[1])))
    load(k) = SingleTimeSeries("load", start, step, 100k .+ sin.(1.0:12.0))
    ids = add!(store, [(Owner(k, "Bus"), load(k), (units = "MW",)) for k in n:-1:1])
    price = SingleTimeSeries("price", start, 3step, Float32[1, 2, 3, 4])
    add!(store, Owner(9, "Area"), price)
    return (store = store, step = step, start = start, ids = ids)
end

loads(f) = StaticReader(f.store; name = "load", resolution = f.step)
prices(f) = StaticReader(f.store; name = "price", resolution = 3f.step)

@testset "a sample is a row of the reader" begin
    f = filled()
    reader = loads(f)
    provider = Provider(reader)
    times = refresh_times(provider)
    @test times == datetime2unix.(Forcings.timestamps(reader)) == refresh_times(Provider(WINDS))
    for step in [1:12; 12:-1:1; 7]
        readstep!(reader, step)
        data = sample_at(provider, times[step])
        @test same(Array(data["values"]), copy(values(reader, 1)))
    end
    data = sample_at(provider, times[3] + 1.5)
    rows = Forcings.entries(reader, 1)
    @test data["id"] == [row.id for row in rows]
    @test data["owner_id"] == [1, 2, 3]
    @test data["owner"] == ["Component Bus 1", "Component Bus 2", "Component Bus 3"]
    @test data["name"] == fill("load", 3)
    @test Forcings.variables(data) == ["values"]
    @test Forcings.coords(data) == ["id", "owner_id", "owner", "name"]
    @test collect(Forcings.dims(data["values"])) == ["column"]
    about = Forcings.attributes(data["values"])
    @test (about["units"], about["series_type"]) == ("MW", "SingleTimeSeries")
    @test sum(data["values"]["column" => 2:3]) == sum(data["values"][2:3])
    # The reader's buffer is its own.
    readstep!(reader, 1)
    before = copy(values(reader, 1))
    sample_at(provider, times[9])
    @test values(reader, 1) == before
    @test same(refresh(provider, times[2]), sample_at(provider, times[2]))
    @test Forcings.prefetch(provider, times[1], times[9]) == 0
    @test refuses(() -> materialize(provider), Forcings.InvalidParameterError, "change with time")
    @test refuses(() -> sample_at(provider, times[1] - 1), Forcings.OffGridError, "precedes")
    @test refuses(() -> CoordWindow(provider, "id" => (1.0, 2.0)), Forcings.SelectionError, "\"column\"")
    @test sprint(show, provider) == "Provider(SingleTimeSeries: 3 series, 12 times)"
    @test occursin("from $(f.start)", sprint(show, MIME"text/plain"(), provider))
    @test occursin("owner_id", sprint(show, MIME"text/plain"(), data))
end

@testset "groups of a reader are variables" begin
    store = memory_store()
    add!(store, Owner(1, "Bus"), SingleTimeSeries("a", YEAR, Hour(1), rand(4)))
    add!(store, Owner(2, "Bus"), SingleTimeSeries("b", YEAR, Hour(1), reshape(collect(1:24), 4, 2, 3)))
    add!(store, Owner(3, "Bus"), SingleTimeSeries("c", YEAR, Hour(1), UInt64[1, 2, 3, typemax(UInt64)]))
    add!(store, Owner(4, "Bus"), SingleTimeSeries("d", YEAR, Hour(1), [true, false, true, true]))
    reader = StaticReader(store; resolution = Hour(1))
    provider = Provider(reader)
    for (t, row) in reader
        data = sample_at(provider, t)
        names = ["values_float64", "values_int64_2x3", "values_uint64", "values_bool"]
        @test Forcings.variables(data) == names
        for (name, group) in zip(names, row)
            field = Forcings.fileorder(data[name])
            @test eltype(field) == eltype(group) && field == group
        end
        @test data["owner_id_int64_2x3"] == [2]
        @test collect(Forcings.dims(data["values_int64_2x3"])) ==
            ["element2_int64_2x3", "element1_int64_2x3", "column_int64_2x3"]
    end
    @test sample_at(provider, YEAR + Hour(3))["values_uint64"] == [typemax(UInt64)]
end

@testset "forecasts" begin
    store = memory_store()
    wind(k) = Deterministic("wind", YEAR, Hour(1), k .+ rand(24, 7); interval = Day(1))
    add!(store, [(Owner(k, "Plant"), wind(k)) for k in 1:3])
    reader = ForecastReader(store; type = Deterministic, resolution = Hour(1))
    provider = Provider(reader)
    @test refresh_times(provider) == datetime2unix.(YEAR .+ Day.(0:6))
    slots = [entry.slot for entry in Forcings.entries(reader)]
    for (t, windows) in reader
        data = sample_at(provider, t + Hour(5))
        @test size(data["values"]) == (24, 3)
        @test all(k -> same(data["values"][:, k], copy(windows[slots[k]])), 1:3)
        @test data["owner_id"] == 1:3
        @test data["step"] == 3600 .* (0:23)
    end
    @test startswith(sprint(show, provider), "Provider(Deterministic: 3 forecasts")
end

@testset "a group of files and a store" begin
    f = filled()
    members() = Dict("winds" => Provider(WINDS), "load" => Provider(loads(f)), "price" => Provider(prices(f)))
    fresh = members()
    times = refresh_times(fresh["winds"])
    expected = Dict(key => [sample_at(p, t) for t in times] for (key, p) in fresh)
    reader = loads(f)
    for (workers, inline) in ((1, false), (2, false), (1, true))
        PrefetchGroup(members(); workers = workers, inline = inline) do group
            @test boundaries(group) == times
            for (order, epochs) in ((:forward, 1:12), (:reverse, 12:-1:1))
                start!(group, order)
                @test all(epochs) do k
                    epoch = take!(group, k)
                    readstep!(reader, k)
                    same(Array(epoch["load"].data["values"]), copy(values(reader, 1))) &&
                        epoch["price"].anchor == times[3 * ((k - 1) ÷ 3) + 1] &&
                        all(key -> same(epoch[key].data, expected[key][k]), keys(epoch))
                end
            end
        end
    end
end

@testset "windows" begin
    f = filled(; n = 5)
    provider = Provider(loads(f))
    t = refresh_times(provider)[4]
    whole = sample_at(provider, t)
    @test Forcings.supports_selection(provider)
    some = with_window(provider, DimWindow("column" => [4, 0]))
    @test sample_at(some, t)["owner_id"] == [5, 1]
    @test sample_at(some, t)["values"] == whole["values"][[5, 1]]
    halves = sample_windows_at(provider, t, [DimWindow("column" => (0, 2)), DimWindow("column" => (2, 5))])
    @test vcat((half["values"] for half in halves)...) == whole["values"]
    @test same(refresh(some, t; select = DimWindow("column" => :all)), whole)
    @test refuses(() -> with_window(some, DimWindow("column" => (0, 1))), Forcings.SelectionError, "already")
    unknown = with_window(provider, DimWindow("lat" => (0, 1)))
    @test refuses(() -> sample_at(unknown, t), Forcings.SelectionError, "\"lat\"", "\"column\"")
    beyond = with_window(provider, DimWindow("column" => (4, 7)))
    @test refuses(() -> sample_at(beyond, t), Forcings.SelectionError, "index 6", "\"column\"")
    PrefetchGroup(Dict("some" => some)) do group
        start!(group, :forward)
        @test take!(group, 1)["some"].data["owner_id"] == [5, 1]
    end
    parts = [DimWindow("column" => (0, 2)), DimWindow("column" => (2, 5))]
    PrefetchGroup(Dict("load" => provider); windows = parts) do group
        start!(group, :reverse)
        first, second = take!(group, 12)["load"].data
        @test vcat(first["values"], second["values"]) == sample_at(provider, boundaries(group)[12])["values"]
    end
    @test refuses(() -> PrefetchGroup(Dict("some" => some); windows = parts), Forcings.SelectionError, "already")
end

@testset "a store that changes, and one that is closed" begin
    f = filled()
    provider = Provider(loads(f))
    t = refresh_times(provider)[1]
    add!(f.store, Owner(8, "Bus"), SingleTimeSeries("load", f.start, f.step, rand(12)))
    @test length(sample_at(provider, t)["values"]) == 3
    gone = f.ids[1]
    remove!(f.store, gone)
    @test refuses(() -> sample_at(provider, t), Forcings.NotFoundError, "Component 3 (Bus)", "removed")
    PrefetchGroup(Dict("load" => provider)) do group
        start!(group, :forward)
        @test refuses(() -> take!(group, 1), Forcings.NotFoundError, "Component 3 (Bus)")
    end
    rest = Provider(loads(f))
    close(f.store)
    @test refuses(() -> sample_at(rest, t), Forcings.ClosedError, "store")
    @test refuses(
        () -> Provider(StaticReader(memory_store(); resolution = Hour(1))),
        Forcings.NotFoundError,
        "matched no",
    )
end

@testset "what is closed first does not matter" begin
    path = joinpath(mktempdir(), "loads.nc")
    f = filled(create_store(path))
    close(f.store)
    # Nothing but the group keeps the store.
    function unattended()
        store = open_store(path; read_only = true)
        reader = StaticReader(store; name = "load", resolution = f.step)
        provider = Provider(reader)
        close(reader)
        sample = sample_at(provider, f.start)
        group = PrefetchGroup(Dict("load" => provider))
        close(provider)
        return group, sample
    end
    group, sample = unattended()
    foreach(_ -> GC.gc(), 1:3)
    sleep(0.1)
    start!(group, :forward)
    @test same(take!(group, 1)["load"].data, sample)
    close(group)
    provider = Provider(StaticReader(open_store(path; read_only = true); name = "load", resolution = f.step))
    foreach(_ -> GC.gc(), 1:3)
    sleep(0.1)
    @test same(sample_at(provider, f.start), sample)
    close(provider)
    close(provider)
    @test refuses(() -> sample_at(provider, f.start), Forcings.ClosedError, "provider")
    @test sprint(show, provider) == "Provider(closed)"
end

@testset "many tasks sample at once" begin
    f = filled(; n = 50)
    provider, reader = Provider(loads(f)), loads(f)
    rows = [copy(row[1]) for (t, row) in reader]
    times = refresh_times(provider)
    results = Vector{Bool}(undef, 48)
    @sync for i in 1:48
        Threads.@spawn results[i] = sample_at(provider, times[mod1(5i, 12)])["values"] == rows[mod1(5i, 12)]
    end
    @test all(results)
end
