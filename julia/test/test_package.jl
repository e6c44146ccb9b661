# The package as its users meet it: names, documentation, examples, what is printed, and a library that is not there.

include("common.jl")

@testset "using it with its neighbours prints nothing" begin
    script = joinpath(mktempdir(), "using.jl")
    names_used = join(sort!(filter(!=(:Forcings), names(Forcings))), ", ")
    write(
        script,
        """
        using Test, Dates, LinearAlgebra, Statistics, Distributed, Forcings
        for x in ($names_used,)
            x isa Union{Function,Type} || error("an exported name is neither a function nor a type")
        end
        """,
    )
    output, good = child(script)
    @test (output, good) == ("", true)
end

@testset "every exported name is documented" begin
    for name in names(Forcings)
        text = string(Base.Docs.doc(Base.Docs.Binding(Forcings, name)))
        @test (name, !occursin("No documentation found", text)) == (name, true)
    end
end

# The Julia blocks of the docstrings, by the name that they document.
function examples()
    found = Pair{Symbol, String}[]
    for (binding, docs) in Base.Docs.meta(Forcings), text in values(docs.docs)
        source = join(text.text)
        foreach(m -> push!(found, binding.var => m[1]), eachmatch(r"```julia\n(.*?)```"s, source))
    end
    return sort!(found; by = string ∘ first)
end

@testset "the examples of the documentation run" begin
    list = examples()
    @test length(list) >= 10
    for (name, code) in list
        sandbox = Module(:example)
        Core.eval(sandbox, :(using Dates, Forcings))
        error = thrown(() -> Base.include_string(sandbox, code, "example of $name"))
        error === nothing || @info "the example of $name fails" error
        @test (name, error) == (name, nothing)
    end
end

@testset "exceptions" begin
    @test sprint(showerror, Forcings.NotFoundError("nothing here")) == "NotFoundError: nothing here"
    for (status, type) in Forcings.ERROR_TYPES
        e = type("text")
        @test e isa Forcings.ForcingsError && e.message == "text" && "$(e.kind)Error" == string(nameof(type))
    end
    @test length(unique(values(Forcings.ERROR_TYPES))) == length(Forcings.ERROR_TYPES)
end

@testset "a library that cannot be found or is another version" begin
    @test refuses(ErrorException, "/none/libforcings.so, which is no file", "make setup") do
        withenv(Forcings.find_library, "FORCINGS_LIBRARY" => "/none/libforcings.so")
    end
    withenv("FORCINGS_LIBRARY" => WINDS) do
        @test Forcings.find_library() == WINDS
    end
    @test thrown(() -> Forcings.open_library(WINDS)) isa ErrorException
end
