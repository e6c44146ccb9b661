# Eleven years of monthly winds carry a tracer, and its adjoint goes back over them with few of the states in memory: a
# schedule of binomial checkpointing says which to keep and which months to go over again. The gradient has the bits of
# the one with every state in memory.
#
#     julia --project=julia examples/revolve.jl [SNAPSHOTS...]

using Forcings, Printf

include("tracer.jl")

const WINDS = joinpath(@__DIR__, "data", "monthly_winds.nc")
const BASIN = DimWindow("lat" => (36, 65), "lon" => (48, 89)) # 0 to 70 N, 140 E to 120 W

"Takes epoch `k`, the next of the order, and gives the model its winds."
function set_epoch!(model, group, k)
    take!(group, k) do epoch
        set_velocity!(model, epoch["winds"].data["uwnd"], epoch["winds"].data["vwnd"])
    end
    return nothing
end

"The gradient of the objective with respect to the first state; keeps the state at the start of every epoch."
function gradient_of_all(model, group, q0)
    epochs = eachindex(boundaries(group))
    q, states = copy(q0), Array{Float64}(undef, size(q0)..., length(epochs))
    start!(group, :forward)
    for k in epochs
        states[:, :, k] .= q
        set_epoch!(model, group, k)
        integrate!(q, model)
    end
    lambda = objective_gradient(q, model)
    start!(group, :reverse)
    for k in reverse(epochs)
        set_epoch!(model, group, k)
        integrate_adjoint!(lambda, view(states, :, :, k), model)
    end
    return lambda
end

"The same with as many states as the `schedule` has snapshots."
function gradient_of_few(model, group, q0, schedule)
    q, snapshots, lambda = copy(q0), [similar(q0) for _ in 1:schedule.snapshots], similar(q0)
    start!(group, Forcings.epochs(schedule))
    for step in schedule
        if step.action === :store
            copyto!(snapshots[step.slot], q)
        elseif step.action === :restore
            copyto!(q, snapshots[step.slot])
        elseif step.action === :advance
            for k in step.epochs
                set_epoch!(model, group, k)
                integrate!(q, model)
            end
        else
            k = only(step.epochs)
            set_epoch!(model, group, k)
            # The end of the last epoch is where the adjoint begins.
            k == schedule.epochs && copyto!(lambda, objective_gradient(integrate!(copy(q), model), model))
            integrate_adjoint!(lambda, q, model)
        end
    end
    return lambda
end

function main(arguments)
    rooms = isempty(arguments) ? [131, 20, 10, 5, 3] : parse.(Int, arguments)
    basin = with_window(Provider(WINDS), BASIN)
    times = refresh_times(basin)
    sample = sample_at(basin, first(times))
    model = Tracer(sample["lon"], sample["lat"]; seconds = times[2] - times[1])
    limit_to_wet!(model, basin)
    q0 = initial_state(model)

    wrong = 0
    PrefetchGroup(Dict("winds" => basin); depth = 2) do group
        reference = gradient_of_all(model, group, q0)
        @printf("%9s %9s %9s %9s %10s %9s\n", "snapshots", "MiB", "advanced", "stored", "seconds", "gradient")
        for s in rooms
            schedule = Forcings.revolve(length(times), s)
            seconds = @elapsed gradient = gradient_of_few(model, group, q0, schedule)
            same = reinterpret(UInt64, gradient) == reinterpret(UInt64, reference)
            counts = stats(schedule)
            mebibytes = s * sizeof(q0) / 2^20
            words = same ? "same bits" : "DIFFERS"
            @printf("%9d %9.2f %9d %9d %10.2f %9s\n", s, mebibytes, counts.advanced, counts.stored, seconds, words)
            wrong += !same
        end
    end
    return wrong == 0 ? 0 : 1
end

exit(main(ARGS))
