# The program that sweeps a year of profiles, on a folder of the same form: its sums, its clock, and what it refuses.

include("common.jl")
include(joinpath("..", "..", "examples", "real_year.jl"))

const FILES = ("LoadProfile.csv", "RESProfile.csv", "PowerPlantProfile.csv", "StorageProfile.csv")

# The program with these arguments: its exit code, what it prints, and what it logs.
function program(arguments...)
    path, logger = tempname(), Test.TestLogger(min_level = LogLevel(-1))
    code = open(path, "w") do io
        redirect_stdout(() -> redirect_stderr(() -> with_logger(() -> main(arguments), logger), io), io)
    end
    return code, read(path, String), logger.logs
end

# A profile file with these times and, for each time, this text after it.
function write_profiles(path, names, times, rows)
    write(path, "time;$names\n", (string(time, ';', row, '\n') for (time, row) in zip(times, rows))...)
    return path
end

const SPRING = ["27.03.2016 01:30", "27.03.2016 01:45", "27.03.2016 03:00", "27.03.2016 03:15"]
const AUTUMN = ["30.10.2016 $t" for t in ("02:30", "02:45", "02:00", "02:15", "02:30", "02:45", "03:00")]

@testset "the program adds up what the files say" begin
    mktempdir() do folder
        file(i) = joinpath(folder, FILES[i])
        write_profiles(file(1), "H0-A_pload;H0-A_qload", SPRING, ["0.5;-0.25", "1;0.25", "1;0.5", "0.5;0.5"])
        write_profiles(file(2), "PV1;WP1", SPRING, ["0;1", "0;1", "9.99E-99;1", "1;1"])
        write_profiles(file(3), "pp_1", SPRING, fill("0.7", 4))
        write_profiles(file(4), "Storage_PV4_3%_e_MWh", SPRING, fill("1e-3", 4))
        store = joinpath(folder, "year.nc")
        code, output, logs = program(folder, store)
        @test code == 0
        @test occursin("6 series, 4 steps from 2016-03-27T00:30:00 to 2016-03-27T01:15:00 UTC", output)
        @test occursin("2 steps in summer time", output)
        @test length(collect(eachmatch(r"^ok "m, output))) == 3
        @test occursin(r"^LoadProfile P +1 +0.750 +0.750 +0.750$"m, output)
        @test occursin(r"^LoadProfile Q +1 +0.250 +0.250 +0.250$"m, output)
        @test occursin(r"^RESProfile P +2 +0.250 +0.625 +1.000$"m, output)
        open_store(store; read_only = true) do store
            row = only(list_series(store; name = "reactive_power"))
            @test (row.owner_type, row.owner_category, row.units) == ("LoadProfile", :attribute, "p.u.")
            @test row.owner_id == only(list_series(store; name = "active_power", owner_type = "LoadProfile")).owner_id
            wind = only(list_series(store; features = (profile = "WP1",)))
            @test read_series(store, wind.id) ==
                SingleTimeSeries("active_power", DateTime(2016, 3, 27, 0, 30), Minute(15), ones(4))
        end
        progress(title) = [log.kwargs[:progress] for log in logs if log.message == title]
        @test all(title -> last(progress(title)) == "done", ["LoadProfile", "StorageProfile", "forward", "backward"])
        @test length(Set(log.id for log in logs)) == 6

        code, output = program(folder, store)
        @test code == 1
        @test startswith(output, "StoreExistsError: ")
        write_profiles(file(4), "S1", SPRING[[1, 2, 4]], fill("1", 3))
        code, output = program(folder)
        @test code == 1
        @test startswith(output, "ArgumentError: $(file(4)), line 4: ")
        rm(file(4))
        code, output = program(folder)
        @test code == 0 && occursin("5 series", output)
        @test program(joinpath(folder, "none"))[1] == 1
        @test program(folder, store, "more")[1] == 2
    end
end

@testset "profiles are in German civil time" begin
    mktempdir() do folder
        path = joinpath(folder, "Profile.csv")
        autumn = read_profiles(write_profiles(path, "a", AUTUMN, 1:7))
        @test autumn.initial == DateTime(2016, 10, 30, 0, 30)
        @test autumn.columns == [1.0:7.0]
        @test civil.(autumn.initial .+ (0:6) .* STEP) == DateTime.(clock_texts(path), CLOCK)
        @test read_profiles(write_profiles(path, "a", AUTUMN[2:end], 1:6)).initial == DateTime(2016, 10, 30, 0, 45)
        @test issummer.(DateTime(2016, 3, 27, 1) .- (Millisecond(1), Millisecond(0))) == (false, true)
        @test issummer.(DateTime(2016, 10, 30, 1) .- (Millisecond(1), Millisecond(0))) == (true, false)
        @test clock_change(2030, 3) == DateTime(2030, 3, 31, 1) && clock_change(2027, 10) == DateTime(2027, 10, 31, 1)

        reads(times) = () -> read_profiles(write_profiles(path, "a", times, eachindex(times)))
        @test refuses(reads(AUTUMN[[1, 2, 7]]), ArgumentError, path, "line 4", "03:00 where 30.10.2016 02:00 is due")
        @test refuses(reads(AUTUMN[[1, 1]]), ArgumentError, "line 3", "02:30 where 30.10.2016 02:45 is due")
        @test refuses(reads([SPRING[1:2]; "27.03.2016 02:00"]), ArgumentError, "line 4", "03:00 is due")
        @test refuses(reads(["27.03.2016 02:00"]), ArgumentError, "never show")
        @test refuses(reads(["2016-03-27 01:30"]), ArgumentError, "line 2", "is not a time")
    end
end

@testset "a line that is not what the first line says" begin
    mktempdir() do folder
        path = joinpath(folder, "Profile.csv")
        reads(names, row) = () -> read_profiles(write_profiles(path, names, SPRING, ["1;2", row, "5;6", "7;8"]))
        @test reads("a;b", "3;4")().columns == [[1.0, 3, 5, 7], [2.0, 4, 6, 8]]
        @test text_sums(path) == ([16.0, 20], [16.0, 20])
        @test refuses(reads("a;b", "3"), ArgumentError, path, "line 3", "has 2 fields, not 3")
        @test refuses(reads("a;b", "3;4;5"), ArgumentError, "line 3", "more than 3 fields")
        for text in ("", "x", "NaN", "Inf", "0,5", "é")
            @test refuses(reads("a;b", "3;$text"), ArgumentError, "line 3", "field 3 is $(repr(text))")
        end
        @test refuses(reads("a;a", "3;4"), ArgumentError, "line 1", "twice")
        @test refuses(() -> read_profiles(write_profiles(path, "a", [], [])), ArgumentError, "no values")
        write(path, "")
        @test refuses(() -> read_profiles(path), ArgumentError, "line 1", "time;")
    end
end
