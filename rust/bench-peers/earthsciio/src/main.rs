//! Times the crate `earthsciio` at gridded epochs, the files of `python/write_epochs.py`. Requests and answers: see
//! README.md one folder up.

mod epochs;

use std::process::ExitCode;

fn main() -> ExitCode {
    peer_common::serve("earthsciio", "0.2.0", epochs::answer)
}
