//! The buffers of dropped samples, kept for the next ones: memory that the system hands out anew is cleared by it first,
//! which costs a good part of decoding an epoch. Knows sizes, not fields.

use parking_lot::Mutex;

/// Smaller buffers cost little when they are made.
const MIN_BYTES: usize = 1 << 20;

/// Bytes that are kept at most, of all types together.
const MAX_BYTES: usize = 256 << 20;

/// Buffers that nobody uses, the one given last at the end.
#[derive(Default)]
pub(crate) struct Idle {
    /// Those whose next samples may use them.
    users: usize,
    bytes: usize,
    f64: Vec<Vec<f64>>,
    f32: Vec<Vec<f32>>,
    i64: Vec<Vec<i64>>,
    i32: Vec<Vec<i32>>,
    u8: Vec<Vec<u8>>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle {
    users: 0,
    bytes: 0,
    f64: Vec::new(),
    f32: Vec::new(),
    i64: Vec::new(),
    i32: Vec::new(),
    u8: Vec::new(),
});

/// An element type whose buffers are kept.
pub(crate) trait Reusable: Copy + Default + Send + Sync {
    /// The buffers of this type.
    fn shelf(idle: &mut Idle) -> &mut Vec<Vec<Self>>;
}

macro_rules! reusable {
    ($($number:ident),*) => {$(
        impl Reusable for $number {
            fn shelf(idle: &mut Idle) -> &mut Vec<Vec<Self>> {
                &mut idle.$number
            }
        }
    )*};
}

reusable!(f64, f32, i64, i32, u8);

/// A buffer of `len` elements whose content is of no meaning, if there is one of about that size.
pub(crate) fn take<T: Reusable>(len: usize) -> Option<Vec<T>> {
    (len.saturating_mul(size_of::<T>()) >= MIN_BYTES).then(|| IDLE.lock().take(len))?
}

/// Keeps a buffer that is not used any more, if it is worth it and there is room.
pub(super) fn give<T: Reusable>(buffer: Vec<T>) {
    if buffer.len() * size_of::<T>() >= MIN_BYTES {
        let refused = IDLE.lock().give(buffer);
        // Given back to the system without the lock.
        drop(refused);
    }
}

/// Somebody begins to make samples.
pub(crate) fn enter() {
    IDLE.lock().users += 1;
}

/// Somebody makes no more. The last gives back all that is kept; samples that go later are not kept.
pub(crate) fn leave() {
    let gone = {
        let mut idle = IDLE.lock();
        idle.users -= 1;
        (idle.users == 0).then(|| std::mem::take(&mut *idle))
    };
    drop(gone);
}

impl Idle {
    fn take<T: Reusable>(&mut self, len: usize) -> Option<Vec<T>> {
        let shelf = T::shelf(self);
        // An eighth may lie idle in what is handed out.
        let fits = |buffer: &Vec<T>| buffer.len() >= len && buffer.capacity() <= len + len / 8;
        let mut buffer = shelf.swap_remove(shelf.iter().rposition(fits)?);
        self.bytes -= buffer.capacity() * size_of::<T>();
        buffer.truncate(len);
        Some(buffer)
    }

    /// Returns the buffer where there is no room for it.
    fn give<T: Reusable>(&mut self, buffer: Vec<T>) -> Option<Vec<T>> {
        let bytes = buffer.capacity() * size_of::<T>();
        if self.users == 0 || self.bytes + bytes > MAX_BYTES {
            return Some(buffer);
        }
        self.bytes += bytes;
        T::shelf(self).push(buffer);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_about_the_size_is_handed_out_once() {
        let mut idle = Idle { users: 1, ..Idle::default() };
        let address = |buffer: &Vec<f64>| buffer.as_ptr();
        let (short, long) = (vec![1.0; 1000], vec![2.0; 1100]);
        let long_address = address(&long);
        assert!(idle.give(short).is_none() && idle.give(long).is_none());
        assert!(idle.give(vec![1_i64; 1000]).is_none());
        assert_eq!(idle.bytes, 8 * 3100);
        assert!(idle.take::<f64>(1101).is_none(), "too short");
        assert!(idle.take::<f64>(800).is_none(), "too long by more than an eighth");
        assert!(idle.take::<f32>(1000).is_none(), "of another type");
        let found = idle.take::<f64>(1001).unwrap();
        assert_eq!((found.len(), address(&found)), (1001, long_address));
        assert_eq!(idle.bytes, 8 * 2000);
        assert!(idle.take::<f64>(1001).is_none());
        assert_eq!(idle.take::<f64>(950).unwrap().len(), 950);
        // What was cut off is not seen again.
        assert!(idle.give(found).is_none());
        assert!(idle.take::<f64>(1002).is_none());
    }

    #[test]
    fn nothing_is_kept_for_nobody() {
        let mut idle = Idle::default();
        assert_eq!(idle.give(vec![1.0; 1000]).unwrap().len(), 1000);
        assert_eq!(idle.bytes, 0);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let mut idle = Idle { users: 1, ..Idle::default() };
        let half = || Vec::<f64>::with_capacity(MAX_BYTES / 16);
        assert!(idle.give(half()).is_none() && idle.give(half()).is_none());
        assert_eq!(idle.bytes, MAX_BYTES);
        assert!(idle.give(vec![0_u8]).is_some());
        assert_eq!(idle.bytes, MAX_BYTES);
    }
}
