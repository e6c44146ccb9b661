//! Names, shapes, chunks, attributes and slots as the format has them, seen by us and by netCDF-C.

use super::*;

#[test]
fn netcdf_c_sees_the_format() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let file = create(&path);
    let scalar = pool(DType::F64, &[], 8760);
    let matrix = pool(DType::F64, &[3, 2], 2);
    let hashes = put_batch(&file, &scalar, 0..600);
    put_batch(&file, &matrix, 0..5);
    put(&file, &pool(DType::Bool, &[], 4), 1);
    put(&file, &pool(DType::F32, &[200], 3), 1);
    put_batch(&file, &pool(DType::F64, &[32768], 1), 0..6);
    put(&file, &pool(DType::U64, &[], 0), 1);
    file.set_attribute("pair_id", "abc").unwrap();
    file.close().unwrap();

    let nc = netcdf::open(&path).unwrap();
    let text = |name: &str| match nc.attribute(name).unwrap().value().unwrap() {
        netcdf::AttributeValue::Str(text) => text,
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(text("data_format_version"), "0.11.0");
    assert_eq!(text("compression"), "deflate:3:shuffle");
    assert_eq!(text("pair_id"), "abc");
    let group = nc.group("time_series/single").unwrap().unwrap();
    let described: Vec<String> = group
        .variables()
        .filter(|v| !v.name().ends_with("_h"))
        .map(|v| {
            let dims: Vec<String> = v.dimensions().iter().map(|d| format!("{}={}", d.name(), d.len())).collect();
            format!("{} {:?} ({}) {:?}", v.name(), v.vartype(), dims.join(" "), v.chunking().unwrap().unwrap())
        })
        .collect();
    let expected = [
        "sts_f64_s_8760_PT1H Float(F64) (sts_f64_s_8760_PT1H_t=8760 sts_f64_s_8760_PT1H_c=600) [1, 600]",
        "sts_f64_3x2_2_PT1H Float(F64) (sts_f64_3x2_2_PT1H_t=2 sts_f64_3x2_2_PT1H_c=5 sts_f64_3x2_2_PT1H_e0=3 \
         sts_f64_3x2_2_PT1H_e1=2) [2, 5, 3, 2]",
        "sts_bool_s_4_PT1H Int(U8) (sts_bool_s_4_PT1H_t=4 sts_bool_s_4_PT1H_c=1000) [4, 1000]",
        "sts_f32_200_3_PT1H Float(F32) (sts_f32_200_3_PT1H_t=3 sts_f32_200_3_PT1H_c=1000 \
         sts_f32_200_3_PT1H_e0=200) [1, 1000, 200]",
        "sts_f64_32768_1_PT1H Float(F64) (sts_f64_32768_1_PT1H_t=1 sts_f64_32768_1_PT1H_c=4 \
         sts_f64_32768_1_PT1H_e0=32768) [1, 4, 32768]",
        "sts_f64_32768_1_PT1H__1 Float(F64) (sts_f64_32768_1_PT1H__1_t=1 sts_f64_32768_1_PT1H__1_c=2 \
         sts_f64_32768_1_PT1H__1_e0=32768) [1, 2, 32768]",
        "sts_u64_s_0_PT1H Int(U64) (sts_u64_s_0_PT1H_t=0 sts_u64_s_0_PT1H_c=1000) [1, 1000]",
    ];
    assert_eq!(described, expected);
    let data = group.variable("sts_f64_s_8760_PT1H").unwrap();
    let column: Vec<f64> = data.get_values((.., 7)).unwrap();
    assert_eq!(column, array(&scalar, 7).to_f64().unwrap());
    assert_eq!(data.fill_value::<f64>().unwrap(), Some(9.969209968386869e36));
    let names = group.variable("sts_f64_s_8760_PT1H_h").unwrap();
    assert_eq!(names.dimensions()[0].name(), "sts_f64_s_8760_PT1H_c");
    assert_eq!(names.get_string([599]).unwrap(), hashes[599].to_hex());
    let flags = group.variable("sts_bool_s_4_PT1H_h").unwrap();
    assert_eq!(flags.get_string([0]).unwrap().len(), 64);
    assert_eq!(flags.get_string([999]).unwrap(), "");
    let flags: Vec<u8> = group.variable("sts_bool_s_4_PT1H").unwrap().get_values((.., 0..2)).unwrap();
    let stored = array(&pool(DType::Bool, &[], 4), 1);
    assert_eq!(flags.iter().step_by(2).copied().collect::<Vec<_>>(), stored.bytes());
    assert_eq!(flags[1], 255);
    assert!(group.dimension("sts_u64_s_0_PT1H_t").unwrap().is_unlimited());
    let attributes: usize = group.variables().map(|v| v.attributes().count()).sum();
    assert_eq!(attributes, 0);
}

#[test]
fn what_netcdf_c_writes_is_read_and_added_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let series = pool(DType::F64, &[], 4);
    let (first, alone) = (array(&series, 1), array(&pool(DType::I32, &[3], 5), 2));
    {
        let mut nc = netcdf::create(&path).unwrap();
        nc.add_attribute("data_format_version", "0.11.0").unwrap();
        nc.add_attribute("compression", "deflate:1:noshuffle").unwrap();
        let mut group = nc.add_group("time_series/single").unwrap();
        group.add_dimension("sts_f64_s_4_PT1H_t", 4).unwrap();
        group.add_dimension("sts_f64_s_4_PT1H_c", 3).unwrap();
        let name = format!("arr_{}", alone.view().hash().to_hex());
        let dims = [format!("{name}_d0"), format!("{name}_d1")];
        group.add_dimension(&dims[0], 5).unwrap();
        group.add_dimension(&dims[1], 3).unwrap();
        let mut data =
            group.add_variable::<f64>("sts_f64_s_4_PT1H", &["sts_f64_s_4_PT1H_t", "sts_f64_s_4_PT1H_c"]).unwrap();
        data.set_chunking(&[1, 3]).unwrap();
        data.set_compression(1, false).unwrap();
        data.put_values(&first.to_f64().unwrap(), (.., 1)).unwrap();
        let mut names = group.add_string_variable("sts_f64_s_4_PT1H_h", &["sts_f64_s_4_PT1H_c"]).unwrap();
        for (i, text) in ["", &first.view().hash().to_hex(), ""].iter().enumerate() {
            names.put_string(text, [i]).unwrap();
        }
        let mut whole = group.add_variable::<i32>(&name, &[&dims[0], &dims[1]]).unwrap();
        let values: Vec<i32> = alone.bytes().chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
        whole.put_values(&values, ..).unwrap();
    }
    let file = open(&path, false);
    assert_eq!(file.compression, Compression::Deflate { level: 1, shuffle: false });
    assert_eq!(file.read(&first.view().hash()).unwrap(), first);
    assert_eq!(file.read(&alone.view().hash()).unwrap(), alone);
    assert_eq!(file.read_rows(&alone.view().hash(), 2..4).unwrap().bytes(), &alone.bytes()[24..48]);
    let added = [put(&file, &series, 5), put(&file, &series, 6), put(&file, &series, 7)];
    let expected = ["sts_f64_s_4_PT1H:0", "sts_f64_s_4_PT1H:2", "sts_f64_s_4_PT1H__1:0"];
    assert_eq!(places(&file, &added), expected);
    file.close().unwrap();

    let nc = netcdf::open(&path).unwrap();
    let group = nc.group("time_series/single").unwrap().unwrap();
    let values: Vec<f64> = group.variable("sts_f64_s_4_PT1H").unwrap().get_values((.., 2)).unwrap();
    assert_eq!(values, array(&series, 6).to_f64().unwrap());
    let values: Vec<f64> = group.variable("sts_f64_s_4_PT1H__1").unwrap().get_values((.., 0)).unwrap();
    assert_eq!(values, array(&series, 7).to_f64().unwrap());
    let dims = group.dimensions().map(|d| d.name()).collect::<Vec<_>>();
    assert_eq!(dims.len(), 6, "{dims:?}");
}

#[test]
fn layouts_that_we_do_not_write_are_read_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let series = pool(DType::F64, &[], 6);
    let stored: Vec<Array> = (0..4).map(|seed| array(&series, seed)).collect();
    let hashes: Vec<ArrayHash> = stored.iter().map(|a| a.view().hash()).collect();
    drop(foreign_file(&path, &stored));
    let file = open(&path, false);
    assert_eq!(file.read_many(&hashes).unwrap(), stored);
    assert_eq!(file.read_rows(&hashes[3], 3..5).unwrap().bytes(), &stored[3].bytes()[24..40]);
    let added = put(&file, &series, 9);
    assert_eq!(places(&file, &[added]), ["sts_f64_s_6_PT1H__2:0"]);
    file.remove_many(&[hashes[0], hashes[3]]).unwrap();
    file.close().unwrap();
    let file = open(&path, true);
    assert_eq!(file.hashes().len(), 3);
    assert_eq!(file.read_many(&hashes[1..3]).unwrap(), stored[1..3]);
}

#[test]
fn one_at_a_time_spills_at_a_thousand() {
    let file = memory(DEFAULT);
    let series = pool(DType::I32, &[], 3);
    let hashes: Vec<ArrayHash> = (0..1001).map(|seed| put(&file, &series, seed)).collect();
    let expected = ["sts_i32_s_3_PT1H:0", "sts_i32_s_3_PT1H:999", "sts_i32_s_3_PT1H__1:0"];
    assert_eq!(places(&file, &[hashes[0], hashes[999], hashes[1000]]), expected);
    for (seed, read) in file.read_many(&hashes).unwrap().iter().enumerate() {
        assert_eq!(*read, array(&series, seed));
    }
    file.remove_many(&[hashes[5], hashes[1000], hashes[3]]).unwrap();
    assert_eq!(file.read(&hashes[5]).unwrap_err().kind(), ErrorKind::NotFound);
    let again = [put(&file, &series, 2000), put(&file, &series, 2001), put(&file, &series, 2002)];
    let expected = ["sts_i32_s_3_PT1H:3", "sts_i32_s_3_PT1H:5", "sts_i32_s_3_PT1H__1:0"];
    assert_eq!(places(&file, &again), expected);
}

#[test]
fn a_batch_makes_datasets_of_its_own() {
    let file = memory(Compression::None);
    let large = pool(DType::F64, &[131_072], 2);
    let series = pool(DType::F64, &[], 10);
    let single = put(&file, &series, 0);
    let batch = put_batch(&file, &series, 0..3);
    assert_eq!(batch.len(), 2, "the first is stored already");
    assert_eq!(places(&file, &batch), ["sts_f64_s_10_PT1H__1:0", "sts_f64_s_10_PT1H__1:1"]);
    let one = put_batch(&file, &series, 7..8);
    assert_eq!(places(&file, &one), ["sts_f64_s_10_PT1H:1"]);
    let two = put_batch(&file, &large, 0..2);
    assert_eq!(places(&file, &two), ["sts_f64_131072_2_PT1H:0", "sts_f64_131072_2_PT1H__1:0"]);
    assert_eq!(file.read(&two[1]).unwrap(), array(&large, 1));
    assert_eq!(file.read(&single).unwrap(), array(&series, 0));

    // Identical bytes under two resolutions: the first request wins.
    let same = array(&series, 50);
    let (hash, mut daily) = (same.view().hash(), series.clone());
    daily.resolution = "P1D".parse().unwrap();
    let other = array(&daily, 51);
    let items = [
        (daily.clone(), hash, same.view()),
        (series.clone(), hash, same.view()),
        (daily.clone(), other.view().hash(), other.view()),
        (daily, hash, same.view()),
    ];
    assert_eq!(file.put_batch(&items).unwrap(), [hash, other.view().hash()]);
    assert_eq!(places(&file, &[hash]), ["sts_f64_s_10_P1D:0"]);
    assert!(!file.put_one(&series, hash, same.view()).unwrap());
}

#[test]
fn the_first_bytes_of_a_nan_stay() {
    let file = memory(DEFAULT);
    let series = pool(DType::F64, &[], 2);
    let nan = |bits: u64| Array::from_f64(vec![2], &[1.0, f64::from_bits(bits)]).unwrap();
    let (first, second) = (nan(0x7ff8_0000_0000_0001), nan(0xfff8_0000_0000_0002));
    let hash = first.view().hash();
    assert_eq!(hash, second.view().hash());
    assert!(file.put_one(&series, hash, first.view()).unwrap());
    assert!(!file.put_one(&series, hash, second.view()).unwrap());
    assert_eq!(file.read(&hash).unwrap(), first);
}

#[test]
fn a_wrong_array_is_refused_and_nothing_is_stored() {
    let file = memory(DEFAULT);
    let series = pool(DType::F64, &[], 4);
    let (good, wrong) = (array(&series, 1), array(&pool(DType::F64, &[], 5), 1));
    let items =
        [(series.clone(), good.view().hash(), good.view()), (series.clone(), wrong.view().hash(), wrong.view())];
    assert_eq!(file.put_batch(&items).unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert!(file.hashes().is_empty() && file.datasets().is_empty());
    let hash = put(&file, &series, 1);
    assert_eq!(file.read_rows(&hash, 3..5).unwrap_err().kind(), ErrorKind::Selection);
    assert_eq!(file.read_rows(&hash, 2..2).unwrap().shape(), [0]);
    file.close().unwrap();
    file.close().unwrap();
    assert_eq!(file.read(&hash).unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(file.put_one(&series, wrong.view().hash(), good.view()).unwrap_err().kind(), ErrorKind::Closed);
}

/// Makes a store and changes it through netCDF-C.
fn foreign(change: impl FnOnce(&mut netcdf::FileMut)) -> crate::Result<ArrayFile> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let file = create(&path);
    put(&file, &pool(DType::F64, &[], 4), 1);
    file.close().unwrap();
    change(&mut netcdf::append(&path).unwrap());
    ArrayFile::open(Arc::new(PlainFile::open(&path, true).unwrap()))
}

#[test]
fn foreign_content_is_refused_or_passed_over_as_the_format_says() {
    let variable = |name: &'static str| {
        foreign(move |nc| {
            let mut group = nc.group_mut("time_series/single").unwrap().unwrap();
            group.add_dimension("other", 2).unwrap();
            group.add_variable::<f64>(name, &["other"]).unwrap();
        })
    };
    for name in ["load", "arr_12", "sts_f64_s_2_PT1H", "sts_f64_s_4_PT1H__x"] {
        let error = variable(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    variable("anything_h").unwrap();
    foreign(|nc| {
        nc.add_group("more").unwrap().add_dimension("d", 4).unwrap();
        nc.add_group("time_series/timestamps").unwrap();
        nc.add_attribute("note", "x").unwrap();
    })
    .unwrap();
    for version in ["0.10.0", "0.11.2", ""] {
        let error = foreign(|nc| {
            nc.add_attribute("data_format_version", version).unwrap();
        })
        .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IncompatibleFormat);
        assert!(error.to_string().contains(version), "{error}");
    }
    foreign(|nc| {
        nc.add_attribute("data_format_version", "0.11.1").unwrap();
    })
    .unwrap();
    let strings = foreign(|nc| {
        nc.add_attribute("data_format_version", vec!["0.11.0".to_string()]).unwrap();
    });
    let error = strings.unwrap_err().to_string();
    assert!(error.contains("unspecified"), "{error}");
    let slot = foreign(|nc| {
        let mut group = nc.group_mut("time_series/single").unwrap().unwrap();
        group.variable_mut("sts_f64_s_4_PT1H_h").unwrap().put_string("12", [3]).unwrap();
    });
    assert!(slot.unwrap_err().to_string().contains("slot 3"));
}

#[test]
fn a_store_without_its_groups_is_refused() {
    let layer: Arc<dyn FileLayer> = Arc::new(MemoryFile::new());
    let file = H5File::create(&layer).unwrap();
    file.set_text("data_format_version", "0.11.0").unwrap();
    file.close().unwrap();
    let error = ArrayFile::open(layer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Integrity);
    assert!(error.to_string().contains("/time_series is missing"), "{error}");
}

#[test]
fn a_root_attribute_may_be_set_for_ever() {
    // HDF5 numbers the attributes that were ever made on an object with 16 bits; every commit sets one.
    let layer: Arc<dyn FileLayer> = Arc::new(MemoryFile::new());
    let file = ArrayFile::create(layer.clone(), DEFAULT, &[]).unwrap();
    for n in 0..66_000 {
        file.set_attribute("generation", &n.to_string()).unwrap();
    }
    file.flush().unwrap();
    let again = ArrayFile::open(layer).unwrap();
    assert_eq!(again.attribute("generation").as_deref(), Some("65999"));
}

#[test]
fn names_of_a_batch_pass_over_those_that_are_there() {
    // One column of this pool fills a dataset, and the only one that is there has not the first name.
    let wide = pool(DType::F64, &[200_000], 1);
    let name = |suffix: &str| format!("{}{suffix}", wide.base_name());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    create(&path).close().unwrap();
    {
        let mut nc = netcdf::append(&path).unwrap();
        let mut group = nc.group_mut("time_series/single").unwrap().unwrap();
        let (data, slots) = (name("__1"), name("__1_h"));
        for (dimension, len) in [("t", 1), ("c", 1), ("e0", 200_000)] {
            group.add_dimension(&format!("{data}_{dimension}"), len).unwrap();
        }
        let axes = ["t", "c", "e0"].map(|dimension| format!("{data}_{dimension}"));
        group.add_variable::<f64>(&data, &[&axes[0], &axes[1], &axes[2]]).unwrap();
        let mut slots = group.add_string_variable(&slots, &[&axes[1]]).unwrap();
        slots.put_string("", [0]).unwrap();
    }
    let file = open(&path, false);
    let hashes = put_batch(&file, &wide, 0..3);
    assert_eq!(places(&file, &hashes), ["__2", "__3", "__4"].map(|suffix| format!("{}:0", name(suffix))));
    for (seed, hash) in hashes.iter().enumerate() {
        assert_eq!(file.read(hash).unwrap(), array(&wide, seed));
    }
}

#[test]
fn dimension_numbers_of_others_may_be_any() {
    let layer: Arc<dyn FileLayer> = Arc::new(MemoryFile::new());
    let made = H5File::create(&layer).unwrap();
    made.set_text("data_format_version", "0.11.0").unwrap();
    made.create_group("/time_series").unwrap();
    made.create_group("/time_series/single").unwrap().create_scale("last", 1, i32::MAX - 1).unwrap();
    made.close().unwrap();
    let file = ArrayFile::open(layer).unwrap();
    let series = pool(DType::F64, &[], 4);
    let one = array(&series, 1);
    file.put_one(&series, one.view().hash(), one.view()).unwrap();
    let error = file.flush().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
    file.remove_many(&[one.view().hash()]).unwrap();
    assert!(!file.contains(&one.view().hash()));
    file.flush().unwrap();
}

#[test]
fn cells_that_were_never_written_are_no_values() {
    let alone = array(&pool(DType::F64, &[], 4), 8).view().hash();
    let packed = array(&pool(DType::F32, &[], 4), 8).view().hash();
    for chunked in [false, true] {
        let file = foreign(|nc| {
            let mut group = nc.group_mut("time_series/single").unwrap().unwrap();
            let (name, data) = (format!("arr_{}", alone.to_hex()), "sts_f32_s_4_PT1H");
            for (dimension, len) in [("a", 4), ("t", 4), ("c", 2)] {
                group.add_dimension(dimension, len).unwrap();
            }
            let mut variable = group.add_variable::<f64>(&name, &["a"]).unwrap();
            if chunked {
                variable.set_chunking(&[2]).unwrap();
                variable.put_values(&[1.0, 2.0], 2..4).unwrap();
            }
            let mut variable = group.add_variable::<f32>(data, &["t", "c"]).unwrap();
            if chunked {
                variable.set_chunking(&[4, 1]).unwrap();
                variable.put_values(&[1.0f32; 4], (.., 0..1)).unwrap();
            }
            let mut slots = group.add_string_variable(&format!("{data}_h"), &["c"]).unwrap();
            slots.put_string("", [0]).unwrap();
            slots.put_string(&packed.to_hex(), [1]).unwrap();
        })
        .unwrap();
        for hash in [alone, packed] {
            for error in [file.read(&hash).unwrap_err(), file.read_rows(&hash, 0..1).unwrap_err()] {
                assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
                assert!(error.to_string().contains("never written"), "{error}");
            }
        }
    }
}
