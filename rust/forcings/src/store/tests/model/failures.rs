//! After a failure of the disk: what the handle may say, what the files may hold, and how the store goes on.

use super::state::State;
use super::trial::{observe, Next, Trial};
use super::*;
use crate::store::h5::faults::{Fate, Harm};
use crate::Error;

impl Trial {
    /// The failure came, during a call that ended with `error`, if with one; it was to lead to the state beside it.
    pub(super) fn fail(&mut self, error: Option<(Error, Option<Next>)>) {
        let fate = self.fate.expect("a failure was to come");
        let next = error.as_ref().and_then(|(_, next)| next.as_ref());
        let target = next.map(|next| next.now.clone());
        let commits = next.and_then(|next| next.commits.clone());
        self.promised.extend(commits.clone());
        match (fate, error) {
            (Fate::Gone(at, harm), _) => {
                // The handle goes as the process would: what it still tries to write is lost.
                self.leave();
                // The first who opens it may be stopped too.
                self.disk.let_fail(Fate::Gone(at % 8, harm));
                drop(Store::open(self.path(), &writable()));
                self.heal();
                self.recover();
            }
            (_, None) => {
                self.heal();
                // What fails behind a commit ends the changes of a handle, not the call.
                if self.store.is_open() && !self.can_go_on() {
                    self.leave();
                    self.recover();
                }
            }
            (Fate::Once(_, Harm::Refused(_) | Harm::Torn), Some((error, _))) => {
                self.heal();
                self.survive(&error, commits.is_some());
            }
            (_, Some(_)) => {
                // Steps that fail and happen, and rollbacks that fail too: the handle keeps all of a call, or nothing of it.
                self.heal();
                // Where the undoing fails too, a transaction may have any part of a call: it ends with the handle.
                if self.store.is_open() && self.saved.is_empty() {
                    let found = observe(&self.store);
                    let mut allowed = self.promised.iter().chain(&target).chain([&self.now]);
                    assert!(allowed.any(|state| self.is(&found, state)), "the handle has {found:?}");
                }
                // Outside of a transaction, closing keeps what was done, the failed call included.
                if self.saved.is_empty() && self.can_go_on() {
                    self.promised.push(self.now.clone());
                    self.promised.extend(target);
                }
                self.leave();
                self.recover();
            }
        }
    }

    pub(super) fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("a.nc")
    }

    /// Opens the store that was closed.
    pub(super) fn reopen(&mut self) {
        let options = OpenOptions { read_only: false, durable: self.durable == Some(true) };
        self.store = Store::open(self.path(), &options).unwrap();
    }

    /// Opens the copy, if there is one.
    pub(super) fn check_copy(&mut self) {
        let found = match Store::open(self.dir.path().join("other.nc"), &writable()) {
            Ok(copy) => {
                let found = observe(&copy);
                checks::contents(&copy, &found, &self.arrays);
                Some(found)
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
                None
            }
        };
        assert!(self.copy.contains(&found), "{found:?} is none of {:?}", self.copy);
        self.copy = vec![found];
    }

    /// One step did not happen, and its call failed: it had no effect. A commit that fails may undo all that it was to commit.
    fn survive(&mut self, error: &Error, commits: bool) {
        if !self.can_go_on() {
            self.leave();
            return self.recover();
        }
        let (found, inside) = (observe(&self.store), self.store.in_transaction());
        if inside != self.saved.is_empty() && found == self.now {
            checks::contents(&self.store, &self.now, &self.arrays);
            return;
        }
        let told = commits || error.to_string().contains("undone");
        assert!(told && !inside, "after `{error}` in a transaction ({inside}): {found:?}, instead of {:?}", self.now);
        assert!(self.promised.iter().any(|state| self.is(&found, state)), "{found:?} is none of {:?}", self.promised);
        (self.now, self.saved) = (found, Vec::new());
        checks::contents(&self.store, &self.now, &self.arrays);
    }

    fn can_go_on(&self) -> bool {
        self.store.shared().look(|session| Ok(session.can_go_on())).unwrap_or(false)
    }

    /// Drops every handle.
    fn leave(&mut self) {
        self.walkers.clear();
        self.store = Store::memory().unwrap();
    }

    /// Opens what a failure left: one of the states that the disk may hold.
    fn recover(&mut self) {
        self.reopen();
        let found = observe(&self.store);
        let allowed = self.promised.iter().any(|state| self.is(&found, state));
        assert!(allowed, "{found:?} is none of {:?}", self.promised);
        let highest = found.series.keys().map(|id| id.0).max().unwrap_or(0);
        self.last_promised = self.last_promised.max(highest);
        (self.last, self.promised) = (self.last_promised, vec![found.clone()]);
        (self.now, self.saved) = (found, Vec::new());
        checks::contents(&self.store, &self.now, &self.arrays);
        if self.copy.len() > 1 {
            self.check_copy();
        }
    }

    /// Whether two states are one, apart from numbers that no caller was told.
    fn is(&self, a: &State, b: &State) -> bool {
        a.untold(self.last) == b.untold(self.last)
    }
}
