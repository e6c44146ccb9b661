# Worker processes that share the files of one grid: the example program has the bits of one process in both ways, and
# every file is fetched once for all of them.

include("common.jl")
using Distributed, Sockets

# Serves the bytes of a file at every path of this machine; `asked` counts the requests for each of them.
function serve(f, bytes)
    port, server = listenany(ip"127.0.0.1", 20_000)
    asked = Dict{String, Int}()
    task = @async while isopen(server)
        socket = try
            accept(server)
        catch
            break
        end
        @async try
            path = split(readline(socket))[2]
            foreach(_ -> nothing, Iterators.takewhile(!isempty, eachline(socket)))
            asked[path] = get(asked, path, 0) + 1
            write(socket, "HTTP/1.1 200 OK\r\nContent-Length: $(length(bytes))\r\nConnection: close\r\n\r\n", bytes)
        finally
            close(socket)
        end
    end
    try
        return f("http://127.0.0.1:$port", asked)
    finally
        close(server)
        wait(task)
    end
end

const EXAMPLES = joinpath("..", "..", "examples")

@testset "the example of worker processes, with files behind a server" begin
    winds = read(joinpath(TESTS, EXAMPLES, "data", "monthly_winds.nc"))
    serve(winds) do url, asked
        output, good = child(joinpath(EXAMPLES, "distributed.jl"), url)
        good || print(output)
        @test good
        @test count(line -> startswith(line, "ok "), split(output, '\n')) == 4
        @test asked == Dict("/winds-$year.nc" => 1 for year in 1982:1985)
    end
end

@testset "the example of few snapshots" begin
    output, good = child(joinpath(EXAMPLES, "revolve.jl"), 7, 1)
    good || print(output)
    @test good
    @test length(collect(eachmatch(r"same bits$"m, output))) == 2
    @test occursin(r"^ +1 +0.01 +8646 "m, output)
end

@testset "a process that does not know this package receives the values of a field" begin
    sample = sample_at(Provider(WINDS), DateTime(2001, 1, 1, 6))
    worker = only(addprocs(1; exeflags = "--startup-file=no"))
    try
        received = remotecall_fetch(identity, worker, sample["uwnd"])
        @test received isa Matrix{Float64} && same(received, Array(sample["uwnd"]))
        @test remotecall_fetch(string ∘ typeof, worker, sample["gusts"]) == string(typeof([Int32(1)]))
    finally
        rmprocs(worker)
    end
end
