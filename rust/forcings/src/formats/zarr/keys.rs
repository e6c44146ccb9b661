//! Names of arrays and keys of objects: what may stand in them, and how they are put together.

use crate::{Error, Result};

/// How the coordinates of an object become its key below the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyEncoding {
    /// Whether keys begin with `c`, as by default in version 3.
    pub(super) prefixed: bool,
    /// Between the parts: `.` or `/`.
    pub(super) separator: char,
}

impl KeyEncoding {
    /// The key of the object at these coordinates.
    pub(super) fn key(self, coords: &[u64]) -> String {
        let mut parts: Vec<String> = coords.iter().map(u64::to_string).collect();
        if self.prefixed {
            parts.insert(0, "c".into());
        } else if parts.is_empty() {
            parts.push("0".into());
        }
        parts.join(&String::from(self.separator))
    }
}

/// Checks the names of arrays of a store behind a URL, or of a local one, before anything is fetched.
///
/// # Errors
/// `InvalidParameter` for no names, and for one that is no path below the store.
pub(crate) fn check_names(names: &[String], is_remote: bool) -> Result<()> {
    if names.is_empty() {
        return Err(Error::invalid("a Zarr store cannot be listed; give the names of the variables to read"));
    }
    for name in names {
        let why = if let Some(part) = name.split('/').find(|part| matches!(*part, "" | "." | "..")) {
            format!("a part of it is \"{part}\"")
        } else if let Some(c) = name.chars().find(|c| is_special(*c)) {
            format!("it holds {c:?}")
        } else if let Some(c) = name.chars().find(|c| is_remote && ends_url(*c)) {
            format!("it holds {c:?}, which no URL can")
        } else {
            continue;
        };
        let name = name.escape_debug();
        return Err(Error::invalid(format!("\"{name}\" cannot be the name of an array in a Zarr store: {why}")));
    }
    Ok(())
}

/// Characters that mean something to a file system, or end a line.
fn is_special(c: char) -> bool {
    c.is_control() || c == '\\'
}

/// Characters that would end the path of a URL.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '?' | '#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_94_keys_are_joined_by_the_separator() {
        let v2 = KeyEncoding { prefixed: false, separator: '.' };
        assert_eq!(v2.key(&[1, 0, 22]), "1.0.22");
        assert_eq!(v2.key(&[3]), "3");
        assert_eq!(v2.key(&[]), "0");
        assert_eq!(KeyEncoding { separator: '/', ..v2 }.key(&[1, 0]), "1/0");
        let v3 = KeyEncoding { prefixed: true, separator: '/' };
        assert_eq!(v3.key(&[1, 0]), "c/1/0");
        assert_eq!(v3.key(&[]), "c");
        assert_eq!(KeyEncoding { separator: '.', ..v3 }.key(&[1, 0]), "c.1.0");
    }

    #[test]
    fn names_stay_below_the_store() {
        let check = |name: &str, is_remote| check_names(&[name.to_string()], is_remote);
        for good in ["q", "a/b/c", "T_2m", "..a", "größe", "a.b"] {
            assert!(check(good, true).is_ok() && check(good, false).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("", "a part of it is \"\""),
            ("/q", "a part of it is \"\""),
            ("q/", "a part of it is \"\""),
            ("a//b", "a part of it is \"\""),
            ("..", "a part of it is \"..\""),
            ("a/../b", "a part of it is \"..\""),
            ("./a", "a part of it is \".\""),
            ("a\\..", "it holds '\\\\'"),
            ("a\0", "it holds '\\0'"),
            ("a\nb", "it holds '\\n'"),
        ] {
            for is_remote in [false, true] {
                let error = check(bad, is_remote).unwrap_err();
                assert_eq!(error.kind(), crate::ErrorKind::InvalidParameter, "{bad}");
                assert!(error.to_string().ends_with(why), "{error}");
            }
        }
        for (name, c) in [("q?x", "'?'"), ("q#bytes=0-1", "'#'"), ("T 2m", "' '")] {
            assert!(check(name, false).is_ok(), "{name}");
            let error = check(name, true).unwrap_err().to_string();
            assert!(error.ends_with(&format!("it holds {c}, which no URL can")), "{error}");
        }
        assert!(check_names(&[], false).unwrap_err().to_string().contains("cannot be listed"));
    }
}
