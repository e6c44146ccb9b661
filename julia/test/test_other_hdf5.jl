# Another HDF5 and netCDF-C in the process of ours: neither is taken for the other. The variables name a libnetcdf and the
# libhdf5 that it uses.

include("common.jl")

const OTHER = ("FORCINGS_OTHER_NETCDF", "FORCINGS_OTHER_HDF5")

if any(name -> haskey(ENV, name), OTHER)
    cases = [(first, scope) for first in ("other", "ours") for scope in ("local", "global")]
    # Most of the time would go into compiling what runs once.
    run_case(case) = child("child_other_hdf5.jl", case...; options = `--compile=min`)
    results = asyncmap(run_case, cases; ntasks = 2)
    for ((first, scope), (output, good)) in zip(cases, results)
        @testset "$first loaded first, symbols $scope" begin
            good || print(output)
            @test good
            @test occursin("both libraries gave the right values", output)
        end
    end
else
    println("left out: another HDF5 in the process, for which $(join(OTHER, " and ")) have to be set")
end
