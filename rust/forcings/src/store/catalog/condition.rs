//! From conditions to a search: one condition leads, which is answered by an index, and the others are tested on the rows
//! that it finds. SQLite keeps no counts of this catalog's values, so which one leads is found out by counting a little.

use super::filter::Filter;
use super::Catalog;
use crate::Result;
use rusqlite::types::Value;

/// Rows that are counted for one condition at most.
const PROBE: i64 = 4096;

/// One condition on the table `a`.
#[derive(Debug)]
pub(super) struct Term {
    /// The condition so that an index answers it, if one does.
    pub(super) lead: Option<String>,
    /// The same so that no index is used for it.
    pub(super) other: String,
    /// The values of its question marks, in both forms.
    pub(super) parameters: Vec<Value>,
}

impl Term {
    /// A test of a column that has an index.
    pub(super) fn on(column: &str, test: &str, parameters: Vec<Value>) -> Self {
        // A plus sign in front of a column keeps SQLite from its index.
        Term { lead: Some(format!("a.{column} {test}")), other: format!("+a.{column} {test}"), parameters }
    }

    /// A test without values that most rows pass.
    pub(super) fn plain(test: &str) -> Self {
        Term { lead: None, other: test.into(), parameters: Vec::new() }
    }
}

impl Catalog {
    /// The condition on the table `a` that a filter stands for, with its parameters.
    ///
    /// # Errors
    /// `InvalidParameter` for a pattern that is too long, `Catalog` when SQLite refuses.
    pub(super) fn condition(&self, filter: &Filter) -> Result<(String, Vec<Value>)> {
        let terms = filter.terms(self.references)?;
        if terms.is_empty() {
            return Ok(("1".into(), Vec::new()));
        }
        let lead = self.lead(&terms)?;
        let text = |(i, term): (usize, &Term)| match &term.lead {
            Some(text) if lead == Some(i) => text.clone(),
            _ => term.other.clone(),
        };
        let texts: Vec<String> = terms.iter().enumerate().map(text).collect();
        Ok((texts.join(" AND "), terms.into_iter().flat_map(|term| term.parameters).collect()))
    }

    /// Whether any series matches.
    ///
    /// # Errors
    /// As [`Catalog::condition`].
    pub(crate) fn any(&self, filter: &Filter) -> Result<bool> {
        let (condition, parameters) = self.condition(filter)?;
        let rows = format!("SELECT 1 FROM time_series_associations a WHERE {condition}");
        self.connection
            .prepare_cached(&format!("SELECT EXISTS ({rows})"))
            .and_then(|mut s| s.query_row(rusqlite::params_from_iter(parameters), |row| row.get(0)))
            .map_err(|e| self.failure(e))
    }

    /// The term that leaves the fewest rows, or the first of those that leave too many to count.
    fn lead(&self, terms: &[Term]) -> Result<Option<usize>> {
        let candidates: Vec<(usize, &str)> =
            terms.iter().enumerate().filter_map(|(i, term)| Some((i, term.lead.as_deref()?))).collect();
        let mut best = candidates.first().map(|(i, _)| *i);
        if candidates.len() > 1 {
            let mut fewest = PROBE;
            for (i, text) in candidates {
                let rows = self.count_up_to(fewest, text, &terms[i].parameters)?;
                if rows < fewest {
                    (best, fewest) = (Some(i), rows);
                }
            }
        }
        Ok(best)
    }

    fn count_up_to(&self, limit: i64, condition: &str, parameters: &[Value]) -> Result<i64> {
        let limit = Value::Integer(limit);
        let parameters = rusqlite::params_from_iter(parameters.iter().chain([&limit]));
        let rows = format!("SELECT 1 FROM time_series_associations a WHERE {condition} LIMIT ?");
        self.connection
            .prepare_cached(&format!("SELECT COUNT(*) FROM ({rows})"))
            .and_then(|mut s| s.query_row(parameters, |row| row.get(0)))
            .map_err(|e| self.failure(e))
    }
}
