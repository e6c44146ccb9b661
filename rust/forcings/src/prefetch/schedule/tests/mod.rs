//! Every interleaving of small groups, step by step against a model; and the rules by name.

mod depths;
mod explore;
mod model;
mod rules;
