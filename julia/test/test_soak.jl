# A short soak of prefetch groups, with checked bounds; `make soak` runs a long one.

include("common.jl")

@testset "orders, errors, interrupts and closes by chance" begin
    output, good = child("child_soak.jl", 30; options = `--check-bounds=yes`)
    good && occursin("nothing left", output) || print(output)
    @test good
    @test occursin("nothing left", output)
    @test occursin(r"taken +\d+", output)
end
