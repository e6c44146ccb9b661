//! What an error says of a series whose identity is taken: who has it, in the store or in the same batch.

use super::*;
use crate::series::Features;

fn duplicate<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateTimeSeries, "{error}");
    error.to_string()
}

#[test]
fn the_holder_in_the_store_is_named() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        add(&store, 1, "other", &values);
        let mut featured = series(7, "load", &values);
        featured.features = Features::from_iter([("year", 2030)]);
        let id = store.add(&featured).unwrap();
        let fresh = series(8, "load", &values);
        for result in [store.add(&featured).map(|_| ()), store.add_bulk(&[fresh, featured.clone()]).map(|_| ())] {
            let text = duplicate(result);
            let holder = "already in the store, as SingleTimeSeries `load` of Component 7 (Bus)";
            assert!(text.contains(holder) && text.contains(&format!("(id {id})")), "{text}");
        }
        assert_eq!(all(&store).len(), 2);
    }
}

#[test]
fn two_items_of_one_batch_are_named_by_their_places() {
    let (_dir, stores) = stores();
    for store in stores {
        let arrays: Vec<Array> = (0..5).map(ramp).collect();
        add(&store, 9, "load", &arrays[0]);
        let items: Vec<_> = [1, 2, 3, 2, 4].iter().zip(&arrays).map(|(owner, a)| series(*owner, "load", a)).collect();
        let text = duplicate(store.add_bulk(&items));
        assert!(text.contains("items 2 and 4 of the batch"), "{text}");
        assert!(text.contains("`load` of Component 2"), "{text}");
        assert_eq!(all(&store).len(), 1);
        store.flush().unwrap();
        assert!(arrays[1..].iter().all(|a| !holds(&store, a.view().hash())));
        // Inside a transaction too, behind ids that an undone batch has used up.
        store.begin().unwrap();
        add(&store, 1, "load", &arrays[1]);
        let text = duplicate(store.add_bulk(&items[2..4].iter().chain(&items[1..2]).cloned().collect::<Vec<_>>()));
        assert!(text.contains("items 2 and 3 of the batch"), "{text}");
        assert!(duplicate(store.add_bulk(&items[..1])).contains("already in the store"));
        store.commit().unwrap();
        assert_eq!(all(&store).len(), 2);
    }
}

#[test]
fn a_copy_and_a_name_that_are_taken_say_by_whom() {
    let store = Store::memory().unwrap();
    let (a, b) = (add(&store, 1, "a", &ramp(0)), add(&store, 1, "b", &ramp(1)));
    let other = add(&store, 2, "a", &ramp(2));
    let taken = [
        (duplicate(store.rename(a, "b")), b),
        (duplicate(store.copy_series(a, 2, "Bus", None)), other),
        (duplicate(store.copy_series(a, 1, "Bus", Some("b"))), b),
        (duplicate(store.copy_series(a, 1, "Other", None)), a),
    ];
    for (text, holder) in taken {
        assert!(text.contains(&format!("(id {holder})")), "{text}");
    }
    // A row that cannot be read is named by its number.
    sql(&store, &format!("UPDATE time_series_associations SET dtype = 'f16' WHERE id = {b}"));
    assert!(duplicate(store.rename(a, "b")).contains(&format!("series {b}")));
}
