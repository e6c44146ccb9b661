//! The distinct values of a column. Each value costs one search of an index, however many rows have it.

use super::Catalog;
use crate::series::OwnerCategory;
use crate::time::Period;
use crate::Result;
use rusqlite::types::FromSql;

impl Catalog {
    /// The names of all series, ascending.
    ///
    /// # Errors
    /// `Integrity` for a value that cannot be read, `Catalog` when SQLite refuses.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        self.distinct("name", None)
    }

    /// The types of all owners, ascending.
    ///
    /// # Errors
    /// As [`Catalog::names`].
    pub(crate) fn owner_types(&self) -> Result<Vec<String>> {
        self.distinct("owner_type", None)
    }

    /// The numbers of the owners of a category, ascending.
    ///
    /// # Errors
    /// As [`Catalog::names`].
    pub(crate) fn owner_ids(&self, category: OwnerCategory) -> Result<Vec<i64>> {
        self.distinct("owner_id", Some(category))
    }

    /// The resolutions of all series that have one, in the order of their texts.
    ///
    /// # Errors
    /// As [`Catalog::names`].
    pub(crate) fn resolutions(&self) -> Result<Vec<Period>> {
        self.periods("resolution")
    }

    /// The intervals of all forecasts, in the order of their texts.
    ///
    /// # Errors
    /// As [`Catalog::names`].
    pub(crate) fn intervals(&self) -> Result<Vec<Period>> {
        self.periods("interval")
    }

    fn periods(&self, column: &str) -> Result<Vec<Period>> {
        let texts: Vec<String> = self.distinct(column, None)?;
        let period = |text: String| {
            text.parse().map_err(|_| {
                let shown: String = text.chars().take(80).collect();
                self.damage(format_args!("column {column}: `{shown}` cannot be read"))
            })
        };
        texts.into_iter().map(period).collect()
    }

    fn distinct<T: FromSql>(&self, column: &str, category: Option<OwnerCategory>) -> Result<Vec<T>> {
        self.connection
            .prepare_cached(&distinct(column, category))
            .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect())
            .map_err(|e| self.unreadable(column, e))
    }
}

/// The statement that steps from each value of a column to the next.
pub(super) fn distinct(column: &str, category: Option<OwnerCategory>) -> String {
    let among = category.map_or(String::new(), |category| format!("AND owner_category = '{}'", category.name()));
    let next = |test: &str| {
        format!("SELECT {column} FROM time_series_associations WHERE {column} {test} {among} ORDER BY {column} LIMIT 1")
    };
    format!(
        "WITH RECURSIVE found (value) AS (
             SELECT ({}) UNION ALL SELECT ({}) FROM found WHERE value IS NOT NULL
         ) SELECT value FROM found WHERE value IS NOT NULL",
        next("IS NOT NULL"),
        next("> found.value")
    )
}
