use super::*;

fn column(table: &ForcingsTable, i: u64) -> (String, i32, *const c_void, *const u64, *const u8) {
    let (mut name, mut len, mut kind) = (std::ptr::null(), 0, 0);
    let (mut values, mut ends, mut nulls) = (std::ptr::null(), std::ptr::null(), std::ptr::null());
    // SAFETY: local variables and a table that is alive; the name is UTF-8 of the given length.
    unsafe {
        let status =
            forcings_table_column(table, i, &mut name, &mut len, &mut kind, &mut values, &mut ends, &mut nulls);
        assert_eq!(status, 0);
        let name = std::str::from_utf8(std::slice::from_raw_parts(name, len as usize)).unwrap().to_owned();
        (name, kind, values, ends, nulls)
    }
}

#[test]
fn every_kind_of_column_comes_out_as_it_went_in() {
    let array = Array::from_f64(vec![2], &[0.5, 1.5]).unwrap();
    let shapes: [&[usize]; 2] = [&[], &[3, 4]];
    let table = ForcingsTable::new(2)
        .integers("id", [Some(4), None].into_iter())
        .doubles("x", [Some(0.5), Some(-0.0)].into_iter())
        .bools("flag", [Some(true), None].into_iter())
        .texts("name", [Some("wind"), Some("é")].into_iter())
        .integer_lists("shape", shapes.into_iter())
        .arrays("values", vec![array.clone(), array])
        .instant_lists("times", [None, Some(&[UnixMillis(-1), UnixMillis(9)][..])].into_iter())
        .double_lists("levels", [Some(&[0.1, 0.9][..]), None].into_iter())
        .periods(["step_ms", "step_months"], [Some(Period::Fixed(5)), Some(Period::Months(3))].into_iter())
        .counts("n", [Some(7), Some(u64::MAX)].into_iter());
    // SAFETY: each slice lies in a column of the table, which is alive, with the length that the kind gives.
    unsafe {
        let (name, kind, values, ends, nulls) = column(&table, 0);
        assert_eq!((name.as_str(), kind, ends.is_null()), ("id", 0, true));
        assert_eq!(*values.cast::<i64>(), 4);
        assert_eq!(std::slice::from_raw_parts(nulls, 2), [0, 1]);
        let (_, kind, values, _, nulls) = column(&table, 1);
        assert_eq!((kind, nulls.is_null()), (1, true));
        assert_eq!((*values.cast::<f64>().add(1)).to_bits(), (-0.0_f64).to_bits());
        let (_, kind, values, _, _) = column(&table, 2);
        assert_eq!((kind, *values.cast::<u8>()), (2, 1));
        let (_, kind, values, ends, _) = column(&table, 3);
        assert_eq!((kind, std::slice::from_raw_parts(ends, 2)), (3, &[4, 6][..]));
        assert_eq!(std::slice::from_raw_parts(values.cast::<u8>(), 6), "windé".as_bytes());
        let (_, kind, values, ends, _) = column(&table, 4);
        assert_eq!((kind, std::slice::from_raw_parts(ends, 2)), (4, &[0, 2][..]));
        assert_eq!(std::slice::from_raw_parts(values.cast::<i64>(), 2), [3, 4]);
        let (_, kind, values, lengths, _) = column(&table, 5);
        assert_eq!((kind, *lengths.add(1)), (5, 16));
        let second = *values.cast::<*const u8>().add(1);
        assert_eq!(std::slice::from_raw_parts(second.add(8), 8), 1.5_f64.to_le_bytes());
        let (_, kind, values, ends, nulls) = column(&table, 6);
        assert_eq!((kind, std::slice::from_raw_parts(ends, 2)), (4, &[0, 2][..]));
        assert_eq!(std::slice::from_raw_parts(values.cast::<i64>(), 2), [-1, 9]);
        assert_eq!(std::slice::from_raw_parts(nulls, 2), [1, 0]);
        let (_, kind, values, ends, nulls) = column(&table, 7);
        assert_eq!((kind, std::slice::from_raw_parts(ends, 2)), (6, &[2, 2][..]));
        assert_eq!(std::slice::from_raw_parts(values.cast::<f64>(), 2), [0.1, 0.9]);
        assert_eq!(std::slice::from_raw_parts(nulls, 2), [0, 1]);
        for (i, expected, null) in [(8, 5, [0, 1]), (9, 3, [1, 0]), (10, 7, [0, 1])] {
            let (_, kind, values, _, nulls) = column(&table, i);
            assert_eq!((kind, std::slice::from_raw_parts(nulls, 2)), (0, &null[..]));
            assert!(std::slice::from_raw_parts(values.cast::<i64>(), 2).contains(&expected));
        }
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let (mut rows, mut columns) = (9, 9);
    // SAFETY: null pointers are refused before they are used; the others are local variables.
    unsafe {
        assert_eq!(forcings_table_size(std::ptr::null(), &mut rows, &mut columns), 1);
        assert_eq!((rows, columns), (0, 0));
        forcings_table_free(std::ptr::null_mut());
        let table = ForcingsTable::new(3).into_raw();
        assert_eq!(forcings_table_size(table, std::ptr::null_mut(), &mut columns), 1);
        assert_eq!(forcings_table_size(table, &mut rows, &mut columns), 0);
        assert_eq!((rows, columns), (3, 0));
        forcings_table_free(table);
    }
}
