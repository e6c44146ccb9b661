# Transforms of prefetch groups: what they make is delivered, whatever it is, and so is what they throw.

include("common.jl")
include("groups.jl")

members() = Dict("winds" => Provider(WINDS), "price" => Provider(COARSE))
const TIMES = refresh_times(Provider(WINDS))
const EPOCHS = length(TIMES)
const PARTS = [DimWindow("lat" => (1, 3)), DimWindow("lon" => [5, 0])]

# Slowed down by chance, so that samples are ready in any order.
function late_contents(name, data)
    rand() < 0.3 && pass_time(0.002 * rand())
    rand() < 0.2 && yield()
    return name => contents(data)
end

@testset "what is taken is the transform of what sample_at gives" begin
    fresh = members()
    whole = Dict(key => [contents(sample_at(p, t)) for t in TIMES] for (key, p) in fresh)
    winds = Provider(WINDS)
    cut = Dict("winds" => [contents(sample_windows_at(winds, t, PARTS)) for t in TIMES])
    for inline in KINDS, (depth, max_bytes) in ((1, nothing), (3, 3_000)), windows in (nothing, PARTS)
        expected = windows === nothing ? whole : cut
        sources = windows === nothing ? members() : Dict("winds" => Provider(WINDS))
        options = (
            inline = inline,
            depth = depth,
            workers = 3,
            max_bytes = max_bytes,
            windows = windows,
            transform = late_contents,
        )
        PrefetchGroup(sources; options...) do group
            for (order, entries) in (
                    (:forward, 1:EPOCHS),
                    (:reverse, EPOCHS:-1:1),
                    ([7, 7, 2, 12, 3], [7, 7, 2, 12, 3]),
                )
                start!(group, order)
                @test all(entries) do k
                    epoch = take!(group, k)
                    all(keys(epoch)) do key
                        name, found = epoch[key].data
                        name == key && same_contents(found, expected[key][k])
                    end
                end
            end
            counted = stats(group)
            @test counted.decode_s > 0
            @test counted.samples_decoded <= 2 * (2EPOCHS + 5)
        end
    end
end

@testset "the form of a do-block" begin
    group = Forcings.with_transform(members(); depth = 3) do name, data
        return (name, length(data))
    end
    start!(group, :reverse)
    @test take!(group, EPOCHS)["winds"].data == ("winds", length(sample_at(Provider(WINDS), TIMES[end])))
    @test occursin("in Julia a transform", sprint(show, MIME("text/plain"), group))
    close(group)
end

struct Keeps
    field::Any
end
mutable struct Box
    field::Any
end

# Ways to keep a field, or to refer to one, and how to get at it.
const KEEPERS = [
    (identity, identity),
    (Keeps, x -> x.field),
    (Box, x -> x.field),
    (Ref, x -> x[]),
    (x -> [x], x -> x[1]),
    (x -> Any[1, [x]], x -> x[2][1]),
    (x -> (a = 1, b = (x,)), x -> x.b[1]),
    (x -> Dict("x" => Dict(:y => x)), x -> x["x"][:y]),
    (x -> Dict(x => 1), x -> first(keys(x))),
    (x -> (() -> x), x -> x()),
    (x -> view(x, :, 1:2), identity),
    (x -> reshape(x, :), identity),
    (x -> reinterpret(UInt64, x), x -> reinterpret(Float64, x)),
    (x -> PermutedDimsArray(x, (2, 1)), identity),
    (x -> WeakRef(x), x -> something(x.value, "gone")),
    (x -> Base.Generator(identity, x), collect),
    (x -> Task(() -> x), x -> (schedule(x); fetch(x))),
    (x -> skipmissing(x), collect),
]

@testset "what a result refers to stays" begin
    fields = [Array(sample_at(Provider(WINDS), t)["uwnd"]) for t in TIMES]
    for (keep, get) in KEEPERS
        transform(_, data) = keep(data["uwnd"])
        PrefetchGroup(Dict("w" => Provider(WINDS)); depth = 3, transform = transform) do group
            start!(group, :forward)
            kept = Any[]
            for k in 1:EPOCHS
                push!(kept, take!(group, k)["w"].data)
                k % 4 == 0 && GC.gc()
            end
            for k in 1:EPOCHS
                found = get(kept[k])
                # A weak reference may be gone, but refers to nothing that is.
                found == "gone" || @test isequal(collect(found), collect(get(keep(fields[k]))))
            end
        end
    end
end

@testset "what refers to no field gives it back at once" begin
    plain = [1, 1.5, "text", :symbol, nothing, missing, (1, "a"), [1.0 2.0], ["a", "b"], Dict("a" => [1]), 'c', 1 => 2]
    for x in plain
        @test Forcings.is_plain(x)
    end
    data = sample_at(Provider(WINDS), TIMES[1])
    for (keep, _) in KEEPERS
        @test !Forcings.is_plain(keep(data["uwnd"]))
    end
    @test !Forcings.is_plain(data)
    @test !Forcings.is_plain([data])
    @test !Forcings.is_plain(Vector{Any}(undef, 1))
    GC.enable(false)
    try
        before = Forcings.live_count().pointers
        group = PrefetchGroup(Dict("w" => Provider(WINDS)); transform = (_, data) -> sum(data["uwnd"]))
        start!(group, :forward)
        sums = [take!(group, k)["w"].data for k in 1:EPOCHS]
        close(group)
        @test isequal(sums, [sum(sample_at(Provider(WINDS), t)["uwnd"]) for t in TIMES])
        # Only the samples of the line above are left.
        @test Forcings.live_count().pointers - before == EPOCHS
    finally
        GC.enable(true)
    end
end

struct Unspeakable <: Exception end
Base.showerror(::IO, ::Unspeakable) = error("no words")
struct Garbled <: Exception end
Base.showerror(io::IO, ::Garbled) = write(io, UInt8[0xff, 0x61, 0xc3])
struct Holds <: Exception
    field::Any
end

# What is thrown at the third epoch.
const THROWN = [
    _ -> DomainError(1, "out"),
    _ -> Unspeakable(),
    _ -> Garbled(),
    _ -> ErrorException(""),
    _ -> ErrorException("a\0b"),
    data -> Holds(data["uwnd"]),
    _ -> InterruptException(),
    _ -> "no exception at all",
    _ -> nothing,
]

@testset "what a transform throws is thrown at its epoch, and only there" begin
    field = Array(sample_at(Provider(WINDS), TIMES[3])["uwnd"])
    for (inline, depth) in zip(KINDS, (4, 1)), make in THROWN
        fail = Ref(true)
        function transform(_, data)
            fail[] && isequal(data["uwnd"], field) && throw(make(data))
            return data["gusts"][1]
        end
        PrefetchGroup(Dict("w" => Provider(WINDS)); inline = inline, depth = depth, transform = transform) do group
            start!(group, :forward)
            take!(group, 1)
            take!(group, 2)
            wanted = make(sample_at(Provider(WINDS), TIMES[3]))
            found = try
                take!(group, 3)
                "nothing was thrown"
            catch e
                e
            end
            @test typeof(found) == typeof(wanted)
            GC.gc()
            found isa Holds && @test isequal(found.field, field)
            @test thrown(() -> take!(group, 4)) isa Forcings.GroupError
            fail[] = false
            start!(group, :forward; from = 3)
            @test take!(group, 3)["w"].data == sample_at(Provider(WINDS), TIMES[3])["gusts"][1]
        end
    end
end

@testset "an error of decoding comes before the transform" begin
    for inline in KINDS
        seen = Threads.Atomic{Int}(0)
        transform(_, data) = (Threads.atomic_add!(seen, 1); data["load"][1])
        damaged = Dict("load" => Provider(joinpath(DATA, "damaged.nc")))
        PrefetchGroup(damaged; inline = inline, transform = transform) do group
            start!(group, :forward)
            @test [take!(group, k)["load"].data for k in 1:2] == [0, 1000]
            @test refuses(() -> take!(group, 3), Forcings.FormatError, "damaged.nc")
            start!(group, :forward; from = 4)
            @test [take!(group, k)["load"].data for k in 4:6] == [3000, 4000, 5000]
            @test seen[] == 5
        end
    end
end

@testset "a sample that repeats is transformed once" begin
    for inline in KINDS
        seen = Threads.Atomic{Int}(0)
        transform(_, data) = (Threads.atomic_add!(seen, 1); Ref(data["price"][1]))
        PrefetchGroup(
            members();
            inline = inline,
            transform = (name, data) -> name == "price" ? transform(name, data) : 0,
        ) do group
            start!(group, :forward)
            refs = [take!(group, k)["price"].data for k in 1:EPOCHS]
            @test seen[] == 3
            @test all(k -> refs[k] === refs[k - 1], filter(k -> k % 4 != 1, 2:EPOCHS))
        end
    end
end

@testset "an interrupted wait for a transform leaves the group usable" begin
    for inline in KINDS, n in 1:6
        slow = Ref(true)
        transform(_, data) = (
            slow[] &&
                for _ in 1:200
                    yield()
                end;
            data["gusts"][1]
        )
        PrefetchGroup(Dict("w" => Provider(WINDS)); inline = inline, transform = transform) do group
            start!(group, :forward)
            task = @async take!(group, 1)
            foreach(_ -> yield(), 1:n)
            istaskdone(task) || schedule(task, InterruptException(); error = true)
            thrown(() -> wait(task))
            slow[] = false
            start!(group, :forward)
            @test [take!(group, k)["w"].data for k in 1:3] ==
                [sample_at(Provider(WINDS), t)["gusts"][1] for t in TIMES[1:3]]
        end
    end
end

@testset "a group that is closed under its transform" begin
    for inline in KINDS
        group = PrefetchGroup(Dict("w" => Provider(WINDS)); inline = inline, transform = (_, data) -> (yield(); 1))
        start!(group, :forward)
        task = @async try
            foreach(k -> take!(group, k), 1:EPOCHS)
        catch e
            e
        end
        foreach(_ -> yield(), 1:5)
        close(group)
        @test fetch(task) isa Union{Nothing, Forcings.ClosedError, Forcings.GroupError}
        @test thrown(() -> start!(group, :forward)) isa Forcings.ClosedError
    end
end

@testset "a transform cannot end its own group, which waits for it" begin
    for inline in KINDS, use in (close, g -> cancel!(g; wait = true), g -> take!(g, 1))
        group = nothing
        group = PrefetchGroup(Dict("w" => Provider(WINDS)); inline = inline, transform = (_, data) -> use(group))
        start!(group, :forward)
        @test refuses(() -> take!(group, 1), Forcings.InvalidParameterError, "its own group")
        close(group)
    end
end

@testset "a solver that never yields, and two threads" begin
    output, good = child("child_transform.jl"; threads = 2)
    good || print(output)
    @test good && occursin("ratio below a third", output)
end

@testset "nothing is left" begin
    @test nothing_left()
end
