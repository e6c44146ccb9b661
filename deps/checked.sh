# Sourced: `checked` holds the cargo options that turn debug assertions on in the crates of
# this repository. Dependencies, and with them the C libraries, are left as they were built.
checked=()
for crate in forcings forcings-capi; do
    checked+=(--config "profile.release.package.$crate.debug-assertions=true")
done
