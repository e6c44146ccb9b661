//! Associations between entities: attributes of components, and components that are parts of others. They are kept beside
//! the series and change in the same transactions; neither touches the other.

use crate::store::catalog::End;
use crate::store::{Association, AssociationFilter, Relation, Store};
use crate::Result;

/// One relation of a store; see [`Store::relation`].
#[derive(Debug, Clone, Copy)]
pub struct Associations<'a> {
    store: &'a Store,
    relation: Relation,
}

impl Store {
    /// The associations of one kind.
    pub fn relation(&self, relation: Relation) -> Associations<'_> {
        Associations { store: self, relation }
    }
}

impl Associations<'_> {
    /// Adds one association.
    ///
    /// # Errors
    /// `DuplicateAssociation` when there is one between these numbers, whatever its types; `ReadOnlyStore`, `Closed`,
    /// `Catalog`. After an error the store is as before.
    pub fn add(&self, association: &Association) -> Result<()> {
        self.add_bulk(std::slice::from_ref(association))
    }

    /// Adds many associations, all or none.
    ///
    /// # Errors
    /// As [`Associations::add`], naming the association at fault.
    pub fn add_bulk(&self, associations: &[Association]) -> Result<()> {
        self.store
            .shared
            .change(|session| session.apply(|change| change.catalog().associate(self.relation, associations)))
    }

    /// Removes the associations that match and returns how many they were; none is no error.
    ///
    /// # Errors
    /// `ReadOnlyStore`, `Closed`, `Catalog`.
    pub fn remove(&self, filter: &AssociationFilter) -> Result<u64> {
        self.store.shared.change(|session| session.apply(|change| change.catalog().dissociate(self.relation, filter)))
    }

    /// The associations that match, in the order in which they were added.
    ///
    /// # Errors
    /// `Closed`, `Integrity` for a row that cannot be read, `Catalog`.
    pub fn list(&self, filter: &AssociationFilter) -> Result<Vec<Association>> {
        self.store.shared.look(|session| session.catalog().associations(self.relation, filter))
    }

    /// How many associations match.
    ///
    /// # Errors
    /// As [`Associations::list`].
    pub fn count(&self, filter: &AssociationFilter) -> Result<u64> {
        self.store.shared.look(|session| session.catalog().count_associations(self.relation, filter))
    }

    /// Whether there is an association from one number to the other.
    ///
    /// # Errors
    /// As [`Associations::list`].
    pub fn contains(&self, from: i64, to: i64) -> Result<bool> {
        let filter = AssociationFilter { from_id: Some(from), to_id: Some(to), ..AssociationFilter::default() };
        Ok(self.count(&filter)? > 0)
    }

    /// The components or parents of the associations that match: distinct numbers, ascending.
    ///
    /// # Errors
    /// As [`Associations::list`].
    pub fn from_ids(&self, filter: &AssociationFilter) -> Result<Vec<i64>> {
        self.store.shared.look(|session| session.catalog().associated_ids(self.relation, End::From, filter))
    }

    /// The attributes or children of the associations that match: distinct numbers, ascending.
    ///
    /// # Errors
    /// As [`Associations::list`].
    pub fn to_ids(&self, filter: &AssociationFilter) -> Result<Vec<i64>> {
        self.store.shared.look(|session| session.catalog().associated_ids(self.relation, End::To, filter))
    }

    /// The types of the components or parents of the associations that match: distinct, ascending.
    ///
    /// # Errors
    /// As [`Associations::list`].
    pub fn from_types(&self, filter: &AssociationFilter) -> Result<Vec<String>> {
        self.store.shared.look(|session| session.catalog().associated_types(self.relation, End::From, filter))
    }

    /// The types of the attributes or children of the associations that match: distinct, ascending.
    ///
    /// # Errors
    /// As [`Associations::list`].
    pub fn to_types(&self, filter: &AssociationFilter) -> Result<Vec<String>> {
        self.store.shared.look(|session| session.catalog().associated_types(self.relation, End::To, filter))
    }

    /// Gives a component another number, wherever it stands in the relation, and returns how many associations had it.
    /// Types stay as they are.
    ///
    /// # Errors
    /// `DuplicateAssociation` when two associations would become one: then nothing changes; `ReadOnlyStore`, `Closed`,
    /// `Catalog`.
    pub fn replace_component(&self, old: i64, new: i64) -> Result<u64> {
        match self.relation {
            Relation::SupplementalAttribute => self.replace(&[End::From], old, new),
            Relation::ParentChild => self.replace(&[End::From, End::To], old, new),
        }
    }

    /// Gives a supplemental attribute another number, likewise; the relation between components has none.
    ///
    /// # Errors
    /// As [`Associations::replace_component`].
    pub fn replace_attribute(&self, old: i64, new: i64) -> Result<u64> {
        match self.relation {
            Relation::SupplementalAttribute => self.replace(&[End::To], old, new),
            Relation::ParentChild => self.store.shared.change(|_| Ok(0)),
        }
    }

    fn replace(&self, ends: &[End], old: i64, new: i64) -> Result<u64> {
        self.store.shared.change(|session| {
            session.apply(|change| change.catalog().replace_associated(self.relation, ends, old, new))
        })
    }
}
