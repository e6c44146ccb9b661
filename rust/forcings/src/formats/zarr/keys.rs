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

/// Checks the names of arrays before anything is fetched.
///
/// # Errors
/// `InvalidParameter` for no names, and for one that is no path below the store.
pub(crate) fn check_names(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Err(Error::invalid("a Zarr store cannot be listed; give the names of the variables to read"));
    }
    for name in names {
        let stays = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(is_special);
        if !name.split('/').all(stays) {
            return Err(Error::invalid(format!(
                "\"{}\" cannot be the name of an array in a Zarr store",
                name.escape_debug()
            )));
        }
    }
    Ok(())
}

/// Characters that would end the path of a URL, or mean something to a file system.
fn is_special(c: char) -> bool {
    c.is_control() || c.is_whitespace() || matches!(c, '\\' | '?' | '#')
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
        let check = |name: &str| check_names(&[name.to_string()]);
        for good in ["q", "a/b/c", "T 2m".replace(' ', "_").as_str(), "..a", "größe", "a.b"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "/q", "q/", "a//b", "..", "a/../b", "./a", "a\\..", "q?x", "q#bytes=0-1", "a\0", "a\nb", "a b"]
        {
            let error = check(bad).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::InvalidParameter, "{bad}");
        }
        assert!(check_names(&[]).unwrap_err().to_string().contains("cannot be listed"));
    }
}
