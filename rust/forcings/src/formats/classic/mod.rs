//! NetCDF classic files: CDF-1, CDF-2 and CDF-5. Cells that were never written hold whatever the file holds: the format
//! knows no fill value that readers should imply.

mod header;

use super::{Attribute, Container, Dimension, Variable};
use crate::chunks::{ByteSource, Layout};
use crate::{Error, Result};
use std::sync::Arc;

/// The start of every classic file; a version byte follows.
pub(crate) const SIGNATURE: [u8; 3] = *b"CDF";

/// An open classic file.
pub(crate) struct Classic {
    source: Arc<dyn ByteSource>,
    dimensions: Vec<Dimension>,
    variables: Vec<Variable>,
    attributes: Vec<Attribute>,
    layouts: Vec<Arc<Layout>>,
}

impl Classic {
    /// Reads the header of the file in `source`.
    ///
    /// # Errors
    /// `Format` when it is no classic file, its header is damaged, or it ends before its data.
    pub(crate) fn open(source: Arc<dyn ByteSource>) -> Result<Self> {
        let header::Header { dimensions, attributes, variables } = header::read(source.as_ref())?;
        let (variables, layouts) = variables.into_iter().map(|(v, layout)| (v, Arc::new(layout))).unzip();
        Ok(Classic { source, dimensions, variables, attributes, layouts })
    }
}

impl Container for Classic {
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
        match (self.variables.get(variable), self.layouts.get(variable)) {
            (Some(Variable { problem: None, .. }), Some(layout)) => Ok(layout.clone()),
            (Some(Variable { name, problem: Some(problem), .. }), _) => {
                Err(Error::format(self.source.path(), format!("variable {name} cannot be read: {problem}")))
            }
            _ => Err(Error::invalid(format!("there is no variable number {variable}"))),
        }
    }

    fn strings(&self, variable: usize) -> Result<Vec<Vec<u8>>> {
        self.layout(variable)?;
        Err(Error::Unsupported(format!(
            "{}: variable {} has no strings; text is kept as characters",
            self.source.path().display(),
            self.variables[variable].name
        )))
    }

    fn source(&self) -> &Arc<dyn ByteSource> {
        &self.source
    }
}
