# Windows: their form, and what is refused.

include("common.jl")

@testset "selectors" begin
    w = DimWindow("lat" => (1, 3), "lon" => [4, 5, 0], "lev" => :all, "edge" => (0, 2, 2))
    @test w.dims["lat"] == (slice = [1, 3],)
    @test w.dims["edge"] == (slice = [0, 2, 2],)
    @test w.dims["lon"] == (indices = [4, 5, 0],)
    @test w.dims["lev"] == "all"
    @test DimWindow(Dict("lat" => (1, 3))).dims == Dict("lat" => (slice = [1, 3],))
end

@testset "refused" begin
    @test refuses(() -> DimWindow("lat" => 2:3), Forcings.InvalidParameterError, "range 2:3", "(1, 3)", "\"lat\"")
    for (range, wrong) in ((0:3, "(-1, 3)"), (1:2:9, "(0, 9)"))
        @test refuses(() -> DimWindow("lat" => range), Forcings.InvalidParameterError, "range $range")
        @test !occursin(wrong, thrown(() -> DimWindow("lat" => range)).message)
    end
    @test refuses(() -> DimWindow("lat" => (-1, 3)), Forcings.InvalidParameterError, "negative")
    @test refuses(() -> DimWindow("lat" => [-1]), Forcings.InvalidParameterError, "negative")
    @test refuses(() -> DimWindow("lat" => :some), Forcings.InvalidParameterError, ":some")
    # A mask is no list of indices.
    @test refuses(() -> DimWindow("lat" => [true, false]), Forcings.InvalidParameterError, "vector of indices")
    @test refuses(() -> DimWindow("lat" => trues(3)), Forcings.InvalidParameterError, "vector of indices")
    @test refuses(() -> DimWindow("lat" => (false, true)), Forcings.InvalidParameterError, "(start, stop)")
    @test refuses(() -> DimWindow("lat" => (0, 1), "lat" => (0, 2)), Forcings.InvalidParameterError, "once")
    @test refuses(() -> DimWindow("lat" => (0, 1), :lat => (0, 2)), Forcings.InvalidParameterError, "once")
    @test refuses(() -> DimWindow("lat" => 3), Forcings.InvalidParameterError, "\"lat\"")
end
