# Header and foreign signatures say the same; nothing but capi.jl calls the library.

include("common.jl")

const HEADER = normpath(@__DIR__, "..", "..", "rust", "forcings-capi", "include", "forcings.h")

const C_TYPES = Dict(
    "void" => Cvoid,
    "int32_t" => Int32,
    "uint32_t" => UInt32,
    "int64_t" => Int64,
    "uint64_t" => UInt64,
    "uint8_t" => UInt8,
    "double" => Float64,
    "ForcingsWake" => Ptr{Cvoid},
)

# The Julia type of a C type; a pointer to a struct of the library is a pointer to anything.
function julia_type(text)
    base = strip(replace(text, r"\b(const|struct)\b|\*" => ""))
    pointers = count(==('*'), text)
    type = get(C_TYPES, base, nothing)
    type === nothing && occursin(r"^Forcings\w+$", base) && pointers > 0 && (type = Cvoid)
    type === nothing && error("unknown C type $text")
    for _ in 1:pointers
        type = Ptr{type}
    end
    return type
end

# Name => (types of the arguments, type of the result), from the text of a header.
function prototypes(header)
    code = replace(replace(header, r"/\*.*?\*/"s => ""), r"//[^\n]*" => "")
    found = Dict{Symbol, Tuple{Vector{DataType}, DataType}}()
    for m in eachmatch(r"(\w+\s+\**)(forcings_\w+)\(([^)]*)\)\s*;", code)
        arguments = strip(m[3]) == "void" ? [] : split(m[3], ',')
        types = DataType[julia_type(replace(strip(argument), r"\w+$" => "")) for argument in arguments]
        found[Symbol(m[2])] = (types, julia_type(m[1]))
    end
    return found
end

@testset "every signature is the header's" begin
    declared = prototypes(read(HEADER, String))
    called = Dict(f.name => (f.arguments, f.returns) for f in Forcings.FOREIGN)
    @test length(declared) > 40
    @test length(called) == length(Forcings.FOREIGN)
    @test Set(keys(declared)) == Set(keys(called))
    for (name, (arguments, returns)) in declared
        @test (name, called[name]...) == (name, arguments, returns)
    end
end

@testset "the comparison notices a difference" begin
    declared = prototypes("int32_t forcings_x(const uint8_t *const *text, // a\n double t /* b */);")
    @test declared[:forcings_x] == ([Ptr{Ptr{UInt8}}, Float64], Int32)
end

@testset "the struct for adding is the header's" begin
    fields = match(r"typedef struct ForcingsSeries \{(.*?)\}"s, read(HEADER, String))[1]
    code = replace(fields, r"//[^\n]*" => "")
    declared = [(Symbol(m[2]), julia_type(m[1])) for m in eachmatch(r"((?:const )?\w+\s+\**)(\w+);", code)]
    @test declared == collect(zip(fieldnames(Forcings.SeriesItem), fieldtypes(Forcings.SeriesItem)))
end

@testset "every status has an exception type" begin
    statuses = Dict(
        parse(Int32, m[2]) => m[1]
        for m in eachmatch(r"FORCINGS_STATUS_(\w+) = (\d+),", read(HEADER, String))
    )
    @test length(statuses) > 15
    @test Set(keys(statuses)) == union(keys(Forcings.ERROR_TYPES), [0, 64, 65])
    for (status, type) in Forcings.ERROR_TYPES
        @test replace(statuses[status], "_" => "") == uppercase(replace(string(nameof(type)), "Error" => ""))
    end
    @test (statuses[64], statuses[Forcings.HOST_STATUS]) == ("GROUP", "HOST")
end

@testset "the version is the header's" begin
    version = parse(UInt32, match(r"#define FORCINGS_ABI_VERSION (\d+)", read(HEADER, String))[1])
    @test Forcings.forcings_abi_version() == version
    @test (version >> 16, version & 0xffff) == (Forcings.ABI_MAJOR, Forcings.ABI_MINOR)
end

@testset "foreign calls stand in one file" begin
    source = normpath(@__DIR__, "..", "src")
    for file in readdir(source)
        code = read(joinpath(source, file), String)
        @test (file, occursin("ccall(", code)) == (file, file in ("capi.jl", "library.jl"))
    end
end
