//! Who a series belongs to.

use super::cut;
use std::fmt;

/// Whether an owner is a component or a supplemental attribute. The same number in both is two owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum OwnerCategory {
    /// A component of the system.
    Component = 0,
    /// An attribute that components share.
    SupplementalAttribute = 1,
}

impl OwnerCategory {
    /// The name in the catalog.
    pub fn name(self) -> &'static str {
        match self {
            OwnerCategory::Component => "Component",
            OwnerCategory::SupplementalAttribute => "SupplementalAttribute",
        }
    }

    /// The category with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [OwnerCategory::Component, OwnerCategory::SupplementalAttribute].into_iter().find(|c| c.name() == name)
    }
}

/// The owner of a series: its number and category identify it, its type describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Any number; unique within the category.
    pub id: i64,
    /// Free text, such as `Generator`.
    pub owner_type: String,
    /// What kind of thing owns the series.
    pub category: OwnerCategory,
}

impl Owner {
    /// A component.
    pub fn component(id: i64, owner_type: impl Into<String>) -> Self {
        Owner { id, owner_type: owner_type.into(), category: OwnerCategory::Component }
    }

    /// A supplemental attribute.
    pub fn attribute(id: i64, owner_type: impl Into<String>) -> Self {
        Owner { id, owner_type: owner_type.into(), category: OwnerCategory::SupplementalAttribute }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.category.name(), self.id, cut(&self.owner_type))
    }
}
