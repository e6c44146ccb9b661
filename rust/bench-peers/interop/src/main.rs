//! The peer's side of the interoperability check: runs scripts on stores, and dumps them, through the crate
//! `infrastore-core` 0.3.0. `script.rs` says what goes in and out.

mod rows;
mod script;

use infrastore_core::{
    create_store_with_compression, open_store, Compression, ListFilter, OwnerCategory, ParentChildAssociation,
    ParentChildFilter, Store, SupplementalAttributeAssociation, SupplementalAttributeFilter,
};
use rows::{add_request, identity, period, row};
use script::{Dump, Filters, Operation, Pair, Request};
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("infrastore-core 0.3.0: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    match serde_json::from_str(&text)? {
        Request::Run { path, create, operations } => {
            let mut store = match create {
                Some(filters) => create_store_with_compression(Some(&path), false, compression(filters))?,
                None => open_store(&path, false)?,
            };
            for (k, operation) in operations.iter().enumerate() {
                run(&mut store, operation).map_err(|error| format!("operation {k}: {error}"))?;
            }
            store.flush()?;
        }
        Request::Dump { path } => println!("{}", serde_json::to_string(&dump(&path)?)?),
    }
    Ok(())
}

fn compression(filters: Filters) -> Compression {
    match filters.deflate {
        Some(level) => Compression::Deflate { level, shuffle: filters.shuffle },
        None => Compression::None,
    }
}

fn run(store: &mut Store, operation: &Operation) -> Result<()> {
    match operation {
        Operation::Add { series } => {
            for row in series {
                store.add(add_request(row)?)?;
            }
        }
        Operation::AddBulk { series } => {
            store.add_time_series_bulk(series.iter().map(add_request).collect::<Result<_>>()?)?;
        }
        Operation::Remove { series } => {
            let keys = series.iter().map(identity).collect::<Result<Vec<_>>>()?;
            store.remove_time_series_bulk(&keys.iter().collect::<Vec<_>>())?;
        }
        Operation::Transform { resolution, horizon, interval } => {
            store.transform_single_time_series(period(horizon)?, period(interval)?, None, Some(period(resolution)?))?;
        }
        Operation::Rename { series, name } => {
            store.rename_time_series(&identity(series)?, name)?;
        }
        Operation::Copy { series, owner, owner_type, name } => {
            store.copy_time_series(&identity(series)?, *owner, owner_type, name.as_deref())?;
        }
        Operation::ReplaceOwner { old, new, category } => {
            let category = OwnerCategory::parse(category).ok_or("an unknown category")?;
            store.replace_owner(*old, *new, category)?;
        }
        Operation::Attach(pair) => store.add_supplemental_attribute_association(attachment(pair))?,
        Operation::Detach(pair) => {
            let filter = SupplementalAttributeFilter {
                component_id: Some(pair.from),
                attribute_id: Some(pair.to),
                ..SupplementalAttributeFilter::default()
            };
            store.remove_supplemental_attribute_associations(&filter)?;
        }
        Operation::Link(pair) => store.add_parent_child_association(edge(pair))?,
        Operation::Unlink(pair) => {
            let (parent_id, child_id) = (Some(pair.from), Some(pair.to));
            let filter = ParentChildFilter { parent_id, child_id, ..ParentChildFilter::default() };
            store.remove_parent_child_associations(&filter)?;
        }
        Operation::Begin => store.begin_transaction()?,
        Operation::Commit => store.commit_transaction()?,
        Operation::Rollback => store.rollback_transaction()?,
        Operation::Flush => store.flush()?,
    }
    Ok(())
}

fn attachment(pair: &Pair) -> SupplementalAttributeAssociation {
    let Pair { from, from_type, to, to_type } = pair.clone();
    SupplementalAttributeAssociation {
        component_id: from,
        component_type: from_type,
        attribute_id: to,
        attribute_type: to_type,
    }
}

fn edge(pair: &Pair) -> ParentChildAssociation {
    let Pair { from, from_type, to, to_type } = pair.clone();
    ParentChildAssociation { parent_id: from, parent_type: from_type, child_id: to, child_type: to_type }
}

fn dump(path: &Path) -> Result<Dump> {
    let store = open_store(path, true)?;
    let listed = store.list_time_series(ListFilter::new())?;
    let series = listed.iter().map(|metadata| row(&store, metadata)).collect::<Result<_>>()?;
    let attributes = store.list_supplemental_attribute_associations(&Default::default())?;
    let attributes = attributes.into_iter().map(|a| Pair {
        from: a.component_id,
        from_type: a.component_type,
        to: a.attribute_id,
        to_type: a.attribute_type,
    });
    let children = store.list_parent_child_associations(&Default::default())?;
    let children = children.into_iter().map(|a| Pair {
        from: a.parent_id,
        from_type: a.parent_type,
        to: a.child_id,
        to_type: a.child_type,
    });
    let problems = store.verify_integrity()?.errors;
    Ok(Dump { problems, series, attributes: attributes.collect(), children: children.collect() })
}
