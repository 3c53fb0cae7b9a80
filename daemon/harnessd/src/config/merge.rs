//! Lays later files over earlier ones.

use super::node::{Node, Table, Value};

/// Lays `over` onto `base`: tables key by key, arrays of tables one after the other, and of
/// anything else the later one. Every value keeps the place it came from.
pub(super) fn merge(base: &mut Table, over: Table) {
    for (key, entry) in over {
        match base.get_mut(&key) {
            Some(old) => match (&mut old.node.value, entry.node.value) {
                (Value::Table(old), Value::Table(new)) => merge(old, new),
                (Value::Array(old), Value::Array(new)) if of_tables(old) && of_tables(&new) => {
                    old.extend(new);
                }
                (_, value) => {
                    old.key = entry.key;
                    old.node = Node {
                        span: entry.node.span,
                        value,
                    };
                }
            },
            None => _ = base.insert(key, entry),
        }
    }
}

fn of_tables(items: &[Node]) -> bool {
    !items.is_empty()
        && items
            .iter()
            .all(|item| matches!(item.value, Value::Table(_)))
}
