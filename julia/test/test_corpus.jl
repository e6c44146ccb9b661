# The corpus: every case and every scenario, offline, from its cache root.

include("corpus.jl")

const CASES = corpus_cases()

@testset "every case is listed, and its format is run" begin
    @test sort([entry["file"] for (entry, _) in CASES]) == sort("cases/" .* readdir(joinpath(CORPUS, "cases")))
    @test unique(sort([case["format"] for (_, case) in CASES])) == ["netcdf", "zarr"]
    @test corpus_file("cases.json")["cache_format_version"] == "v1"
end

@testset "cases" begin
    cache = corpus_cache()
    for (entry, case) in CASES
        @test case_faults(entry, case, cache) == []
    end
end

@testset "the comparison sees what differs" begin
    case = corpus_file("cases/masked.json")
    data = sample_at(Provider(joinpath(CORPUS, case["blob_path"])), 0)
    @test faults(data, case["expected"]) == []
    for (part, other) in (
            "data" => Any[1.0, nothing, nothing, 5.0],
            "data" => Any[1.0, 2.0, nothing, 4.0],
            "data" => Any[nothing, nothing, nothing, 4.0],
            "dims" => ["y"],
        )
        expected = corpus_file("cases/masked.json")["expected"]
        expected["variables"]["both"][part] = other
        @test length(faults(data, expected)) == 1
    end
    # Dimensions and shapes are compared where they are given.
    expected = corpus_file("cases/masked.json")["expected"]
    for field in values(expected["variables"])
        delete!(field, "dims")
        delete!(field, "shape")
        field["fill_value"] = nothing
    end
    @test faults(data, expected) == []
    @test !same(data["zeros"], [NaN, 0.0, 1.0, 2.0])
    @test same(data["zeros"], [NaN, -0.0, 1.0, 2.0])
    delete!(case["expected"]["variables"], "single")
    @test length(faults(data, case["expected"])) == 1
end

if Sys.islinux()
    @testset "no socket is opened" begin
        output, good = child("child_corpus.jl")
        @test good && endswith(output, "HELD $(length(CASES))\n")
        good || @info output
        @test !last(child("child_corpus.jl", "open"))
    end
end

function run_samples(name)
    cache = corpus_cache()
    for run in corpus_file("scenarios/$name.json")["runs"]
        p = series(run["source"], cache, run["records_per_sample"])
        for sample in run["samples"]
            @test faults(sample_at(p, sample["t"]), sample["expected"]) == []
            @test same(refresh(p, sample["t"]), sample_at(p, sample["t"]))
        end
    end
    return nothing
end

@testset "records and brackets" begin
    run_samples("records")
    run_samples("brackets")
end

# A field sliced by the names of its dimensions, by a window in the wire form.
function sliced(data, name, window)
    picks = map(zip(Forcings.dims(data, name), axes(data[name]))) do (dim, axis)
        selector = get(window["dims"], dim, "all")
        selector == "all" && return collect(axis)
        haskey(selector, "indices") && return Int.(selector["indices"]) .+ 1
        start, stop, step = (selector["slice"]..., 1)[1:3]
        return collect(start:step:(stop - 1)) .+ 1
    end
    return isempty(picks) ? data[name] : data[name][picks...]
end

function compare_windows(p, windows)
    for t in refresh_times(p)
        whole = sample_at(p, t)
        together = sample_windows_at(p, t, windows)
        @test length(together) == length(windows)
        for (data, window) in zip(together, windows)
            @test same(data, sample_at(with_window(p, window), t))
            @test all(name -> same(data[name], sliced(whole, name, window)), keys(whole))
        end
    end
    return nothing
end

# The same by a group with the option `windows`, in both directions.
function compare_group_windows(fresh, windows)
    times = refresh_times(fresh())
    wanted = [[sample_at(with_window(fresh(), w), t) for w in windows] for t in times]
    for inline in (false, true), max_bytes in (nothing, 1)
        options = (windows = windows, inline = inline, depth = 3, workers = 2, max_bytes = max_bytes)
        PrefetchGroup(Dict("Q" => fresh()); options...) do group
            for (order, epochs) in (:forward => eachindex(times), :reverse => reverse(eachindex(times)))
                start!(group, order)
                for k in epochs
                    found = take!(group, k)["Q"].data
                    @test length(found) == length(windows) && all(map(same, found, wanted[k]))
                end
            end
        end
    end
    return nothing
end

@testset "several windows of one sample" begin
    scenario, cache = corpus_file("scenarios/multi-window.json"), corpus_cache()
    constant, discrete = scenario["const"], scenario["discrete"]
    p = Provider(
        constant["url"];
        format = constant["format"],
        cache = cache,
        times = [0.0],
        variables = constant["variables"],
    )
    compare_windows(p, constant["windows"])
    for records in discrete["records_per_sample"]
        compare_windows(series(discrete["source"], cache, records), discrete["windows"])
        compare_group_windows(() -> series(discrete["source"], cache, records), discrete["windows"])
    end
end

# The epochs of a declared order, from 1, and the order as it is given to `start!`.
declared(order::String, n) = order == "forward" ? (:forward, 1:n) : (:reverse, n:-1:1)
declared(order::Vector, n) = (Int.(order) .+ 1, Int.(order) .+ 1)

# Every order of the scenario, against the samples that each member is to have, by epoch.
function compare_orders(group, scenario, wanted)
    expect = scenario["expect"]
    for given in scenario["orders"]
        order, epochs = declared(given, length(expect["boundaries_s"]))
        start!(group, order)
        for k in epochs
            epoch = take!(group, k)
            @test all(key -> same(epoch[key].data, wanted[key][k]), keys(wanted))
            @test all(key -> epoch[key].anchor == expect["anchors_s"][key][k], keys(wanted))
            given == "forward" || continue
            @test all(key -> epoch[key].changed == expect["changed_forward"][key][k], keys(wanted))
        end
        @test thrown(() -> take!(group, epochs[1])) isa Forcings.GroupError
    end
end

@testset "a group gives what fresh providers give" begin
    scenario, cache = corpus_file("scenarios/prefetch-equivalence.json"), corpus_cache()
    members, times = scenario["members"], scenario["expect"]["boundaries_s"]
    fresh(member) = series(scenario["sources"][member["source"]], cache, member["records_per_sample"])
    wanted = Dict(m["key"] => [sample_at(fresh(m), t) for t in times] for m in members)
    for depth in scenario["depth"], workers in scenario["workers"], max_bytes in scenario["max_bytes"]
        options = (depth = depth, workers = workers, max_bytes = max_bytes, inline = false)
        PrefetchGroup(Dict(m["key"] => fresh(m) for m in members); options...) do group
            @test boundaries(group) == times
            compare_orders(group, scenario, wanted)
        end
    end
end

@testset "a group under windows gives what fresh providers give" begin
    scenario, cache = corpus_file("scenarios/prefetch-equivalence.json"), corpus_cache()
    times = scenario["expect"]["boundaries_s"]
    for window in scenario["windows"]
        fresh = Dict(
            m["key"] => with_window(series(scenario["sources"][m["source"]], cache, m["records_per_sample"]), window)
            for m in scenario["members"]
        )
        wanted = Dict(key => [sample_at(p, t) for t in times] for (key, p) in fresh)
        for max_bytes in (nothing, 1)
            PrefetchGroup(fresh; depth = 2, workers = 4, max_bytes = max_bytes, inline = false) do group
                compare_orders(group, scenario, wanted)
            end
        end
    end
end

@testset "what is missing is an error of its own epoch" begin
    scenario, cache = corpus_file("scenarios/prefetch-errors.json"), corpus_cache()
    missing_from, cancel_after = scenario["missing_from"] + 1, scenario["cancel_after"]
    p = series(scenario["source"], cache, scenario["records_per_sample"])
    PrefetchGroup(Dict("Q" => p); depth = scenario["depth"], workers = scenario["workers"], inline = false) do group
        start!(group, :forward)
        before = [take!(group, k)["Q"].data for k in 1:(missing_from - 1)]
        @test eventually(() -> isready(group, missing_from))
        @test thrown(() -> take!(group, missing_from)) isa Forcings.CacheMissError
        @test refuses(() -> take!(group, missing_from), Forcings.GroupError, "start!")
        start!(group, :forward)
        foreach(k -> take!(group, k), 1:cancel_after)
        cancel!(group)
        @test thrown(() -> take!(group, cancel_after + 1)) isa Forcings.GroupError
        start!(group, :forward; from = cancel_after + 1)
        @test all(k -> same(take!(group, k)["Q"].data, before[k]), (cancel_after + 1):(missing_from - 1))
        @test thrown(() -> take!(group, missing_from)) isa Forcings.CacheMissError
    end
    cold = series(scenario["source"], Cache(mktempdir(); offline = true), scenario["records_per_sample"])
    PrefetchGroup(Dict("Q" => cold); inline = false) do group
        start!(group, :forward)
        @test thrown(() -> take!(group, 1)) isa Forcings.CacheMissError
    end
end
