# Finds the native library, opens it and checks that it speaks this package's version of the interface.

const LIBRARY_VARIABLE = "FORCINGS_LIBRARY"
const ABI_MAJOR = 1
const ABI_MINOR = 0

# The path of the library, or an error that names every place that was looked at.
function find_library()
    tried = String[]
    path = get(ENV, LIBRARY_VARIABLE, "")
    if isempty(path)
        push!(tried, "the environment variable $LIBRARY_VARIABLE is not set")
    else
        isfile(path) && return path
        push!(tried, "$LIBRARY_VARIABLE names $path, which is no file")
    end
    note = normpath(@__DIR__, "..", "..", "deps", "build", "library-path.txt")
    if isfile(note)
        path = strip(read(note, String))
        isfile(path) && return String(path)
        push!(tried, "$note names $path, which is no file")
    else
        push!(tried, "there is no $note")
    end
    error(
        "the native library of Forcings was not found: ",
        join(tried, "; "),
        ". Run `make setup` in the repository, or set $LIBRARY_VARIABLE to the path of the library.",
    )
end

# Julia's default flags would resolve the unwinder's symbols in the wrong library on some systems; then a panic that
# the library catches would still end the process.
function open_library(path)
    handle = Libdl.dlopen(path, Libdl.RTLD_LAZY | Libdl.RTLD_LOCAL)
    version = ccall(Libdl.dlsym(handle, :forcings_abi_version), UInt32, ())
    major, minor = version >> 16, version & 0xffff
    if major != ABI_MAJOR || minor < ABI_MINOR
        error(
            "the library $path has version $major.$minor of the interface, but this package needs ",
            "$ABI_MAJOR.$ABI_MINOR or a later $ABI_MAJOR.x; build the library of the same release",
        )
    end
    for f in FOREIGN
        f.slot[] = Libdl.dlsym(handle, f.name)
    end
    return nothing
end
