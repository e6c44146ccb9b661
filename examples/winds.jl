# Eleven years of monthly winds drive a tracer through the North Pacific, forward and as an adjoint backward; the wind
# speed then goes into a store and comes back bit for bit.
#
#     julia --project=julia examples/winds.jl [--shift-forcing]
#
# `--shift-forcing` hands the backward sweep the wrong months: the gradient check must notice, and the program fails.

using Dates, Forcings, LinearAlgebra, Printf, Random, Statistics

include("tracer.jl")

const WINDS = joinpath(@__DIR__, "data", "monthly_winds.nc")
const BASIN = DimWindow("lat" => (36, 65), "lon" => (48, 89)) # 0 to 70 N, 140 E to 120 W
const RESOLUTION = Hour(730) + Minute(30)                     # a twelfth of 8,766 hours

"The winds of an epoch on the basin, as plain matrices over (lon, lat)."
winds(epoch) = (epoch["winds"].data["uwnd"], epoch["winds"].data["vwnd"])

"Carries `q` through all epochs in place; `checkpoints[:, :, k]` keeps the state at the start of epoch `k`."
function forward!(q, model, group; checkpoints = nothing)
    start!(group, :forward)
    for k in eachindex(boundaries(group))
        checkpoints === nothing || (checkpoints[:, :, k] .= q)
        take!(group, k) do epoch
            set_velocity!(model, winds(epoch)...)
        end
        integrate!(q, model)
    end
    return q
end

"Carries the adjoint state `lambda` backward through all epochs in place, each replayed from its checkpoint."
function backward!(lambda, model, group, checkpoints; shift)
    epochs = length(boundaries(group))
    order = [mod1(k + shift, epochs) for k in epochs:-1:1]
    shift == 0 ? start!(group, :reverse) : start!(group, order)
    for (position, k) in enumerate(epochs:-1:1)
        take!(group, order[position]) do epoch
            set_velocity!(model, winds(epoch)...)
        end
        integrate_adjoint!(lambda, view(checkpoints, :, :, k), model)
    end
    return lambda
end

"Largest relative error of the adjoint gradient against central differences in a few random directions."
function gradient_error(model, group, q0, gradient; directions = 3, step = 1.0e-4)
    rng = MersenneTwister(1)
    objective(q) = final_objective(forward!(q, model, group), model)
    errors = map(1:directions) do _
        direction = randn(rng, size(q0)...) .* model.wet
        difference = (objective(q0 .+ step .* direction) - objective(q0 .- step .* direction)) / 2step
        abs(dot(gradient, direction) - difference) / abs(difference)
    end
    return maximum(errors)
end

"Wind speed at `points` for every record: a (records, points) matrix."
function speeds(provider, points)
    times = refresh_times(provider)
    speed = Matrix{Float64}(undef, length(times), length(points))
    PrefetchGroup(Dict("winds" => provider)) do group
        start!(group, :forward)
        for k in eachindex(times)
            take!(group, k) do epoch
                u, v = winds(epoch)
                for (column, point) in enumerate(points)
                    speed[k, column] = hypot(u[point], v[point])
                end
            end
        end
    end
    return speed
end

"`count` grid points with a wind in every record, spread evenly over those there are."
function windy_points(provider, count)
    present = trues(size(sample_at(provider, first(refresh_times(provider)))["uwnd"]))
    for t in refresh_times(provider)
        sample = sample_at(provider, t)
        present .&= isfinite.(sample["uwnd"]) .& isfinite.(sample["vwnd"])
    end
    found = findall(present)
    length(found) >= count || error("only $(length(found)) grid points have a wind in every record")
    return found[round.(Int, range(1, length(found), length = count))]
end

"Writes `speed` as one series a column, reads it back through a `StaticReader`, and counts what differs."
function store_and_sweep(path, times, speed)
    initial = unix2datetime(first(times))
    create_store(path) do store
        add!(
            store,
            [
                (Owner(point, "GridPoint"), SingleTimeSeries("wind_speed", initial, RESOLUTION, speed[:, point]))
                for point in axes(speed, 2)
            ],
        )
    end
    wrong_values = wrong_instants = 0
    seconds = 0.0
    open_store(path; read_only = true) do store
        reader = StaticReader(store; resolution = RESOLUTION)
        for step in 1:length(reader)
            readstep!(reader, step)
            wrong_values += count(values(reader, 1) .!== view(speed, step, :))
        end
        seconds = @elapsed foreach(step -> readstep!(reader, step), length(reader):-1:1)
        wrong_instants = count(Forcings.timestamps(reader) .!= unix2datetime.(times))
        close(reader)
    end
    return (wrong_values = wrong_values, wrong_instants = wrong_instants, seconds_per_step = seconds / length(times))
end

function main(arguments)
    all(==("--shift-forcing"), arguments) || error("the only argument is --shift-forcing, not $(join(arguments, ' '))")
    shift = isempty(arguments) ? 0 : 1
    folder = mktempdir(; prefix = "forcings-winds-", cleanup = false)
    failures = String[]
    check(passed, text) = (println(passed ? "ok      " : "FAILED  ", text); passed || push!(failures, text))

    provider = Provider(WINDS)
    times = refresh_times(provider)
    basin = with_window(provider, BASIN)
    group = PrefetchGroup(Dict("winds" => basin); depth = 2)
    println("$(length(times)) months of winds, $(Date(unix2datetime(times[1]))) to $(Date(unix2datetime(times[end])))")

    sample = sample_at(basin, first(times))
    model = Tracer(sample["lon"], sample["lat"]; seconds = times[2] - times[1])
    limit_to_wet!(model, basin)
    q0 = initial_state(model)
    checkpoints = Array{Float64}(undef, size(q0)..., length(times))
    final = forward!(copy(q0), model, group; checkpoints = checkpoints)
    gradient = backward!(objective_gradient(final, model), model, group, checkpoints; shift = shift)
    sweeps = stats(group)
    worst = gradient_error(model, group, q0, gradient)
    check(worst < 1.0e-6, @sprintf("adjoint gradient against finite differences: relative error %.1e", worst))

    points = windy_points(provider, 1_000)
    speed = speeds(provider, points)
    path = joinpath(folder, "winds.nc")
    swept = store_and_sweep(path, times, speed)
    check(swept.wrong_values == 0, "$(length(speed)) stored values equal the provider's, $(swept.wrong_values) differ")
    check(swept.wrong_instants == 0, "$(length(times)) instants equal the provider's, $(swept.wrong_instants) differ")
    close(group)

    @printf("\n%-28s %d forward, %d backward\n", "epochs", length(times), length(times))
    @printf("%-28s %.2f ms\n", "waited", 1.0e3 * sweeps.waited_s)
    @printf("%-28s %.2f ms\n", "decode", 1.0e3 * sweeps.decode_s)
    @printf("%-28s %s\n", "overlap", sweeps.overlap)
    @printf("%-28s %d\n", "peak bytes of the group", sweeps.peak_bytes)
    @printf("%-28s %d + %d bytes\n", "store (arrays + catalog)", filesize(path), filesize(path * ".sqlite"))
    @printf("%-28s %.1f us for %d series\n", "sweep per step", 1.0e6 * swept.seconds_per_step, size(speed, 2))
    println("files in $folder")
    return isempty(failures) ? 0 : 1
end

exit(main(ARGS))
