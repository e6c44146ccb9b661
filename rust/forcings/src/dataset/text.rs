//! Strings out of arrays of characters. Trailing NULs are padding; trailing blanks are data.

/// Splits `bytes` into this many strings of equal length; bytes that are not UTF-8 become replacement characters.
pub(super) fn rows(bytes: &[u8], count: usize) -> Vec<String> {
    let width = bytes.len() / count.max(1);
    let row = |i: usize| {
        let row = &bytes[i * width..][..width];
        let end = row.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        String::from_utf8_lossy(&row[..end]).into_owned()
    };
    (0..count).map(row).collect()
}

/// One string for each byte, empty for a NUL; `None` if one is not ASCII, since then cells and characters differ.
pub(super) fn cells(bytes: &[u8]) -> Option<Vec<String>> {
    let cell = |byte: &u8| match byte {
        0 => Some(String::new()),
        byte => byte.is_ascii().then(|| char::from(*byte).to_string()),
    };
    bytes.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lose_their_padding_and_keep_their_blanks() {
        assert_eq!(rows(b"ab\0\0cd  \0\0\0\0e\0f\0", 4), ["ab", "cd  ", "", "e\0f"]);
        assert_eq!(rows(b"", 2), ["", ""]);
        assert_eq!(rows(b"", 0), [""; 0]);
        assert_eq!(rows(b"gr\xfcn", 1), ["gr\u{fffd}n"]);
        assert_eq!(rows("grün".as_bytes(), 1), ["grün"]);
    }

    #[test]
    fn cells_are_single_characters() {
        assert_eq!(cells(b"a\0 z").unwrap(), ["a", "", " ", "z"]);
        assert_eq!(cells("ü".as_bytes()), None);
    }
}
