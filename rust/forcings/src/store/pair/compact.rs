//! A new array file in the place of a pair's old one, with the same arrays and without its free space.

use super::intent::{Intent, Plan};
use super::workshop::Workshop;
use super::GENERATION;
use crate::store::arrays::ArrayFile;
use crate::store::catalog::{Catalog, MetaKey};
use crate::store::h5::{disk, FileLayer, JournalFile, Mark, MemoryFile, PlainFile};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A new array file that is complete and not in its place yet.
pub(in crate::store) struct Successor {
    /// Open, under the name that it will have.
    pub(in crate::store) arrays: ArrayFile,
    place: Option<Place>,
}

struct Place {
    workshop: Workshop,
    file: Arc<PlainFile>,
    built: PathBuf,
    target: PathBuf,
    intent: Intent,
}

impl Successor {
    /// Writes what rows of `catalog` refer to into a file in memory.
    ///
    /// # Errors
    /// Those of reading `old` and of the catalog.
    pub(in crate::store) fn in_memory(old: &ArrayFile, catalog: &Catalog) -> Result<Self> {
        let layer: Arc<dyn FileLayer> = Arc::new(MemoryFile::new());
        write(old, catalog, layer.clone(), None)?;
        Ok(Successor { arrays: ArrayFile::open(layer)?, place: None })
    }

    /// Writes what rows of `catalog` refer to into a file beside the pair at `target`, whose state `next` it will be.
    /// Announces that it takes the place of the old one if the catalog comes to that state.
    ///
    /// # Errors
    /// Those of reading `old`, of the catalog and of the disk. Nothing has changed then.
    pub(in crate::store) fn on_disk(old: &ArrayFile, catalog: &Catalog, target: &Path, next: u64) -> Result<Self> {
        let name = target.file_name().ok_or_else(|| Error::invalid(format!("`{}` names no file", target.display())))?;
        let workshop = Workshop::new(target)?;
        let built = workshop.path().join(name);
        write(old, catalog, Arc::new(PlainFile::create(&built, false)?), Some(next))?;
        let file = Arc::new(PlainFile::adopt(&built, target)?);
        let mark = Mark::new(catalog.meta(MetaKey::PairId)?.as_deref(), next);
        let arrays = ArrayFile::open(Arc::new(JournalFile::new(file.clone(), mark)))?;
        disk::sync_folder(workshop.path())?;
        let plan = Plan::Compact { workshop: workshop.name(), next };
        let intent = Intent::declare(target, &plan)?;
        let place = Some(Place { workshop, file, built, target: target.to_path_buf(), intent });
        Ok(Successor { arrays, place })
    }

    /// Gives the file up: the catalog did not come to its state.
    pub(in crate::store) fn discard(self) {
        if let Some(place) = self.place {
            if place.intent.withdraw().is_err() {
                // Whoever opens the pair next undoes it, or finishes it if the catalog did come to the state after all.
                place.workshop.keep();
            }
        }
    }

    /// Leaves it to whoever opens the pair next whether the catalog came to its state.
    pub(in crate::store) fn leave(self) {
        if let Some(place) = self.place {
            place.workshop.keep();
        }
    }

    /// Puts the file into its place, now that the catalog has come to its state.
    ///
    /// # Errors
    /// `Io`: then whoever opens the pair next does it, and this process must not change the pair any more.
    pub(in crate::store) fn install(self) -> Result<ArrayFile> {
        if let Some(Place { workshop, file, built, target, intent }) = self.place {
            let moved = disk::rename(&built, &target).and_then(|()| intent.withdraw());
            if moved.is_err() {
                workshop.keep();
            }
            moved?;
            file.attach();
        }
        Ok(self.arrays)
    }
}

fn write(old: &ArrayFile, catalog: &Catalog, layer: Arc<dyn FileLayer>, next: Option<u64>) -> Result<()> {
    let next = next.map(|next| next.to_string());
    let attributes = old.attributes();
    let kept: Vec<(&str, &str)> = attributes
        .iter()
        .map(|(name, text)| match &next {
            Some(next) if name == GENERATION => (name.as_str(), next.as_str()),
            _ => (name.as_str(), text.as_str()),
        })
        .collect();
    let new = ArrayFile::create(layer, old.compression(), &kept)?;
    old.rewrite_into(&new, |hash| catalog.is_referenced(hash))?;
    new.shut()
}
