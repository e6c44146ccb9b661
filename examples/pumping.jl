# The depth of the thermocline under changing winds: their curl pumps it up or down, and it relaxes. Every cell has an
# equation of its own, but the curl there needs the winds of the four cells around.

using Forcings

const AIR_DRAG = 1.2 * 1.3e-3        # kg/m3, density of air times drag coefficient
const WATER = 1025.0                 # kg/m3
const EARTH_RADIUS = 6.371e6         # m
const ROTATION = 2 * 7.2921e-5       # 1/s
const RELAXATION = 1 / (365 * 86400) # 1/s
const STEPS = 10                     # an epoch

"The window of the cells `lon` × `lat`, counted from 0, with the halo: one more cell on every side."
with_halo(lon, lat) = DimWindow("lon" => (first(lon) - 1, last(lon) + 2), "lat" => (first(lat) - 1, last(lat) + 2))

"The pumping velocity in the cells within the halo, from the winds `u` and `v` over (lon, lat)."
function pumping(u, v, lon, lat)
    stress(i, j, component) = AIR_DRAG * hypot(u[i, j], v[i, j]) * component[i, j]
    return [
        begin
            width = EARTH_RADIUS * cosd(lat[j]) * deg2rad(lon[i + 1] - lon[i - 1])
            height = EARTH_RADIUS * deg2rad(lat[j + 1] - lat[j - 1])
            curl = (stress(i + 1, j, v) - stress(i - 1, j, v)) / width -
                (stress(i, j + 1, u) - stress(i, j - 1, u)) / height
            curl / (WATER * ROTATION * sind(lat[j]))
        end
        for i in 2:(length(lon) - 1), j in 2:(length(lat) - 1)
    ]
end

"Carries the depth anomaly `h` (m) over an epoch of so many `seconds`."
function integrate!(h, velocity, seconds)
    for _ in 1:STEPS
        @. h -= seconds / STEPS * (velocity + RELAXATION * h)
    end
    return h
end

"The depth of the cells at the end of all epochs, from the winds of `provider` in a window with halo."
function thermocline(provider, lon, lat)
    h = zeros(length(lon), length(lat))
    PrefetchGroup(Dict("winds" => with_window(provider, with_halo(lon, lat)))) do group
        start!(group, :forward)
        times = boundaries(group)
        for k in 1:(length(times) - 1)
            take!(group, k) do epoch
                data = epoch["winds"].data
                integrate!(h, pumping(data["uwnd"], data["vwnd"], data["lon"], data["lat"]), times[k + 1] - times[k])
            end
        end
    end
    return h
end
