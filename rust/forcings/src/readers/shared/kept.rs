//! Decoded units of one source, as bands of rows or blocks of windows: whoever needs one first decodes it, others wait for
//! that one only, and the units used last are kept.

use crate::Result;
use parking_lot::{Mutex, RwLock, RwLockWriteGuard};
use std::collections::VecDeque;
use std::sync::Arc;

/// What was decoded of one source.
pub(in crate::readers) struct Kept {
    /// Units that are kept.
    room: usize,
    /// The one used last at the end. Never locked while a unit is decoded.
    units: Mutex<VecDeque<Arc<Unit>>>,
    /// A buffer for the next one.
    idle: Mutex<Vec<u8>>,
}

struct Unit {
    number: u64,
    /// `None` until it is decoded.
    bytes: RwLock<Option<Vec<u8>>>,
}

impl Kept {
    /// Keeps `room` units: what one read needs, and one more at least for a read beside it.
    pub(in crate::readers) fn new(room: usize) -> Self {
        Kept { room, units: Mutex::default(), idle: Mutex::default() }
    }

    /// Calls `work` with unit `number`, which `decode` makes if it is not kept.
    ///
    /// # Errors
    /// Those of `decode`; then the unit is decoded anew when it is next asked for.
    pub(in crate::readers) fn with<T>(
        &self,
        number: u64,
        decode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
        work: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let unit = self.unit(number);
        let mut bytes = unit.bytes.read();
        if bytes.is_none() {
            drop(bytes);
            let mut slot = unit.bytes.write();
            if slot.is_none() {
                let mut buffer = std::mem::take(&mut *self.idle.lock());
                decode(&mut buffer)?;
                *slot = Some(buffer);
            }
            bytes = RwLockWriteGuard::downgrade(slot);
        }
        Ok(work(bytes.as_ref().expect("it was decoded under this lock")))
    }

    fn unit(&self, number: u64) -> Arc<Unit> {
        let mut units = self.units.lock();
        if let Some(at) = units.iter().rposition(|unit| unit.number == number) {
            let unit = units.remove(at).expect("it was found there");
            units.push_back(unit.clone());
            return unit;
        }
        let unit = Arc::new(Unit { number, bytes: RwLock::new(None) });
        units.push_back(unit.clone());
        let oldest = if units.len() > self.room { units.pop_front() } else { None };
        drop(units);
        // Its buffer is used again unless somebody reads it still.
        if let Some(bytes) = oldest.and_then(Arc::into_inner).and_then(|unit| unit.bytes.into_inner()) {
            *self.idle.lock() = bytes;
        }
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Barrier;

    fn get(kept: &Kept, number: u64, decoded: &mut Vec<u64>) -> u8 {
        let decode = |bytes: &mut Vec<u8>| {
            decoded.push(number);
            bytes.clear();
            bytes.push(number as u8);
            Ok(())
        };
        kept.with(number, decode, |bytes| bytes[0]).unwrap()
    }

    #[test]
    fn the_units_used_last_are_kept_and_no_more() {
        let (kept, mut decoded) = (Kept::new(3), Vec::new());
        for number in [0, 1, 2, 0, 2, 3, 0, 1] {
            assert_eq!(get(&kept, number, &mut decoded), number as u8);
        }
        assert_eq!(decoded, [0, 1, 2, 3, 1]);
        assert_eq!(kept.units.lock().len(), 3);
    }

    #[test]
    fn what_failed_is_decoded_again() {
        let (kept, mut decoded) = (Kept::new(1), Vec::new());
        let failing = kept.with(7, |_| Err(Error::invalid("no")), |_| ());
        assert_eq!(failing.unwrap_err().to_string(), Error::invalid("no").to_string());
        assert_eq!((get(&kept, 7, &mut decoded), decoded), (7, vec![7]));
    }

    #[test]
    fn threads_that_ask_for_one_unit_decode_it_once() {
        let (kept, count, start) = (Kept::new(2), AtomicUsize::new(0), Barrier::new(8));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    for number in 0..100 {
                        let decode = |bytes: &mut Vec<u8>| {
                            count.fetch_add(1, Ordering::Relaxed);
                            *bytes = vec![number as u8; 3];
                            Ok(())
                        };
                        assert_eq!(kept.with(number, decode, <[u8]>::to_vec).unwrap(), [number as u8; 3]);
                        start.wait();
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 100);
    }
}
