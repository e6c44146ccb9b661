# Finds the native library, opens it and checks that it speaks this package's version of the interface.

const LIBRARY_VARIABLE = "FORCINGS_LIBRARY"
const ABI_MAJOR = 1
const ABI_MINOR = 0

# The path of the library: the one that the variable names, else the one that the last build noted. A variable that names
# none is an error, since whoever set it wants no other library.
function find_library()
    path = get(ENV, LIBRARY_VARIABLE, "")
    isempty(path) || return isfile(path) ? path : not_found("$LIBRARY_VARIABLE names $path, which is no file")
    note = normpath(@__DIR__, "..", "..", "deps", "build", "library-path.txt")
    isfile(note) || not_found("$LIBRARY_VARIABLE is not set, and there is no $note")
    path = String(strip(read(note, String)))
    return isfile(path) ? path : not_found("$note names $path, which is no file")
end

function not_found(why)
    error(
        "the native library of Forcings was not found: $why. Run `make setup` in the repository, or set ",
        "$LIBRARY_VARIABLE to the path of the library.",
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
