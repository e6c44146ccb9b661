//! The order in which a consumer takes the epochs, resolved to a list. It knows nothing of data.

use crate::{Error, Result};

/// The order in which the epochs of a group are taken. Epochs count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// From the first epoch to the last.
    Forward,
    /// From the last epoch to the first.
    Reverse,
    /// The epochs listed, which may repeat.
    Explicit(Vec<usize>),
}

impl Order {
    /// The epochs to take, of a group that has `epochs` of them, from the first entry equal to `from`.
    pub(super) fn resolve(self, epochs: usize, from: Option<usize>) -> Result<Vec<usize>> {
        let mut list: Vec<usize> = match self {
            Order::Forward => (0..epochs).collect(),
            Order::Reverse => (0..epochs).rev().collect(),
            Order::Explicit(list) => list,
        };
        if list.is_empty() {
            return Err(Error::invalid("the order is empty; list at least one epoch"));
        }
        if let Some(&epoch) = list.iter().find(|&&epoch| epoch >= epochs) {
            return Err(Error::invalid(format!(
                "the order lists epoch {epoch}, but the group has the epochs 0 to {}",
                epochs - 1
            )));
        }
        if let Some(from) = from {
            let Some(at) = list.iter().position(|&epoch| epoch == from) else {
                return Err(Error::invalid(format!(
                    "the order cannot start from epoch {from}, which is not one of its entries"
                )));
            };
            list.drain(..at);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_resolve() {
        assert_eq!(Order::Forward.resolve(4, None).unwrap(), [0, 1, 2, 3]);
        assert_eq!(Order::Forward.resolve(4, Some(2)).unwrap(), [2, 3]);
        assert_eq!(Order::Reverse.resolve(4, None).unwrap(), [3, 2, 1, 0]);
        assert_eq!(Order::Reverse.resolve(4, Some(1)).unwrap(), [1, 0]);
        assert_eq!(Order::Explicit(vec![3, 1, 4, 1, 5]).resolve(6, Some(1)).unwrap(), [1, 4, 1, 5]);
    }

    #[test]
    fn bad_orders_are_refused() {
        let text = |order: Order, from| order.resolve(3, from).unwrap_err().to_string();
        assert!(text(Order::Explicit(vec![]), None).contains("empty"));
        assert!(text(Order::Explicit(vec![0, 3]), None).contains("epoch 3"));
        assert!(text(Order::Explicit(vec![0, 2]), Some(1)).contains("epoch 1"));
        assert!(text(Order::Forward, Some(3)).contains("epoch 3"));
    }
}
