//! NetCDF-4: the conventions that make dimensions, variables and attributes out of the objects of an HDF5 file. One bad
//! object marks one variable; plain HDF5 files get invented dimensions, named as netCDF-C names them.

mod tree;

#[cfg(test)]
mod tests;

use super::hdf5::{Hdf5Dataset, Hdf5File};
use super::{Attribute, Container, Dimension, ElementType, Variable};
use crate::chunks::{ByteSource, Layout};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use tree::{Object, Tree};

/// Attributes that carry the conventions and are not shown.
const HIDDEN: [&str; 8] = [
    "CLASS",
    "NAME",
    "REFERENCE_LIST",
    "DIMENSION_LIST",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_nc3_strict",
    "_NCProperties",
];

/// One group of a NetCDF-4 file.
pub(crate) struct NetCdf4 {
    file: Hdf5File,
    dimensions: Vec<Dimension>,
    variables: Vec<Variable>,
    attributes: Vec<Attribute>,
    /// The dataset behind each variable, where there is one.
    datasets: Vec<Option<Hdf5Dataset>>,
    layouts: Vec<Mutex<Option<Arc<Layout>>>>,
}

impl NetCdf4 {
    /// Reads the headers of the group at `group` (`/` for the root), with the dimensions that it inherits and uses.
    ///
    /// # Errors
    /// `Format` when the source is no HDF5 file or the group is damaged, `NotFound` when there is no such group.
    pub(crate) fn open(source: Arc<dyn ByteSource>, group: &str) -> Result<Self> {
        let file = Hdf5File::open(source)?;
        let group = group.trim_matches('/');
        let attributes = visible(file.group_attributes(group)?);
        let tree = Tree::read(&file, group)?;
        let (dimensions, found) = tree.into_target();
        let mut variables = Vec::new();
        let mut datasets = Vec::new();
        for variable in found {
            let (header, dataset) = describe(&file, &dimensions, variable);
            variables.push(header);
            datasets.push(dataset);
        }
        let layouts = datasets.iter().map(|_| Mutex::new(None)).collect();
        Ok(NetCdf4 { file, dimensions, variables, attributes, datasets, layouts })
    }

    /// The dataset behind a variable, and the shape in which it is read.
    fn dataset(&self, variable: usize) -> Result<(&Hdf5Dataset, &[u64])> {
        let header = self.variables.get(variable);
        match (header, self.datasets.get(variable)) {
            (Some(Variable { problem: None, shape, .. }), Some(Some(dataset))) => Ok((dataset, shape)),
            (Some(header), _) => Err(Error::Unsupported(format!(
                "{}: variable {} cannot be read: {}",
                self.source().path().display(),
                header.name,
                header.problem.as_deref().unwrap_or("it has no data")
            ))),
            (None, _) => Err(Error::invalid(format!("there is no variable number {variable}"))),
        }
    }
}

impl Container for NetCdf4 {
    fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn layout(&self, variable: usize) -> Result<Arc<Layout>> {
        let (dataset, shape) = self.dataset(variable)?;
        let mut known = self.layouts[variable].lock();
        if let Some(layout) = &*known {
            return Ok(layout.clone());
        }
        let layout = Arc::new(dataset.layout_in(shape)?);
        *known = Some(layout.clone());
        Ok(layout)
    }

    fn strings(&self, variable: usize) -> Result<Vec<Vec<u8>>> {
        let (dataset, shape) = self.dataset(variable)?;
        dataset.strings_in(shape)
    }

    fn source(&self) -> &Arc<dyn ByteSource> {
        self.file.source()
    }
}

fn describe(file: &Hdf5File, dimensions: &[Dimension], found: tree::Found) -> (Variable, Option<Hdf5Dataset>) {
    let tree::Found { name, object, axes } = found;
    let Object { dataset, attributes } = match object {
        Ok(object) => object,
        Err(problem) => {
            let element = ElementType::Other("unknown".into());
            let (dimensions, shape, attributes) = (Vec::new(), Vec::new(), Vec::new());
            let problem = Some(problem);
            return (Variable { name, dimensions, shape, element, attributes, fill: None, problem }, None);
        }
    };
    let element = dataset.element();
    let mut heap = file.heap();
    let attributes = visible(attributes.iter().map(|a| a.decode(&mut heap)).collect());
    let shape = axes.iter().map(|d| dimensions[*d].len).collect();
    let problem = match &element {
        ElementType::Other(kind) => Some(format!("its elements have the type {kind}, which is not read")),
        _ => None,
    };
    let fill = match element {
        ElementType::Number(..) | ElementType::Char => dataset.fill().map(<[u8]>::to_vec),
        _ => None,
    };
    (Variable { name, dimensions: axes, shape, element, attributes, fill, problem }, Some(dataset))
}

fn visible(mut attributes: Vec<Attribute>) -> Vec<Attribute> {
    attributes.retain(|a| !HIDDEN.contains(&a.name.as_str()));
    attributes
}
