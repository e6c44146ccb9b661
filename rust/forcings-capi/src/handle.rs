//! Handles: numbers with a generation that name shared objects, so that a stale one is an error and never a crash.

use crate::guard::{catch, guard};
use crate::{output::Out, session};
use forcings::{Error, Result};
use parking_lot::{Mutex, RwLock};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Arc, LazyLock};

/// An object that a handle can name.
pub(crate) trait Object: Any + Send + Sync {
    /// What error texts call it.
    const NOUN: &'static str;
    /// Its turn when everything is closed: users of an object go before the object.
    const CLOSE_ORDER: u8;

    /// Ends its work; a second call does nothing. Called without a lock of this module.
    ///
    /// # Errors
    /// Those of the object's own close.
    fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// An object that serves one caller at a time. A panic during a call leaves it broken, but in its place: the caller may
/// hold addresses of its memory.
pub(crate) struct Exclusive<T> {
    inner: Mutex<Guarded<T>>,
    noun: &'static str,
}

struct Guarded<T> {
    value: T,
    broken: bool,
}

#[derive(Clone)]
struct Entry {
    object: Arc<dyn Any + Send + Sync>,
    noun: &'static str,
    close_order: u8,
    close: fn(&(dyn Any + Send + Sync)) -> Result<()>,
}

struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

#[derive(Default)]
struct Slots {
    all: Vec<Slot>,
    free: Vec<usize>,
}

static SLOTS: LazyLock<RwLock<Slots>> = LazyLock::new(RwLock::default);

/// Pointers of this interface that were handed out and not yet given back.
pub(crate) static POINTERS: AtomicU64 = AtomicU64::new(0);

impl<T> Exclusive<T> {
    pub(crate) fn new(noun: &'static str, value: T) -> Self {
        Exclusive { inner: Mutex::new(Guarded { value, broken: false }), noun }
    }

    /// Runs `body` on the object.
    ///
    /// # Errors
    /// `InvalidParameter` when another call is using it, `Panic` when an earlier call panicked, and those of `body`.
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let mut inner = self.inner.try_lock().ok_or_else(|| {
            Error::invalid(format!("this {} is in use by another call; it serves one caller at a time", self.noun))
        })?;
        if inner.broken {
            return Err(Error::Panic(format!("an earlier call panicked and left this {} broken", self.noun)));
        }
        inner.broken = true;
        let result = body(&mut inner.value);
        inner.broken = false;
        result
    }
}

/// Names `object` with a new handle.
pub(crate) fn insert<T: Object>(object: Arc<T>) -> u64 {
    let close = |object: &(dyn Any + Send + Sync)| object.downcast_ref::<T>().map_or(Ok(()), Object::close);
    let entry = Entry { object, noun: T::NOUN, close_order: T::CLOSE_ORDER, close };
    let mut slots = SLOTS.write();
    let index = slots.free.pop().unwrap_or_else(|| {
        slots.all.push(Slot { generation: 1, entry: None });
        slots.all.len() - 1
    });
    slots.all[index].entry = Some(entry);
    (u64::from(slots.all[index].generation) << 32) | index as u64
}

/// The object that `handle` names.
///
/// # Errors
/// `Closed` when it was closed, `InvalidParameter` when it is something else or no handle at all.
pub(crate) fn get<T: Object>(handle: u64) -> Result<Arc<T>> {
    let slots = SLOTS.read();
    let (index, generation) = split(handle);
    let slot = slots.all.get(index).filter(|slot| generation != 0 && generation <= slot.generation);
    let slot = slot.ok_or_else(|| Error::invalid(format!("{handle} is not a handle of a {}", T::NOUN)))?;
    let entry = slot.entry.as_ref().filter(|_| generation == slot.generation).ok_or(Error::Closed(T::NOUN))?;
    Arc::clone(&entry.object)
        .downcast::<T>()
        .map_err(|_| Error::invalid(format!("this is the handle of a {}, not of a {}", entry.noun, T::NOUN)))
}

/// Closes what `handle` names; a handle that was closed before is left alone.
///
/// # Errors
/// `InvalidParameter` as [`get`], and those of the object's own close, after which the handle is still good.
pub(crate) fn close<T: Object>(handle: u64) -> Result<()> {
    match get::<T>(handle) {
        Err(Error::Closed(_)) => Ok(()),
        Err(error) => Err(error),
        Ok(object) => {
            object.close()?;
            take(handle);
            Ok(())
        }
    }
}

/// Closes what `handle` names, of any kind; the handle is gone in any case.
fn discard(handle: u64) -> Result<()> {
    take(handle).map_or(Ok(()), |entry| (entry.close)(entry.object.as_ref()))
}

/// Frees the slot and ages its generation; a slot whose generations are used up is never used again.
fn take(handle: u64) -> Option<Entry> {
    let (index, generation) = split(handle);
    let mut slots = SLOTS.write();
    let slot = slots.all.get_mut(index).filter(|slot| slot.generation == generation)?;
    let entry = slot.entry.take()?;
    if let Some(next) = generation.checked_add(1) {
        slot.generation = next;
        slots.free.push(index);
    }
    Some(entry)
}

fn split(handle: u64) -> (usize, u32) {
    ((handle & u64::from(u32::MAX)) as usize, (handle >> 32) as u32)
}

/// Handles to close, fed by finalizers: closing may wait and write, which a finalizer must not.
static RELEASED: LazyLock<Option<mpsc::Sender<u64>>> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel::<u64>();
    let close_all = move || {
        for handle in receiver {
            // Nobody is left to be told about an error of this close.
            let _ = catch("forcings_handle_release", || discard(handle));
        }
    };
    std::thread::Builder::new().name("forcings-close".into()).spawn(close_all).ok().map(|_| sender)
});

/// Whether `handle` names something that is not closed. Any number may be asked about.
#[no_mangle]
pub unsafe extern "C" fn forcings_handle_is_open(handle: u64, out_open: *mut u8) -> i32 {
    guard("forcings_handle_is_open", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let open = unsafe { Out::new("out_open", out_open) }?;
        let (index, generation) = split(handle);
        let slots = SLOTS.read();
        let slot = slots.all.get(index).filter(|slot| slot.generation == generation);
        open.set(u8::from(slot.is_some_and(|slot| slot.entry.is_some())));
        Ok(())
    })
}

/// Closes a handle of any kind soon, on a native thread. Never waits and never fails: made for finalizers.
#[no_mangle]
pub extern "C" fn forcings_handle_release(handle: u64) {
    let _ = catch("forcings_handle_release", || {
        match &*RELEASED {
            // The receiver lives as long as the process.
            Some(sender) => drop(sender.send(handle)),
            None => discard(handle)?,
        }
        Ok(())
    });
}

/// Counts what is alive: handles that are not closed, and counted pointers that were not given back.
#[no_mangle]
pub unsafe extern "C" fn forcings_live_count(out_handles: *mut u64, out_pointers: *mut u64) -> i32 {
    guard("forcings_live_count", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let (handles, pointers) =
            unsafe { (Out::new("out_handles", out_handles)?, Out::new("out_pointers", out_pointers)?) };
        handles.set(SLOTS.read().all.iter().filter(|slot| slot.entry.is_some()).count() as u64);
        pointers.set(POINTERS.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Closes everything: prefetch groups with their threads, readers and providers, then stores. For the end of the
/// process; calls that come later find closed handles. Returns the first error of a close.
#[no_mangle]
pub extern "C" fn forcings_shutdown() -> i32 {
    guard("forcings_shutdown", || {
        session::detach();
        let mut open: Vec<(u8, u64)> = {
            let slots = SLOTS.read();
            let open = slots.all.iter().enumerate().filter_map(|(index, slot)| {
                let entry = slot.entry.as_ref()?;
                Some((entry.close_order, (u64::from(slot.generation) << 32) | index as u64))
            });
            open.collect()
        };
        open.sort_unstable();
        let mut result = Ok(());
        for (_, handle) in open {
            let closed = catch("forcings_shutdown", || discard(handle));
            result = result.and(closed);
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use forcings::ErrorKind;
    use std::sync::atomic::AtomicUsize;

    struct Thing(Arc<AtomicUsize>);
    impl Object for Thing {
        const NOUN: &'static str = "thing";
        const CLOSE_ORDER: u8 = 0;
        fn close(&self) -> Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }
    struct Other;
    impl Object for Other {
        const NOUN: &'static str = "other";
        const CLOSE_ORDER: u8 = 1;
    }

    #[test]
    fn a_handle_dies_once_and_its_slot_gets_a_new_generation() {
        let closed = Arc::new(AtomicUsize::new(0));
        let first = insert(Arc::new(Thing(Arc::clone(&closed))));
        assert!(get::<Thing>(first).is_ok());
        assert_eq!(get::<Other>(first).err().map(|e| e.kind()), Some(ErrorKind::InvalidParameter));
        assert_eq!(close::<Other>(first).unwrap_err().kind(), ErrorKind::InvalidParameter);
        close::<Thing>(first).unwrap();
        close::<Thing>(first).unwrap();
        discard(first).unwrap();
        assert_eq!(closed.load(Ordering::Relaxed), 1);
        assert_eq!(get::<Thing>(first).err().map(|e| e.kind()), Some(ErrorKind::Closed));
        let second = insert(Arc::new(Thing(closed)));
        assert_ne!(first, second);
        assert_eq!(get::<Thing>(first).err().map(|e| e.kind()), Some(ErrorKind::Closed));
        close::<Thing>(second).unwrap();
    }

    #[test]
    fn a_number_that_was_never_issued_is_no_handle() {
        for number in [0, 1, u64::MAX, 0xffff_ffff, 7 << 32 | 0xfff_ffff] {
            assert_eq!(get::<Thing>(number).err().map(|e| e.kind()), Some(ErrorKind::InvalidParameter), "{number}");
        }
    }

    #[test]
    fn an_exclusive_object_refuses_a_second_caller_and_survives_no_panic() {
        let thing = Exclusive::new("reader", 1);
        thing
            .with(|_| {
                assert_eq!(thing.with(|_| Ok(())).unwrap_err().kind(), ErrorKind::InvalidParameter);
                Ok(())
            })
            .unwrap();
        assert!(thing.with(|_| Err::<(), _>(Error::Closed("x"))).is_err());
        assert!(thing.with(|_| Ok(())).is_ok());
        assert!(catch::<()>("test", || thing.with(|_| panic!("half way"))).is_err());
        assert_eq!(thing.with(|_| Ok(())).unwrap_err().kind(), ErrorKind::Panic);
    }

    #[test]
    fn memory_that_a_caller_reads_outlives_a_panic() {
        let memory = Arc::new(());
        let thing = Exclusive::new("reader", Arc::clone(&memory));
        assert!(catch::<()>("test", || thing.with(|_| panic!("half way"))).is_err());
        assert_eq!(Arc::strong_count(&memory), 2);
        drop(thing);
        assert_eq!(Arc::strong_count(&memory), 1);
    }
}
