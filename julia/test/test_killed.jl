# What a process that is killed leaves behind: exactly what was promised, and a sound store.

include("common.jl")
include("writing.jl")

# The processes that are killed spend most of their short lives compiling.
const QUICK = (options = `-O1`,)

owners_in(store) = [row.owner_id for row in list_series(store)]

@testset "a killed process leaves what was promised" begin
    for (durable, expected) in ((true, [1, 2, 3, 4]), (false, [1, 2, 3]))
        path = joinpath(mktempdir(), "s.nc")
        output, good = child("child_killed.jl", path, durable; QUICK...)
        @test (output, good) == ("", false)
        open_store(path) do store
            @test owners_in(store) == expected
            @test list_series(store; owner = 1)[1].name == (durable ? "demand" : "load")
            @test [read_series(store, row.id).values[1] for row in list_series(store)] == expected
            report = Forcings.verify(store)
            @test (report.findings, report.unused_variables) == ([], 0)
        end
    end
end

# Runs a writer until it has reported `reports` operations, and kills it; the number of the last one that it reported.
function killed_writer(path, durable, first, reports)
    process = open(pipeline(child_command("child_writer.jl", path, durable, first; QUICK...); stderr = stderr), "r")
    done, seen = first - 1, 0
    while !eof(process)
        line = readline(process; keep = true)
        # What was reported before the signal came counts; a line that was cut off does not.
        endswith(line, '\n') || break
        done, seen = parse(Int, line), seen + 1
        seen == reports && kill(process, 9)
    end
    wait(process)
    @test process.termsignal == 9
    return done
end

# The numbers of operations after which a killed writer may have left the store, of which `done` had returned.
function promised(durable, first, done)
    kept = durable ? done : something(findlast(commits, first:done), 0) + first - 1
    return durable || commits(done + 1) ? [kept, done + 1] : [kept]
end

@testset "a writer is killed again and again" begin
    path = joinpath(mktempdir(), "s.nc")
    close(create_store(path))
    done, seed = 0, 20300101
    for round in 1:5
        seed = (1103515245 * seed + 12345) % 2^31
        durable = isodd(round)
        first = done + 1
        last = killed_writer(path, durable, first, 3 + (seed >> 8) % 30)
        # A reader finds the same as a writer.
        done = open_store(path; read_only = round > 3) do store
            found = contents(store)
            matching = filter(n -> contents(n) == found, promised(durable, first, last))
            @test !isempty(matching)
            report = Forcings.verify(store)
            @test (report.findings, report.series) == ([], length(found))
            isempty(matching) ? last : maximum(matching)
        end
    end
    @test done > 15
    open_store(store -> foreach(k -> perform(store, k), (done + 1):(done + 12)), path)
    @test open_store(contents, path; read_only = true) == contents(done + 12)
    @test sort(readdir(dirname(path))) == ["s.nc", "s.nc.sqlite"]
end
