# The writer of structured arguments, and the tests' own reader.

include("common.jl")
include("read_json.jl")

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

@testset "reading" begin
    for (text, value) in [
            ("null", nothing),
            (" [true, false]\n", [true, false]),
            ("-0.0", -0.0),
            ("-7", -7),
            ("1e3", 1000.0),
            ("0.1", 0.1),
            ("9223372036854775807", typemax(Int)),
            ("\"a\\\"\\\\\\/\\u00e9\\ud83d\\ude00é\\n\"", "a\"\\/é😀é\n"),
            ("{}", Dict{String, Any}()),
            ("{\"a\": [1, {\"b\": []}], \"c\":\"\"}", Dict("a" => [1, Dict("b" => [])], "c" => "")),
        ]
        @test isequal(read_json(text), value)
        @test read_json(text) isa typeof(value) || value isa Union{Dict, Vector}
    end
    # What is written is read again.
    nested = Dict{String, Any}("x" => Any[1, 2.5, nothing, true, "é\"\0"], "y" => Dict{String, Any}())
    @test isequal(read_json(Forcings.json(nested)), nested)
    for bad in [
            "",
            "{",
            "[1,]",
            "[1 2]",
            "{\"a\":1,\"a\":2}",
            "01",
            "1.",
            "+1",
            "nul",
            "\"\\x\"",
            "\"\\ud83d\"",
            "\"a",
            "1 2",
            "{a:1}",
            "\"\n\"",
        ]
        @test_throws ErrorException read_json(bad)
    end
end
