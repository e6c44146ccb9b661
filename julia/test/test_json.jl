# The writer of structured arguments.

include("common.jl")

@testset "values" begin
    for (value, text) in [
            (nothing, "null"),
            (true, "true"),
            (3, "3"),
            (0x10, "16"),
            (typemin(Int64), "-9223372036854775808"),
            (typemax(UInt64), "18446744073709551615"),
            (1.0, "1.0"),
            (1.0f0, "1.0"),
            (1.0e300, "1.0e300"),
            (-0.1, "-0.1"),
            (:all, "\"all\""),
            ("é", "\"é\""),
            ("a\"b\\c\n\0", "\"a\\\"b\\\\c\\u000a\\u0000\""),
            ([1, 2], "[1,2]"),
            ((1, "a"), "[1,\"a\"]"),
            ((;), "{}"),
            ((a = 1, b = (c = nothing,)), "{\"a\":1,\"b\":{\"c\":null}}"),
            (Dict("x" => [true]), "{\"x\":[true]}"),
            (1:3, "[1,2,3]"),
            (SubString("abc", 2), "\"bc\""),
        ]
        @test Forcings.json(value) == text
    end
end

@testset "what has no JSON form is refused" begin
    @test refuses(() -> Forcings.json(NaN), Forcings.InvalidParameterError, "NaN")
    @test refuses(() -> Forcings.json([1.0, -Inf]), Forcings.InvalidParameterError, "-Inf")
    @test refuses(() -> Forcings.json("\xff"), Forcings.InvalidParameterError, "UTF-8")
end
