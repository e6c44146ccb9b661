# Checking, compacting and copying stores; transactions over many operations.

include("common.jl")

hours(values; name = "load") = SingleTimeSeries(name, DateTime(2030), Hour(1), values)
owners_in(store) = [row.owner_id for row in list_series(store)]
repl(x) = sprint(show, MIME("text/plain"), x)

function each_store(f)
    memory_store(f)
    create_store(f, joinpath(mktempdir(), "s.nc"))
    return nothing
end

@testset "a sound store" begin
    each_store() do store
        ids = add!(store, [(Owner(n, "Bus"), hours(fill(Float64(n), 24)), (features = (n = n,),)) for n in 1:3])
        report = Forcings.verify(store)
        @test (report.arrays, report.series, report.findings) == (3, 3, [])
        @test sprint(show, report) == "VerifyReport(3 arrays, 3 series, 0 findings)"
        @test repl(report) == "VerifyReport: 3 arrays, 3 series examined, nothing is wrong"
        grid = (resolution = Hour(1), initial = DateTime(2030), length = 24, series = 3)
        @test Forcings.check_consistency(store) == [grid]
        remove!(store, ids[2])
        compacted = Forcings.compact!(store)
        @test compacted.features_removed == 1
        @test Forcings.compact!(store).features_removed == 0
        @test sprint(show, compacted) ==
            "CompactReport($(compacted.free_slots) free slot$(compacted.free_slots == 1 ? "" : "s"), 1 feature removed)"
        @test startswith(repl(compacted), "CompactReport\n  free slots       $(compacted.free_slots)\n")
        @test (compacted.bytes === missing) == (store.path === nothing)
        @test occursin("on disk", repl(compacted)) == (store.path !== nothing)
        add!(store, Owner(9, "Bus"), hours(ones(25)))
        @test refuses(() -> Forcings.check_consistency(store), Forcings.IntegrityError, "25", "24")
    end
end

@testset "a store is written anew without what is unused" begin
    each_store() do store
        series(n) = hours(Float64.((1:2000).^2 .% 1009 .* n); name = "n$n")
        ids = add!(store, [(Owner(n, "Bus"), series(n), (features = (n = n,),)) for n in 1:40])
        flush(store)
        remove!(store, ids[1:2:end])
        kept = ids[2:2:end]
        reader = StaticReader(store; owner_type = "Bus", resolution = Hour(1))
        before = copy(values(readstep!(reader, 7), 1))
        @test refuses(Forcings.InvalidParameterError, "compact", "transaction") do
            transaction(s -> Forcings.compact!(s; physical = true), store)
        end
        on_disk() = store.path === nothing ? missing : filesize(store.path)
        length_before = on_disk()
        report = Forcings.compact!(store; physical = true)
        @test report isa Forcings.PhysicalCompactReport && report.features_removed == 20
        @test report.bytes_after < report.bytes_before
        @test isequal(on_disk(), store.path === nothing ? missing : report.bytes_after)
        @test store.path === nothing || length_before == report.bytes_before
        @test read_series(store, kept) == map(series, 2:2:40)
        @test values(readstep!(reader, 7), 1) == before == [series(n).values[7] for n in 2:2:40]
        @test values(readstep!(reader, 2000), 1) == [series(n).values[2000] for n in 2:2:40]
        found = Forcings.verify(store)
        @test (found.findings, found.unused_variables) == ([], 0)
        again = Forcings.compact!(store; physical = true)
        @test (again.features_removed, again.bytes_before) == (0, report.bytes_after)
        size(bytes) = Base.format_bytes(bytes)
        @test sprint(show, report) ==
            "PhysicalCompactReport($(size(report.bytes_before)) to $(size(report.bytes_after)), 20 features removed)"
        @test repl(report) ==
            "PhysicalCompactReport\n  features removed 20\n" *
                "  array file       $(size(report.bytes_after)), before $(size(report.bytes_before))"
        @test add!(store, Owner(99, "Bus"), series(99)) > maximum(ids)
        store.path === nothing && return
        close(store)
        @test sort(readdir(dirname(store.path))) == ["s.nc", "s.nc.sqlite"]
        open_store(store.path; read_only = true) do reopened
            @test read_series(reopened, kept) == map(series, 2:2:40)
            @test refuses(() -> Forcings.compact!(reopened; physical = true), Forcings.ReadOnlyStoreError, "read")
        end
    end
end

# Changes the first of two equal neighbours of `value` in a file that is not compressed.
function damage(path, value)
    bytes = read(path)
    at = findfirst(i -> bytes[i:(i + 7)] == reinterpret(UInt8, [value]), 1:(length(bytes) - 7))
    bytes[at] ⊻= 0x01
    write(path, bytes)
    return nothing
end

@testset "a damaged store says which series are affected" begin
    path = joinpath(mktempdir(), "s.nc")
    mark = 1.234567890123e-45
    ids = create_store(path; compression = "none") do store
        add!(store, [(Owner(n, "Bus"), hours([1.0, n == 3 ? 0.0 : mark, 2.0])) for n in 1:3])
    end
    damage(path, mark)
    open_store(path; read_only = true) do store
        report = Forcings.verify(store)
        @test (report.arrays, report.series) == (2, 3)
        @test [(f.kind, f.series) for f in report.findings] == [(:hash_mismatch, ids[1:2])]
        @test occursin("1 finding\n  hash_mismatch: ", repl(report))
        @test occursin("series $(ids[1]), $(ids[2])", repl(report))
        @test startswith(sprint(show, report.findings[1]), "Finding(:hash_mismatch, \"")
    end
end

@testset "a store is written to another place" begin
    folder = mktempdir()
    series = hours(1.0:24.0)
    each_store() do store
        path = joinpath(folder, store.path === nothing ? "memory.nc" : "disk.nc")
        add!(store, Owner(1, "Bus"), series)
        Forcings.link!(store, Owner(100, "Plant"), Owner(1, "Bus"))
        @test Forcings.persist(store, path) == path
        open_store(path; read_only = true) do copy
            @test read_series(copy, 1) == series
            @test Forcings.islinked(copy, 100, 1)
            @test refuses(() -> Forcings.persist(store, path; overwrite = true), Forcings.StoreInUseError, path)
        end
        add!(store, Owner(2, "Bus"), series)
        @test refuses(() -> Forcings.persist(store, path), Forcings.StoreExistsError, path)
        @test Forcings.persist(store, path; overwrite = true) == path
        @test open_store(owners_in, path; read_only = true) == [1, 2]
        cd(folder) do
            @test realpath(Forcings.persist(store, "here.nc"; overwrite = true)) ==
                realpath(joinpath(folder, "here.nc"))
        end
        @test refuses(Forcings.InvalidParameterError, "transaction") do
            transaction(s -> Forcings.persist(s, joinpath(folder, "inside.nc")), store)
        end
        @test !ispath(joinpath(folder, "inside.nc"))
    end
    text = joinpath(folder, "notes.txt")
    write(text, "no store")
    memory_store() do store
        @test refuses(() -> Forcings.persist(store, text; overwrite = true), Forcings.ForcingsError, text)
    end
    @test read(text, String) == "no store"
end

@testset "a transaction over many operations" begin
    each_store() do store
        a, b = add!(store, [(Owner(n, "Bus"), hours(fill(Float64(n), 24))) for n in 1:2])
        Forcings.attach!(store, Owner(1, "Bus"), Owner(7, "Outage"; category = :attribute))
        function study(s)
            Forcings.rename(s, a, "demand")
            Forcings.copy_series!(s, a, Owner(3, "Bus"))
            Forcings.transform_single_time_series!(s, Hour(6), Hour(6); owner = 3)
            @test Forcings.counts(s).forecasts == 1
            remove!(s; owner = 2)
            Forcings.replace_owner!(s, 3, 33)
            Forcings.detach!(s, :)
            @test occursin("3 series, a transaction is open", repl(s))
            @test refuses(() -> Forcings.compact!(s), Forcings.InvalidParameterError, "transaction")
            @test refuses(() -> flush(s), Forcings.InvalidParameterError, "transaction")
            return Forcings.owner_ids(s)
        end
        before = list_series(store)
        @test thrown(() -> transaction(s -> (study(s); error("undo")), store)) == ErrorException("undo")
        @test isequal(list_series(store), before)
        @test read_series(store, b).values == fill(2.0, 24)
        @test Forcings.count_attachments(store) == 1
        @test isempty(Forcings.verify(store).findings)
        @test transaction(study, store) == [1, 33]
        @test Forcings.owner_ids(store) == [1, 33]
        @test Forcings.count_attachments(store) == 0
        @test refuses(() -> read_series(store, b), Forcings.NotFoundError)
        @test isempty(Forcings.verify(store).findings)
    end
end

@testset "transactions nest" begin
    each_store() do store
        add(s, n) = add!(s, Owner(n, "Bus"), hours([Float64(n)]))
        transaction(store) do outer
            add(outer, 1)
            # A failure that is caught undoes its own level, removals included.
            failed = thrown() do
                transaction(outer) do inner
                    add(inner, 2)
                    Forcings.clear!(inner, 1)
                    transaction(s -> add(s, 3), inner)
                    @test owners_in(inner) == [2, 3]
                    throw(KeyError(:inner))
                end
            end
            @test failed == KeyError(:inner)
            @test owners_in(outer) == [1]
            transaction(s -> add(s, 4), outer)
            # So does an error of the store itself.
            @test refuses(() -> transaction(s -> (add(s, 5); add(s, 4)), outer), Forcings.DuplicateTimeSeriesError)
            @test owners_in(outer) == [1, 4]
        end
        @test owners_in(store) == [1, 4]
        @test [read_series(store, row.id).values for row in list_series(store)] == [[1.0], [4.0]]
        @test thrown(() -> transaction(s -> (transaction(r -> add(r, 6), s); throw(InterruptException())), store)) isa
            InterruptException
        @test owners_in(store) == [1, 4]
        @test isempty(Forcings.verify(store).findings)
        @test occursin("2 series", repl(store)) && !occursin("transaction", repl(store))
    end
end

@testset "closing inside a transaction undoes it" begin
    path = joinpath(mktempdir(), "s.nc")
    store = create_store(path)
    @test refuses(Forcings.ClosedError, "store") do
        transaction(s -> (add!(s, Owner(1, "Bus"), hours([1.0])); close(s)), store)
    end
    @test open_store(owners_in, path) == []
end

@testset "a store in use names its holder" begin
    path = joinpath(mktempdir(), "s.nc")
    create_store(path) do store
        error = thrown(() -> open_store(path))
        @test error isa Forcings.StoreInUseError
        @test occursin("process $(getpid()) (this process) on $(gethostname())", error.message)
    end
end

@testset "a store prints what it holds" begin
    path = joinpath(mktempdir(), "s.nc")
    store = create_store(path)
    @test repl(store) == "Store($(repr(path)))\n  0 series"
    add!(store, [(Owner(n, "Bus"), hours([Float64(n)])) for n in 1:3])
    @test repl(store) == "Store($(repr(path)))\n  3 series"
    close(store)
    @test repl(store) == "Store(closed)"
    open_store(s -> (@test repl(s) == "Store($(repr(path)), read only)\n  3 series"), path; read_only = true)
end

if Threads.nthreads() > 1
    @testset "other work goes on while a store is verified" begin
        create_store(joinpath(mktempdir(), "s.nc")) do store
            add!(store, [(Owner(n, "Bus"), hours(rand(20_000); name = "n")) for n in 1:200])
            checking = @async Forcings.verify(store)
            turns = 0
            while !istaskdone(checking)
                turns += 1
                yield()
            end
            @test turns > 1
            @test fetch(checking).arrays == 200
        end
    end
end

@testset "verify finds nothing wrong while the array file is replaced" begin
    create_store(joinpath(mktempdir(), "s.nc")) do store
        ids = add!(store, [(Owner(n, "Bus"), hours(fill(Float64(n), 200))) for n in 1:40])
        changes = @async for id in ids[1:6]
            remove!(store, id)
            Forcings.compact!(store; physical = true)
        end
        clean = true
        for _ in 1:30
            clean &= isempty(Forcings.verify(store).findings)
            yield()
        end
        wait(changes)
        @test clean
        @test owners_in(store) == 7:40
    end
end
