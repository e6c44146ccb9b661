//! Our side of the interoperability check (`make interop`): runs scripts on stores, and dumps them. `script.rs` says what
//! goes in and out.

mod rows;
#[allow(unreachable_pub)]
#[path = "../../../bench-peers/interop/src/script.rs"]
mod script;

use forcings::series::OwnerCategory;
use forcings::store::{
    Association, AssociationFilter, Compression, CreateOptions, Entity, Filter, OpenOptions, Relation, Store,
};
use rows::{bad, bytes, find, new_series, period, row};
use script::{Dump, Filters, Operation, Pair, Request, Row};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forcings: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    match serde_json::from_str(&text)? {
        Request::Run { path, create, operations } => {
            let store = match create {
                Some(filters) => {
                    let options = CreateOptions { compression: compression(filters), ..CreateOptions::default() };
                    Store::create(&path, &options)?
                }
                None => Store::open(&path, &OpenOptions::default())?,
            };
            for (k, operation) in operations.iter().enumerate() {
                run(&store, operation).map_err(|error| format!("operation {k}: {error}"))?;
            }
            store.close()?;
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

fn run(store: &Store, operation: &Operation) -> Result<()> {
    match operation {
        Operation::Add { series } => series.iter().try_for_each(|row| add(store, std::slice::from_ref(row), false))?,
        Operation::AddBulk { series } => add(store, series, true)?,
        Operation::Remove { series } => {
            let ids = series.iter().map(|identity| find(store, identity)).collect::<Result<Vec<_>>>()?;
            store.remove(&ids)?;
        }
        Operation::Transform { resolution, horizon, interval } => {
            let scope = Filter { resolution: Some(period(resolution)?), ..Filter::default() };
            store.transform_single_time_series(period(horizon)?, period(interval)?, &scope)?;
        }
        Operation::Rename { series, name } => store.rename(find(store, series)?, name)?,
        Operation::Copy { series, owner, owner_type, name } => {
            store.copy_series(find(store, series)?, *owner, owner_type, name.as_deref())?;
        }
        Operation::ReplaceOwner { old, new, category } => {
            let category = OwnerCategory::from_name(category).ok_or_else(bad("category"))?;
            store.replace_owner(*old, *new, category)?;
        }
        Operation::Attach(pair) => store.relation(Relation::SupplementalAttribute).add(&association(pair))?,
        Operation::Detach(pair) => {
            store.relation(Relation::SupplementalAttribute).remove(&only(pair))?;
        }
        Operation::Link(pair) => store.relation(Relation::ParentChild).add(&association(pair))?,
        Operation::Unlink(pair) => {
            store.relation(Relation::ParentChild).remove(&only(pair))?;
        }
        Operation::Begin => store.begin()?,
        Operation::Commit => store.commit()?,
        Operation::Rollback => store.rollback()?,
        Operation::Flush => store.flush()?,
    }
    Ok(())
}

fn add(store: &Store, rows: &[Row], bulk: bool) -> Result<()> {
    let values = rows.iter().map(bytes).collect::<Result<Vec<_>>>()?;
    let series = rows.iter().zip(&values).map(|(row, values)| new_series(row, values)).collect::<Result<Vec<_>>>()?;
    if bulk {
        store.add_bulk(&series)?;
    } else {
        for series in &series {
            store.add(series)?;
        }
    }
    Ok(())
}

fn association(pair: &Pair) -> Association {
    let Pair { from, from_type, to, to_type } = pair.clone();
    Association::new(Entity::new(from, from_type), Entity::new(to, to_type))
}

fn only(pair: &Pair) -> AssociationFilter {
    AssociationFilter { from_id: Some(pair.from), to_id: Some(pair.to), ..AssociationFilter::default() }
}

fn dump(path: &Path) -> Result<Dump> {
    let store = Store::open(path, &OpenOptions { read_only: true, durable: false })?;
    let series = store.list(&Filter::default())?;
    let pairs = |relation| -> Result<Vec<Pair>> {
        let found = store.relation(relation).list(&AssociationFilter::default())?;
        let pair = |Association { from, to }| Pair {
            from: from.id,
            from_type: from.entity_type,
            to: to.id,
            to_type: to.entity_type,
        };
        Ok(found.into_iter().map(pair).collect())
    };
    // Others leave the arrays of removed series, and the generation of the pair, as they are.
    let report = store.verify()?;
    let problems = report.findings.iter().filter(|finding| rows::counts(finding)).map(|f| format!("{f:?}")).collect();
    Ok(Dump {
        problems,
        series: series.iter().map(|info| row(&store, info)).collect::<Result<_>>()?,
        attributes: pairs(Relation::SupplementalAttribute)?,
        children: pairs(Relation::ParentChild)?,
    })
}
