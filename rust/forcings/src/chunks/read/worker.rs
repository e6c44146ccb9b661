//! What one thread of a read needs, kept from read to read.

use super::chunk::AT_ONCE;
use super::ReadStats;
use crate::chunks::{ObjectScratch, Scratch};
use std::sync::{Mutex, MutexGuard};

/// The state of one thread.
#[derive(Default)]
pub(super) struct Worker {
    /// One for each block that it has at work at a time.
    pub(super) rooms: [Room; AT_ONCE],
    pub(super) stats: ReadStats,
}

/// Buffers and codec state for one block.
#[derive(Default)]
pub(super) struct Room {
    pub(super) scratch: Scratch,
    pub(super) objects: ObjectScratch,
    /// The block in memory.
    pub(super) block: Vec<u8>,
    /// Elements that were picked from it, on their way to the output.
    pub(super) picked: Vec<u8>,
}

/// What workers have left for the next ones: their buffers are as large as chunks, and warm.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Workers that are kept, and the most that the buffers of each may hold.
const MAX_IDLE: usize = 16;
const MAX_IDLE_BYTES: usize = 4 << 20;

impl Worker {
    pub(super) fn hire() -> Self {
        lock(&IDLE).pop().unwrap_or_default()
    }

    pub(super) fn dismiss(mut self) {
        self.stats = ReadStats::default();
        if self.rooms.iter().map(Room::capacity).sum::<usize>() <= MAX_IDLE_BYTES {
            let mut idle = lock(&IDLE);
            if idle.len() < MAX_IDLE {
                idle.push(self);
            }
        }
    }
}

impl Room {
    /// Bytes that the buffers take.
    fn capacity(&self) -> usize {
        self.scratch.capacity() + self.objects.capacity() + self.block.capacity() + self.picked.capacity()
    }
}

/// What a panic leaves behind here is whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
