# Runs every case of the corpus where the kernel ends a process that opens a socket. With the argument `open`, opens one.
# Prints how many cases hold.

include("corpus.jl")
using Sockets: @ip_str, listen

const SOCKET_CALL = Dict(:x86_64 => 41, :aarch64 => 198)[Sys.ARCH]

# One instruction of the kernel's filter.
struct Instruction
    code::UInt16
    if_true::UInt8
    if_false::UInt8
    value::UInt32
end

# From here on, threads that this one starts included.
function forbid_sockets()
    # Load the number of the system call; if it is that of `socket`, end the process; allow it otherwise.
    filter = [
        Instruction(0x20, 0, 0, 0),
        Instruction(0x15, 0, 1, SOCKET_CALL),
        Instruction(0x06, 0, 0, 0x80000000),
        Instruction(0x06, 0, 0, 0x7fff0000),
    ]
    GC.@preserve filter begin
        program = Ref((UInt16(length(filter)), pointer(filter)))
        prctl(option, a, b) = ccall(:prctl, Cint, (Cint, Culong, Ptr{Cvoid}, Culong, Culong), option, a, b, 0, 0)
        new_privileges, seccomp, by_filter = 38, 22, 2
        GC.@preserve program begin
            prctl(new_privileges, 1, C_NULL) == 0 || error("no filter of system calls")
            prctl(seccomp, by_filter, Base.unsafe_convert(Ptr{Cvoid}, program)) == 0 ||
                error("no filter of system calls")
        end
    end
    return nothing
end

# The library's threads start from this one, so that the filter holds for them.
forbid_sockets()
ARGS == ["open"] && listen(ip"127.0.0.1", 0)
cache = corpus_cache()
held = 0
for (entry, case) in corpus_cases()
    found = case_faults(entry, case, cache)
    foreach(println, found)
    global held += isempty(found)
end
println("HELD $held")
