//! The two tables that say how entities belong together: which supplemental attributes a component has, and which
//! components are parts of which. They have nothing to do with the series. A catalog of an older writer may lack them,
//! which reads as empty.

use super::insert::is_taken;
use super::{schema, Catalog};
use crate::{Error, Result};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

/// What an association means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// From a component to a supplemental attribute that it has.
    SupplementalAttribute,
    /// From a component to a component that is a part of it.
    ParentChild,
}

/// One end of an association: a number and a type that describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entity {
    /// Any number; with the relation and the end it identifies the entity.
    pub id: i64,
    /// Free text, such as `Generator`.
    pub entity_type: String,
}

/// A directed association. The numbers of its ends identify it: a relation has at most one from one to the other, and the
/// reverse one is another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Association {
    /// The component or the parent.
    pub from: Entity,
    /// The attribute or the child.
    pub to: Entity,
}

/// A selection of associations: every field that is set must match. An empty list of types matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AssociationFilter {
    /// The number of the component or the parent.
    pub from_id: Option<i64>,
    /// Its type is one of these.
    pub from_types: Option<Vec<String>>,
    /// The number of the attribute or the child.
    pub to_id: Option<i64>,
    /// Its type is one of these.
    pub to_types: Option<Vec<String>>,
}

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    From,
    To,
}

impl Entity {
    /// An entity.
    pub fn new(id: i64, entity_type: impl Into<String>) -> Self {
        Entity { id, entity_type: entity_type.into() }
    }
}

impl Association {
    /// An association between two entities.
    pub fn new(from: Entity, to: Entity) -> Self {
        Association { from, to }
    }
}

impl Relation {
    fn table(self) -> &'static str {
        match self {
            Relation::SupplementalAttribute => "supplemental_attribute_associations",
            Relation::ParentChild => "parent_child_associations",
        }
    }

    /// The words in front of `_id` and `_type` in the columns of an end.
    fn end(self, end: End) -> &'static str {
        match (self, end) {
            (Relation::SupplementalAttribute, End::From) => "component",
            (Relation::SupplementalAttribute, End::To) => "attribute",
            (Relation::ParentChild, End::From) => "parent",
            (Relation::ParentChild, End::To) => "child",
        }
    }

    fn duplicate(self, from: i64, to: i64) -> Error {
        Error::DuplicateAssociation(match self {
            Relation::SupplementalAttribute => {
                format!("the attribute {to} is already attached to the component {from}")
            }
            Relation::ParentChild => format!("the component {to} is already a child of the component {from}"),
        })
    }
}

impl AssociationFilter {
    fn condition(&self, relation: Relation) -> (String, Vec<Value>) {
        let (mut terms, mut parameters) = (Vec::new(), Vec::new());
        let ends = [(End::From, self.from_id, &self.from_types), (End::To, self.to_id, &self.to_types)];
        for (end, id, types) in ends {
            let end = relation.end(end);
            if let Some(id) = id {
                terms.push(format!("{end}_id = ?"));
                parameters.push(id.into());
            }
            if let Some(types) = types {
                // One parameter for any number of types.
                let list = serde_json::to_string(types).expect("texts have a JSON text");
                terms.push(format!("{end}_type IN (SELECT value FROM json_each(?))"));
                parameters.push(list.into());
            }
        }
        let text = if terms.is_empty() { "1".into() } else { terms.join(" AND ") };
        (text, parameters)
    }
}

impl Catalog {
    /// Adds associations. The caller holds a transaction and undoes it after an error.
    ///
    /// # Errors
    /// `DuplicateAssociation` naming the one that exists, `Catalog` when SQLite refuses.
    pub(crate) fn associate(&self, relation: Relation, associations: &[Association]) -> Result<()> {
        let (table, from, to) = (relation.table(), relation.end(End::From), relation.end(End::To));
        let columns = format!("{from}_id, {from}_type, {to}_id, {to}_type");
        let mut statement = self
            .connection
            .prepare_cached(&format!("INSERT INTO {table} ({columns}) VALUES (?1, ?2, ?3, ?4)"))
            .map_err(|e| self.failure(e))?;
        for Association { from, to } in associations {
            match statement.execute(params![from.id, from.entity_type, to.id, to.entity_type]) {
                Ok(_) => {}
                Err(e) if is_taken(&e) => return Err(relation.duplicate(from.id, to.id)),
                Err(e) => return Err(self.failure(e)),
            }
        }
        Ok(())
    }

    /// Deletes the associations that match, and answers how many they were.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn dissociate(&self, relation: Relation, filter: &AssociationFilter) -> Result<u64> {
        let (condition, parameters) = filter.condition(relation);
        self.connection
            .prepare_cached(&format!("DELETE FROM {} WHERE {condition}", relation.table()))
            .and_then(|mut s| s.execute(params_from_iter(parameters)))
            .map(|rows| rows as u64)
            .map_err(|e| self.failure(e))
    }

    /// The associations that match, in the order in which they were added.
    ///
    /// # Errors
    /// `Integrity` for a row that cannot be read, `Catalog` when SQLite refuses.
    pub(crate) fn associations(&self, relation: Relation, filter: &AssociationFilter) -> Result<Vec<Association>> {
        let (from, to) = (relation.end(End::From), relation.end(End::To));
        let entity = |row: &rusqlite::Row<'_>, at: usize| -> rusqlite::Result<Entity> {
            Ok(Entity { id: row.get(at)?, entity_type: row.get(at + 1)? })
        };
        self.select_associations(
            relation,
            filter,
            &format!("{from}_id, {from}_type, {to}_id, {to}_type"),
            "ORDER BY +id",
            |row| Ok(Association { from: entity(row, 0)?, to: entity(row, 2)? }),
        )
    }

    /// How many associations match.
    ///
    /// # Errors
    /// As [`Catalog::associations`].
    pub(crate) fn count_associations(&self, relation: Relation, filter: &AssociationFilter) -> Result<u64> {
        let counts = self.select_associations(relation, filter, "COUNT(*)", "", |row| row.get::<_, i64>(0))?;
        Ok(counts.first().map_or(0, |count| count.unsigned_abs()))
    }

    /// The distinct numbers at one end of the associations that match, ascending.
    ///
    /// # Errors
    /// As [`Catalog::associations`].
    pub(crate) fn associated_ids(&self, relation: Relation, end: End, filter: &AssociationFilter) -> Result<Vec<i64>> {
        let id = format!("{}_id", relation.end(end));
        self.select_associations(relation, filter, &format!("DISTINCT {id}"), &format!("ORDER BY {id}"), |row| {
            row.get(0)
        })
    }

    /// The distinct types at one end of the associations that match, ascending.
    ///
    /// # Errors
    /// As [`Catalog::associations`].
    pub(crate) fn associated_types(
        &self,
        relation: Relation,
        end: End,
        filter: &AssociationFilter,
    ) -> Result<Vec<String>> {
        let name = format!("{}_type", relation.end(end));
        let order = format!("ORDER BY {name}");
        self.select_associations(relation, filter, &format!("DISTINCT {name}"), &order, |row| row.get(0))
    }

    /// Writes `new` for the number `old` at these ends, and answers how many associations had it.
    ///
    /// # Errors
    /// `DuplicateAssociation` when two associations would become one, `Catalog` when SQLite refuses.
    pub(crate) fn replace_associated(&self, relation: Relation, ends: &[End], old: i64, new: i64) -> Result<u64> {
        let columns: Vec<String> = ends.iter().map(|end| format!("{}_id", relation.end(*end))).collect();
        let set: Vec<String> = columns.iter().map(|id| format!("{id} = iif({id} = ?1, ?2, {id})")).collect();
        let among: Vec<String> = columns.iter().map(|id| format!("{id} = ?1")).collect();
        let sql = format!("UPDATE {} SET {} WHERE {}", relation.table(), set.join(", "), among.join(" OR "));
        match self.connection.prepare_cached(&sql).and_then(|mut s| s.execute([old, new])) {
            Ok(rows) => Ok(rows as u64),
            Err(e) if is_taken(&e) => Err(Error::DuplicateAssociation(format!(
                "{old} cannot become {new} in {}: an association of both would exist twice",
                relation.table()
            ))),
            Err(e) => Err(self.failure(e)),
        }
    }

    fn select_associations<T>(
        &self,
        relation: Relation,
        filter: &AssociationFilter,
        what: &str,
        order: &str,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let table = relation.table();
        if !schema::has_table(&self.connection, table).map_err(|e| self.failure(e))? {
            return Ok(Vec::new());
        }
        let (condition, parameters) = filter.condition(relation);
        self.connection
            .prepare_cached(&format!("SELECT {what} FROM {table} WHERE {condition} {order}"))
            .and_then(|mut s| s.query_map(params_from_iter(parameters), read)?.collect())
            .map_err(|e| self.unreadable(table, e))
    }
}
