# A tracer carried by a fraction of the wind, spread by diffusion and lost at a rate that grows with its
# concentration: explicit finite volumes on a longitude-latitude grid, and their discrete adjoint.

const EARTH_RADIUS = 6.371e6 # m
const DRIFT = 0.03           # surface current per wind speed
const DIFFUSIVITY = 1.0e4    # m2/s
const LOSS = 1.0e-9          # 1/s per unit of concentration
const STEPS = 24             # per epoch

"""
The grid, the velocities of one epoch, and the work space. The flux through the face between a cell `l` and the next
cell `r` is `left * q[l] + right * q[r]`; `east_*` holds the faces between neighbours in longitude, `north_*` in latitude.
"""
struct Tracer
    dt::Float64
    longitudes::Vector{Float64}
    latitudes::Vector{Float64}
    area::Matrix{Float64}
    wet::BitMatrix
    east_left::Matrix{Float64}
    east_right::Matrix{Float64}
    north_left::Matrix{Float64}
    north_right::Matrix{Float64}
    tendency::Matrix{Float64}
    replay::Array{Float64, 3}
end

function Tracer(longitudes, latitudes; seconds)
    lon, lat = collect(Float64, longitudes), collect(Float64, latitudes)
    nx, ny = length(lon), length(lat)
    spacing = EARTH_RADIUS^2 * deg2rad(lon[2] - lon[1]) * deg2rad(lat[2] - lat[1])
    area = [spacing * cosd(lat[j]) for _ in 1:nx, j in 1:ny]
    faces() = (zeros(nx - 1, ny), zeros(nx - 1, ny), zeros(nx, ny - 1), zeros(nx, ny - 1))
    return Tracer(seconds / STEPS, lon, lat, area, trues(nx, ny), faces()..., zeros(nx, ny), zeros(nx, ny, STEPS))
end

"Marks as dry each cell that lacks a wind in some record."
function limit_to_wet!(model, provider)
    for t in refresh_times(provider)
        sample = sample_at(provider, t)
        model.wet .&= isfinite.(sample["uwnd"]) .& isfinite.(sample["vwnd"])
    end
    return model
end

"A patch of tracer in the west of the basin."
function initial_state(model)
    lon0, lat0 = model.longitudes[end ÷ 4], model.latitudes[end ÷ 2]
    patch = [exp(-((x - lon0) / 15)^2 - ((y - lat0) / 10)^2) for x in model.longitudes, y in model.latitudes]
    return patch .* model.wet
end

"Half the area-weighted square of the concentration in the eastern half."
function final_objective(q, model)
    total, east = 0.0, size(q, 1) ÷ 2
    for j in axes(q, 2), i in east:size(q, 1)
        total += model.area[i, j] * q[i, j]^2
    end
    return total / (2 * sum(model.area))
end

"The gradient of `final_objective` with respect to its state."
function objective_gradient(q, model)
    gradient = zero(q)
    east = size(q, 1) ÷ 2
    gradient[east:end, :] .= view(model.area, east:size(q, 1), :) .* view(q, east:size(q, 1), :) ./ sum(model.area)
    return gradient
end

"Upwind and diffusive coefficients of one face."
function face(velocity, length, distance)
    return length * (max(velocity, 0.0) + DIFFUSIVITY / distance),
        length * (min(velocity, 0.0) - DIFFUSIVITY / distance)
end

"Sets the fluxes of every face from the winds `u` and `v` over (lon, lat); faces of dry cells are shut."
function set_velocity!(model, u, v)
    wet = model.wet
    nx, ny = size(wet)
    dlon = deg2rad(model.longitudes[2] - model.longitudes[1])
    dlat = deg2rad(model.latitudes[2] - model.latitudes[1])
    height = EARTH_RADIUS * dlat
    @inbounds for j in 1:ny, i in 1:(nx - 1)
        open = wet[i, j] && wet[i + 1, j]
        width = EARTH_RADIUS * cosd(model.latitudes[j]) * dlon
        velocity = DRIFT * (u[i, j] + u[i + 1, j]) / 2
        model.east_left[i, j], model.east_right[i, j] = open ? face(velocity, height, width) : (0.0, 0.0)
    end
    @inbounds for j in 1:(ny - 1), i in 1:nx
        open = wet[i, j] && wet[i, j + 1]
        width = EARTH_RADIUS * cosd((model.latitudes[j] + model.latitudes[j + 1]) / 2) * dlon
        velocity = DRIFT * (v[i, j] + v[i, j + 1]) / 2
        model.north_left[i, j], model.north_right[i, j] = open ? face(velocity, width, height) : (0.0, 0.0)
    end
    return model
end

"One explicit step."
function step!(q, model)
    d = fill!(model.tendency, 0.0)
    nx, ny = size(q)
    @inbounds for j in 1:ny, i in 1:(nx - 1)
        flux = model.east_left[i, j] * q[i, j] + model.east_right[i, j] * q[i + 1, j]
        d[i, j] -= flux
        d[i + 1, j] += flux
    end
    @inbounds for j in 1:(ny - 1), i in 1:nx
        flux = model.north_left[i, j] * q[i, j] + model.north_right[i, j] * q[i, j + 1]
        d[i, j] -= flux
        d[i, j + 1] += flux
    end
    @. q += model.dt * (d / model.area - LOSS * q^2)
    return q
end

"The transpose of the derivative of `step!` at the state `q` before the step."
function step_adjoint!(lambda, q, model)
    d = fill!(model.tendency, 0.0)
    area = model.area
    nx, ny = size(q)
    @inbounds for j in 1:ny, i in 1:(nx - 1)
        pull = lambda[i + 1, j] / area[i + 1, j] - lambda[i, j] / area[i, j]
        d[i, j] += model.east_left[i, j] * pull
        d[i + 1, j] += model.east_right[i, j] * pull
    end
    @inbounds for j in 1:(ny - 1), i in 1:nx
        pull = lambda[i, j + 1] / area[i, j + 1] - lambda[i, j] / area[i, j]
        d[i, j] += model.north_left[i, j] * pull
        d[i, j + 1] += model.north_right[i, j] * pull
    end
    @. lambda += model.dt * (d - 2 * LOSS * q * lambda)
    return lambda
end

"All steps of one epoch."
function integrate!(q, model)
    for _ in 1:STEPS
        step!(q, model)
    end
    return q
end

"The adjoint of `integrate!`, replayed from the state `q` at the start of the epoch."
function integrate_adjoint!(lambda, q, model)
    replay = model.replay
    replay[:, :, 1] .= q
    for s in 2:STEPS
        replay[:, :, s] .= view(replay, :, :, s - 1)
        step!(view(replay, :, :, s), model)
    end
    for s in STEPS:-1:1
        step_adjoint!(lambda, view(replay, :, :, s), model)
    end
    return lambda
end
