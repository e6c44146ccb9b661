//! `include/forcings.h` is what the sources say, and the built library exports what the header declares.
//!
//! With `FORCINGS_WRITE_HEADER=1` in the environment the header is written instead of compared.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const PREFACE: &str = "/* The C interface of Forcings. Generated from the Rust sources by `make header`; never edited.
 *
 * A function returns a ForcingsStatus; `forcings_last_error` has the text of the last one of its thread that was not 0.
 * Out-parameters are zeroed first and written only on success.
 * A handle (uint64_t) names a store, a reader, a provider, a group or a job; it may be closed twice and in any order,
 * and its use after that is FORCINGS_STATUS_CLOSED. Pointers to opaque types are counted: one free or release for each.
 * Text is UTF-8, a pointer and a length in bytes; structured arguments are JSON text; times are milliseconds since 1970
 * where they are integers.
 * Every function may be called on any thread; a reader and a group serve one caller at a time.
 * A function with `out_job` runs on the caller's thread when that is null. Otherwise it returns at once with a handle
 * in it: wait until `forcings_job_wait`, then `forcings_job_finish` returns the status and writes the other
 * out-parameters; they, and the arguments said to be borrowed, must stay valid until then.
 * `forcings_handle_release` instead drops the result, and closes what the call opened.
 */
";

#[test]
fn header_is_what_the_sources_say() {
    let generated = generated_header();
    let path = header_path();
    if std::env::var_os("FORCINGS_WRITE_HEADER").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "{} is out of date; `make header` writes it", path.display());
}

#[test]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() {
    let declared: BTreeSet<String> = functions(&generated_header());
    assert!(declared.contains("forcings_abi_version"));
    let library = built_library();
    let output = Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(&library).output();
    let output = output.expect("binutils' nm, which the C compiler needs too, is installed");
    assert!(output.status.success(), "nm failed on {}", library.display());
    let exported = String::from_utf8(output.stdout).unwrap();
    let exported: BTreeSet<String> = exported.lines().filter_map(|l| l.split(' ').next()).map(str::to_owned).collect();
    assert_eq!(exported, declared);
}

fn header_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include/forcings.h")
}

/// The shared library that cargo built beside this test: the test's own folder is `deps`.
fn built_library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("{}forcings_capi{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    test.parent().unwrap().join(name)
}

fn generated_header() -> String {
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        include_guard: Some("FORCINGS_H".into()),
        no_includes: true,
        sys_includes: vec!["stdint.h".into()],
        header: Some(PREFACE.into()),
        documentation_style: cbindgen::DocumentationStyle::C99,
        style: cbindgen::Style::Both,
        usize_is_size_t: true,
        ..Default::default()
    };
    config.function.args = cbindgen::Layout::Auto;
    config.enumeration.rename_variants = cbindgen::RenameRule::QualifiedScreamingSnakeCase;
    config.export.include = vec!["ForcingsStatus".into()];
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_crate(env!("CARGO_MANIFEST_DIR"))
        .generate()
        .expect("cbindgen reads the sources that rustc compiled");
    let mut text = Vec::new();
    bindings.write(&mut text);
    String::from_utf8(text).unwrap()
}

/// The names that are followed by a parenthesis outside comments.
fn functions(header: &str) -> BTreeSet<String> {
    let code: Vec<&str> =
        header.lines().filter(|l| !l.trim_start().starts_with("//") && !l.starts_with(" *")).collect();
    let code = code.join("\n");
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '('));
    words
        .filter_map(|w| w.split_once('('))
        .map(|(name, _)| name.to_owned())
        .filter(|n| n.starts_with("forcings_"))
        .collect()
}
