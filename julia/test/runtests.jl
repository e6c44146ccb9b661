# Runs every test file, each in a module of its own; each also runs alone. The last line counts.

using Test

files = filter(name -> startswith(name, "test_") && endswith(name, ".jl"), readdir(@__DIR__))
isempty(ARGS) || filter!(name -> any(part -> occursin(part, name), ARGS), files)

passes(set) = set.n_passed + mapreduce(passes, +, filter(r -> r isa Test.AbstractTestSet, set.results); init = 0)

passed, failed = try
    set = @testset "Forcings, $(Threads.nthreads()) thread(s)" begin
        for file in files
            @testset "$file" begin
                seconds = @elapsed @eval module $(Symbol(file[1:(end - 3)]))
                include($(joinpath(@__DIR__, file)))
                end
                println(rpad(file, 24), round(seconds; digits = 1), " s")
            end
        end
    end
    passes(set), 0
catch e
    e isa Test.TestSetException || rethrow()
    e.pass, e.fail + e.error
end

println("JULIA TESTS: $passed passed, $failed failed")
exit(failed == 0 && passed > 0 ? 0 : 1)
