# The example program: its gradient check must notice winds of the wrong month, and nothing else may fail.

include("common.jl")

@testset "the adjoint sweep with shifted epochs fails its check" begin
    output, good = child(joinpath("..", "..", "examples", "winds.jl"), "--shift-forcing")
    @test !good
    @test length(collect(eachmatch(r"^FAILED"m, output))) == 1
    @test occursin("FAILED  adjoint gradient", output)
end
