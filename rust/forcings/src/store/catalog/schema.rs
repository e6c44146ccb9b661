//! The tables and indexes of the catalog, and what an existing catalog may lack of them.

use rusqlite::{Connection, OptionalExtension};

/// The version in the table `schema_version`.
pub(super) const VERSION: i64 = 1;

/// The main table; everything else hangs on its rows.
pub(super) const ASSOCIATIONS: &str = "time_series_associations";

/// Everything a writable catalog has. Running it again changes nothing.
const TABLES: &str = "
DROP INDEX IF EXISTS uq_assoc;
DROP INDEX IF EXISTS uq_assoc_coalesced;
CREATE TABLE IF NOT EXISTS time_series_associations (
    id INTEGER PRIMARY KEY,
    owner_id INTEGER NOT NULL,
    owner_type TEXT NOT NULL,
    owner_category TEXT NOT NULL CHECK (owner_category IN ('Component', 'SupplementalAttribute')),
    time_series_type TEXT NOT NULL,
    name TEXT NOT NULL,
    initial_timestamp TEXT,
    resolution TEXT,
    length INTEGER,
    horizon TEXT,
    interval TEXT,
    count INTEGER,
    timestamps_json TEXT,
    units TEXT,
    percentiles_json TEXT,
    dtype TEXT NOT NULL DEFAULT 'f64',
    element_shape TEXT,
    ext TEXT,
    data_hash BLOB NOT NULL,
    features_hash BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS feature_sets (
    key TEXT NOT NULL,
    value_kind TEXT NOT NULL CHECK (value_kind IN ('int', 'float', 'bool', 'str')),
    value_int INTEGER,
    value_float REAL,
    value_bool INTEGER,
    value_str TEXT,
    features_hash BLOB NOT NULL,
    PRIMARY KEY (features_hash, key)
);
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS supplemental_attribute_associations (
    id INTEGER PRIMARY KEY,
    component_id INTEGER NOT NULL,
    component_type TEXT NOT NULL,
    attribute_id INTEGER NOT NULL,
    attribute_type TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS parent_child_associations (
    id INTEGER PRIMARY KEY,
    parent_id INTEGER NOT NULL,
    parent_type TEXT NOT NULL,
    child_id INTEGER NOT NULL,
    child_type TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS forcings_meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);

CREATE UNIQUE INDEX IF NOT EXISTS uq_ts_assoc ON time_series_associations
    (owner_id, owner_category, time_series_type, name, resolution, interval, features_hash);
CREATE UNIQUE INDEX IF NOT EXISTS uq_ts_assoc_coalesced ON time_series_associations
    (owner_id, owner_category, time_series_type, name, COALESCE(resolution, ''), COALESCE(interval, ''),
     features_hash);
CREATE INDEX IF NOT EXISTS idx_hash ON time_series_associations (data_hash);
CREATE INDEX IF NOT EXISTS idx_owner ON time_series_associations (owner_id, owner_category);
CREATE INDEX IF NOT EXISTS idx_resolution ON time_series_associations (resolution);
CREATE INDEX IF NOT EXISTS idx_interval ON time_series_associations (interval);
CREATE INDEX IF NOT EXISTS idx_ts_type ON time_series_associations (time_series_type);
CREATE INDEX IF NOT EXISTS idx_name ON time_series_associations (name);
CREATE INDEX IF NOT EXISTS idx_owner_type ON time_series_associations (owner_type);
CREATE INDEX IF NOT EXISTS idx_category_owner ON time_series_associations (owner_category, owner_id);
CREATE INDEX IF NOT EXISTS idx_features ON time_series_associations (features_hash);
CREATE INDEX IF NOT EXISTS idx_initial ON time_series_associations (initial_timestamp);
CREATE INDEX IF NOT EXISTS idx_length ON time_series_associations (length);
CREATE INDEX IF NOT EXISTS idx_feature_value ON feature_sets
    (key, value_kind, value_int, value_float, value_str, features_hash);
CREATE UNIQUE INDEX IF NOT EXISTS uq_sa_assoc ON supplemental_attribute_associations (component_id, attribute_id);
CREATE INDEX IF NOT EXISTS idx_sa_assoc_attribute ON supplemental_attribute_associations
    (attribute_id, component_id, component_type);
CREATE UNIQUE INDEX IF NOT EXISTS uq_parent_child ON parent_child_associations (parent_id, child_id);
CREATE INDEX IF NOT EXISTS idx_parent_child_child ON parent_child_associations (child_id, parent_id, parent_type);
";

/// Few series have the one value that is searched for.
const ZONELESS: &str = "CREATE INDEX IF NOT EXISTS idx_zoneless ON time_series_associations (time_reference)
                        WHERE time_reference = 'zoneless'";

/// Adds what is missing, in one transaction.
pub(super) fn complete(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    if !has_column(&transaction, ASSOCIATIONS, "time_reference")? {
        transaction.execute_batch("ALTER TABLE time_series_associations ADD COLUMN time_reference TEXT")?;
    }
    transaction.execute_batch(ZONELESS)?;
    transaction.execute(
        "INSERT INTO schema_version (version) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM schema_version)",
        [VERSION],
    )?;
    transaction.commit()
}

/// The version of an existing catalog, if it says one.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    if !has_table(connection, "schema_version")? {
        return Ok(None);
    }
    connection.query_row("SELECT MAX(version) FROM schema_version", [], |row| row.get(0))
}

pub(super) fn has_table(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let found: Option<i64> = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", [table], |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}

pub(super) fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let found: Option<i64> = connection
        .query_row("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", [table, column], |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}
