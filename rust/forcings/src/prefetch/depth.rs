//! How many epochs are held ahead: a given number, or as many as it takes for the consumer not to wait.
//!
//! A deeper schedule helps a consumer that had to wait only if workers had nothing to do before that; where they are busy
//! all the time, it would only take memory. So the depth grows by one when both happened, and falls by one when over many
//! takes at least two epochs lay finished behind the one taken.

/// The depth of a schedule. It knows takes, not time.
#[derive(Debug, Clone)]
pub(super) struct Depth {
    now: usize,
    auto: Option<Auto>,
}

#[derive(Debug, Clone)]
struct Auto {
    /// The position for which the consumer was last seen waiting.
    missing: Option<usize>,
    /// Whether a worker had nothing to do because of the depth, since it last grew.
    idle: bool,
    /// Takes since the depth last changed, and the fewest finished epochs that one of them left behind.
    takes: usize,
    spare: usize,
    /// How many takes are watched before the depth falls.
    patience: usize,
    has_fallen: bool,
}

/// Fewer than one being taken and one being decoded cannot overlap.
const LEAST: usize = 2;

const PATIENCE: usize = 16;
const MOST_PATIENCE: usize = 1024;

impl Depth {
    /// Always `depth`.
    pub(super) fn fixed(depth: usize) -> Self {
        Depth { now: depth, auto: None }
    }

    /// As deep as needed.
    pub(super) fn auto() -> Self {
        let auto =
            Auto { missing: None, idle: false, takes: 0, spare: usize::MAX, patience: PATIENCE, has_fallen: false };
        Depth { now: LEAST, auto: Some(auto) }
    }

    pub(super) fn get(&self) -> usize {
        self.now
    }

    /// A new order begins: nothing is decoded yet, which tells nothing about the depth. What was learned stays.
    pub(super) fn restart(&mut self) {
        if let Some(auto) = &mut self.auto {
            (auto.missing, auto.idle) = (None, false);
            auto.watch_anew();
        }
    }

    /// A worker had nothing to do, and a deeper schedule would have had work for it.
    pub(super) fn note_idle(&mut self) {
        if let Some(auto) = &mut self.auto {
            auto.idle = true;
        }
    }

    /// The consumer waits for the entry at `position`. True if the depth has grown for it.
    pub(super) fn note_missing(&mut self, position: usize) -> bool {
        let Some(auto) = &mut self.auto else { return false };
        if auto.missing.replace(position) == Some(position) || !std::mem::take(&mut auto.idle) {
            return false;
        }
        if std::mem::take(&mut auto.has_fallen) {
            auto.patience = (2 * auto.patience).min(MOST_PATIENCE);
        }
        auto.watch_anew();
        self.now += 1;
        true
    }

    /// An entry was taken, with `spare` finished ones behind it.
    pub(super) fn note_taken(&mut self, spare: usize) {
        let Some(auto) = &mut self.auto else { return };
        auto.takes += 1;
        auto.spare = auto.spare.min(spare);
        if auto.takes >= auto.patience {
            if auto.spare >= 2 && self.now > LEAST {
                self.now -= 1;
                auto.has_fallen = true;
            }
            auto.watch_anew();
        }
    }
}

impl Auto {
    fn watch_anew(&mut self) {
        (self.takes, self.spare) = (0, usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_depth_stays() {
        let mut depth = Depth::fixed(1);
        depth.note_idle();
        assert!(!depth.note_missing(3));
        (0..2000).for_each(|_| depth.note_taken(9));
        assert_eq!(depth.get(), 1);
    }

    #[test]
    fn it_grows_once_for_a_wait_after_idle_workers() {
        let mut depth = Depth::auto();
        assert!(!depth.note_missing(0), "nobody was idle");
        depth.note_idle();
        assert!(!depth.note_missing(0), "this wait began before");
        assert!(depth.note_missing(1));
        assert!(!depth.note_missing(1) && !depth.note_missing(2), "they were busy since");
        assert_eq!(depth.get(), 3);
    }

    #[test]
    fn a_new_order_forgets_the_wait_and_keeps_the_depth() {
        let mut depth = Depth::auto();
        depth.note_idle();
        assert!(depth.note_missing(0));
        depth.note_idle();
        depth.restart();
        assert!(!depth.note_missing(0));
        assert_eq!(depth.get(), 3);
    }

    #[test]
    fn it_falls_while_two_are_always_spare_and_more_slowly_each_time() {
        let mut depth = Depth::auto();
        let grow = |depth: &mut Depth, position| {
            depth.note_idle();
            assert!(depth.note_missing(position));
        };
        grow(&mut depth, 0);
        grow(&mut depth, 1);
        (0..PATIENCE).for_each(|_| depth.note_taken(1));
        assert_eq!(depth.get(), 4, "one is needed");
        (0..PATIENCE).for_each(|_| depth.note_taken(2));
        assert_eq!(depth.get(), 3);
        grow(&mut depth, 100);
        (0..PATIENCE).for_each(|_| depth.note_taken(3));
        assert_eq!(depth.get(), 4, "falling was wrong, so it takes longer to fall again");
        (0..PATIENCE).for_each(|_| depth.note_taken(3));
        assert_eq!(depth.get(), 3);
        (0..20 * PATIENCE).for_each(|_| depth.note_taken(5));
        assert_eq!(depth.get(), LEAST);
    }
}
