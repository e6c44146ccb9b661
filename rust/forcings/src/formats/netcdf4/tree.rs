//! The groups of a file, and which dimension each axis of a variable belongs to. Axes find their dimensions through
//! references to dimension scales, or through the numbers that netCDF-C gives dimensions; the others get invented ones.

use crate::formats::hdf5::{self, GlobalHeap, Hdf5Dataset, Hdf5File, RawAttribute};
use crate::formats::Dimension;
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};

/// How deep groups may lie, and how many there may be, where the whole file has to be seen.
const MAX_DEPTH: usize = 64;
const MAX_GROUPS: usize = 10_000;

/// The name prefix of a variable that has the name of a dimension and is not its coordinate.
const NON_COORDINATE: &str = "_nc4_non_coord_";
/// The start of the `NAME` of a dimension without a coordinate variable.
const NO_VARIABLE: &[u8] = b"This is a netCDF dimension but not a netCDF variable";

/// A variable and its dimensions, as positions in the list that comes with it.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) object: std::result::Result<Object, String>,
    pub(super) axes: Vec<usize>,
}

/// A dataset that could be opened.
pub(super) struct Object {
    pub(super) dataset: Hdf5Dataset,
    pub(super) attributes: Vec<RawAttribute>,
}

/// What was read of a file: the groups on the way to the target, or all of them.
pub(super) struct Tree<'a> {
    file: &'a Hdf5File,
    dimensions: Vec<Scale>,
    groups: Vec<Group>,
    seen: HashSet<u64>,
    target: usize,
    /// The number of the next dimension without one.
    next: i64,
}

struct Scale {
    dimension: Dimension,
    /// The header of its dimension scale; `None` for an invented one.
    address: Option<u64>,
    /// The number that netCDF-C gave it, or would give it.
    number: i64,
}

struct Group {
    path: String,
    parent: Option<usize>,
    /// Positions in `Tree::dimensions`.
    dimensions: Vec<usize>,
    variables: Vec<Member>,
    /// Names of the groups below.
    below: Vec<String>,
    children: Vec<usize>,
}

struct Member {
    name: String,
    object: std::result::Result<Object, String>,
    /// The dimension whose scale it is.
    scale: Option<usize>,
    axes: Vec<Option<usize>>,
}

impl<'a> Tree<'a> {
    /// Reads the group at `path` (`a/b`, or empty for the root) and those above it; and the rest of the file where the
    /// lengths or names of dimensions depend on it.
    ///
    /// # Errors
    /// `NotFound` when there is no such group, `Format` when one on the way to it is damaged.
    pub(super) fn read(file: &'a Hdf5File, path: &str) -> Result<Self> {
        let (dimensions, groups, seen) = (Vec::new(), Vec::new(), HashSet::new());
        let mut tree = Tree { file, dimensions, groups, seen, target: 0, next: 0 };
        tree.group("/".into(), None)?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let above = tree.groups.len() - 1;
            let path = join(&tree.groups[above].path, name);
            tree.group(path, Some(above))?;
        }
        tree.target = tree.groups.len() - 1;

        let unlimited = tree.dimensions.iter().any(|d| d.dimension.unlimited);
        let unnamed = tree.groups[tree.target].variables.iter().any(|v| v.axes.contains(&None));
        let more = tree.groups.iter().any(|g| !g.below.is_empty());
        if more && (unlimited || unnamed) {
            tree.all_groups()?;
        }
        tree.measure();
        if unnamed {
            tree.invent(0);
        }
        Ok(tree)
    }

    /// The variables of the target, and the dimensions that are its own or that they use.
    pub(super) fn into_target(mut self) -> (Vec<Dimension>, Vec<Found>) {
        let group = self.groups.swap_remove(self.target);
        let used: HashSet<usize> = group.variables.iter().flat_map(|v| v.axes.iter().flatten().copied()).collect();
        let own: HashSet<usize> = group.dimensions.iter().copied().collect();
        let mut listed: Vec<usize> =
            (0..self.dimensions.len()).filter(|d| used.contains(d) || own.contains(d)).collect();
        listed.sort_by_key(|d| (own.contains(d), self.dimensions[*d].number));
        let place: HashMap<usize, usize> = listed.iter().enumerate().map(|(i, d)| (*d, i)).collect();
        let dimensions = listed.iter().map(|d| self.dimensions[*d].dimension.clone()).collect();
        let found = |v: Member| {
            let axes = v.axes.iter().flatten().map(|d| place[d]).collect();
            Found { name: v.name, object: v.object, axes }
        };
        (dimensions, group.variables.into_iter().map(found).collect())
    }

    /// Reads one group.
    fn group(&mut self, path: String, parent: Option<usize>) -> Result<usize> {
        let file = self.file;
        if let hdf5::Object::Group(address) = file.object(&path)? {
            self.seen.insert(address);
        }
        let mut group = Group {
            parent,
            dimensions: Vec::new(),
            variables: Vec::new(),
            below: Vec::new(),
            children: Vec::new(),
            path,
        };
        for name in file.member_names(&group.path)? {
            let object = match file.object(&join(&group.path, &name)) {
                Ok(hdf5::Object::Group(_)) => {
                    group.below.push(name);
                    continue;
                }
                Ok(hdf5::Object::Datatype) => continue,
                Ok(hdf5::Object::Dataset(dataset)) => dataset.raw_attributes().map(|a| (*dataset, a)),
                Err(e) => Err(e),
            };
            match object {
                Ok((dataset, attributes)) => self.member(&mut group, name, Object { dataset, attributes }),
                Err(e) => {
                    let object = Err(problem(e));
                    group.variables.push(Member { name, object, scale: None, axes: Vec::new() });
                }
            }
        }
        let index = self.groups.len();
        if let Some(parent) = parent {
            self.groups[parent].children.push(index);
        }
        self.groups.push(group);
        self.bind(index);
        Ok(index)
    }

    /// Enters a dataset as a dimension, a variable, or both.
    fn member(&mut self, group: &mut Group, name: String, object: Object) {
        let text = |wanted: &str| object.attributes.iter().find(|a| a.name == wanted.as_bytes())?.text();
        let mut scale = None;
        if text("CLASS").is_some_and(|class| class.starts_with(b"DIMENSION_SCALE"))
            && !object.dataset.shape().is_empty()
        {
            let (len, unlimited) = (object.dataset.shape()[0], object.dataset.max_shape()[0].is_none());
            let number = integers(&object, "_Netcdf4Dimid").and_then(|n| n.first().copied()).unwrap_or(self.next);
            self.next = self.next.max(number.saturating_add(1));
            let dimension = Dimension { name: name.clone(), len, unlimited };
            let address = Some(object.dataset.address());
            scale = Some(self.dimensions.len());
            group.dimensions.push(self.dimensions.len());
            self.dimensions.push(Scale { dimension, address, number });
            if text("NAME").is_some_and(|name| name.starts_with(NO_VARIABLE)) {
                return;
            }
        }
        let name = name.strip_prefix(NON_COORDINATE).map_or(name.clone(), str::to_string);
        let axes = vec![None; object.dataset.shape().len()];
        group.variables.push(Member { name, object: Ok(object), scale, axes });
    }

    /// Finds the dimensions of the variables of a group, among its own and those above it.
    fn bind(&mut self, index: usize) {
        let mut visible = Vec::new();
        let mut at = Some(index);
        while let Some(group) = at {
            visible.extend(self.groups[group].dimensions.iter().copied());
            at = self.groups[group].parent;
        }
        let mut by_address = HashMap::new();
        let mut by_number = HashMap::new();
        for d in visible {
            self.dimensions[d].address.map(|address| by_address.entry(address).or_insert(d));
            by_number.entry(self.dimensions[d].number).or_insert(d);
        }
        let mut heap = self.file.heap();
        for variable in &mut self.groups[index].variables {
            let Ok(object) = &variable.object else { continue };
            let lists = match references(object, &mut heap) {
                Ok(lists) => lists,
                Err(e) => {
                    variable.object = Err(problem(e));
                    variable.axes.clear();
                    continue;
                }
            };
            let numbers = integers(object, "_Netcdf4Coordinates");
            let (shape, max_shape) = (object.dataset.shape(), object.dataset.max_shape());
            for (i, axis) in variable.axes.iter_mut().enumerate() {
                let listed = lists.as_ref().and_then(|l| l.get(i)?.iter().find_map(|a| by_address.get(a)));
                let numbered = || numbers.as_ref().and_then(|n| by_number.get(n.get(i)?));
                let own = if i == 0 { variable.scale } else { None };
                let found = listed.or_else(numbered).copied().or(own);
                *axis = found.filter(|d| {
                    let dimension = &self.dimensions[*d].dimension;
                    dimension.unlimited == max_shape[i].is_none() && (dimension.unlimited || dimension.len == shape[i])
                });
            }
        }
    }

    /// Reads every group of the file that was not read yet, once each.
    fn all_groups(&mut self) -> Result<()> {
        let mut next = 0;
        while next < self.groups.len() {
            let parent = next;
            next += 1;
            let path = self.groups[parent].path.clone();
            let read: HashSet<String> =
                self.groups[parent].children.iter().map(|c| self.groups[*c].path.clone()).collect();
            for name in self.groups[parent].below.clone() {
                let below = join(&path, &name);
                // A group that cannot be read, or was under another name, says nothing about dimensions.
                let Ok(hdf5::Object::Group(address)) = self.file.object(&below) else { continue };
                if self.file.member_names(&below).is_err() || read.contains(&below) || self.seen.contains(&address) {
                    continue;
                }
                if self.groups.len() >= MAX_GROUPS || below.split('/').count() > MAX_DEPTH {
                    return Err(Error::format(self.file.source().path(), "its groups are too many or too deep"));
                }
                self.group(below, Some(parent))?;
            }
            let mut children = std::mem::take(&mut self.groups[parent].children);
            let below = self.groups[parent].below.iter().enumerate();
            let order: HashMap<&str, usize> = below.map(|(i, name)| (name.as_str(), i)).collect();
            children.sort_by_key(|c| order.get(self.groups[*c].path.rsplit('/').next().unwrap_or_default()).copied());
            self.groups[parent].children = children;
        }
        Ok(())
    }

    /// Gives unlimited dimensions the greatest extent of an axis along them.
    fn measure(&mut self) {
        let mut used = HashMap::new();
        for variable in self.groups.iter().flat_map(|g| &g.variables) {
            if let Ok(object) = &variable.object {
                for (axis, len) in variable.axes.iter().zip(object.dataset.shape()) {
                    if let Some(d) = axis {
                        let most = used.entry(*d).or_insert(0);
                        *most = (*len).max(*most);
                    }
                }
            }
        }
        for (d, scale) in self.dimensions.iter_mut().enumerate().filter(|(_, s)| s.dimension.unlimited) {
            scale.dimension.len = used.get(&d).copied().unwrap_or(0);
        }
    }

    /// Invents dimensions for axes without one, in the order in which netCDF-C does: groups below come first.
    fn invent(&mut self, index: usize) {
        for child in self.groups[index].children.clone() {
            self.invent(child);
        }
        let mut by_extent: HashMap<(u64, bool), Vec<usize>> = HashMap::new();
        for &d in &self.groups[index].dimensions {
            let Dimension { len, unlimited, .. } = self.dimensions[d].dimension;
            by_extent.entry((len, unlimited)).or_default().push(d);
        }
        for v in 0..self.groups[index].variables.len() {
            let variable = &self.groups[index].variables[v];
            let Ok(object) = &variable.object else { continue };
            let mut axes = variable.axes.clone();
            let extents: Vec<(u64, bool)> = object
                .dataset
                .shape()
                .iter()
                .copied()
                .zip(object.dataset.max_shape().iter().map(Option::is_none))
                .collect();
            for (i, (len, unlimited)) in extents.into_iter().enumerate() {
                if axes[i].is_some() {
                    continue;
                }
                let alike = by_extent.entry((len, unlimited)).or_default();
                let known = alike.iter().find(|d| !axes.contains(&Some(**d))).copied();
                axes[i] = Some(known.unwrap_or_else(|| {
                    let number = self.next;
                    self.next = number.saturating_add(1);
                    let dimension = Dimension { name: format!("phony_dim_{number}"), len, unlimited };
                    self.dimensions.push(Scale { dimension, address: None, number });
                    let d = self.dimensions.len() - 1;
                    self.groups[index].dimensions.push(d);
                    alike.push(d);
                    d
                }));
            }
            self.groups[index].variables[v].axes = axes;
        }
    }
}

fn references(object: &Object, heap: &mut GlobalHeap) -> Result<Option<Vec<Vec<u64>>>> {
    match object.attributes.iter().find(|a| a.name == b"DIMENSION_LIST") {
        Some(list) => list.references(heap),
        None => Ok(None),
    }
}

fn integers(object: &Object, name: &str) -> Option<Vec<i64>> {
    object.attributes.iter().find(|a| a.name == name.as_bytes())?.integers()
}

fn join(group: &str, name: &str) -> String {
    format!("{}/{name}", group.trim_end_matches('/'))
}

/// The text of an error without the name of the file, which those who report it add.
fn problem(error: Error) -> String {
    match error {
        Error::Format { detail, .. } => detail,
        other => other.to_string(),
    }
}
