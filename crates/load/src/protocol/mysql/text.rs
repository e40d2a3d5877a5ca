//! The SQL of each op, here and nowhere else.

use roundtrip_model::Op;
use std::str::FromStr;

/// How much of a key its row in the other table has as its label.
pub(super) const LABEL_BYTES: usize = 64;

/// A table that the store is made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Table {
    /// The default container of the memcached plugin: text keys, one value column.
    #[default]
    DemoTest,
    /// Numbers as keys, one value column.
    Numbers,
    /// Numbers as keys, three value columns.
    Columns,
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Set,
    Insert,
    Delete,
    Incr,
    Join,
    /// Writes a key's row of the other table.
    Label,
}

impl Verb {
    pub(super) const COUNT: usize = 7;

    /// The statements that a phase of an op executes.
    pub(super) fn of(op: Op) -> &'static [Verb] {
        match op {
            Op::Get | Op::GetMany | Op::ReadAside => &[Verb::Get],
            Op::Set => &[Verb::Set],
            Op::Insert => &[Verb::Insert],
            Op::Delete => &[Verb::Delete],
            Op::Incr => &[Verb::Incr],
            Op::ReadModifyWrite => &[Verb::Get, Verb::Set],
            Op::Join | Op::SetSeen => &[Verb::Join],
            Op::Scan | Op::Mix => &[],
        }
    }
}

impl FromStr for Table {
    type Err = ();

    fn from_str(text: &str) -> Result<Table, ()> {
        let all = [Table::DemoTest, Table::Numbers, Table::Columns];
        all.into_iter().find(|t| t.name() == text).ok_or(())
    }
}

impl Table {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Table::DemoTest => "demo_test",
            Table::Numbers => "numbers",
            Table::Columns => "columns",
        }
    }

    /// Whether its keys are numbers.
    pub(crate) fn has_numbers(self) -> bool {
        self != Table::DemoTest
    }

    fn key(self) -> &'static str {
        match self {
            Table::DemoTest => "c1",
            Table::Numbers | Table::Columns => "id",
        }
    }

    pub(super) fn values(self) -> &'static [&'static str] {
        match self {
            Table::DemoTest => &["c2"],
            Table::Numbers => &["value"],
            Table::Columns => &["a", "b", "c"],
        }
    }

    /// What the plugin keeps of an item besides its value: flags, version, expiry.
    fn rest(self) -> [&'static str; 3] {
        match self {
            Table::DemoTest => ["c3", "c4", "c5"],
            Table::Numbers | Table::Columns => ["flags", "cas", "expiry"],
        }
    }

    /// The text of a statement on this table. Values come in the order key, values, expiry.
    pub(super) fn sql(self, verb: Verb) -> String {
        let (table, key, values) = (self.name(), self.key(), self.values());
        match verb {
            Verb::Get => format!(
                "SELECT {} FROM `{table}` WHERE {key} = ?",
                values.join(", ")
            ),
            Verb::Insert => self.insert(),
            Verb::Set => {
                let expiry = self.rest()[2];
                let columns = values.iter().chain([&expiry]);
                let changes: Vec<String> = columns.map(|c| format!("{c} = VALUES({c})")).collect();
                let changes = changes.join(", ");
                format!("{} ON DUPLICATE KEY UPDATE {changes}", self.insert())
            }
            Verb::Delete => format!("DELETE FROM `{table}` WHERE {key} = ?"),
            Verb::Incr => {
                let value = values[0];
                format!(
                    "UPDATE `{table}` SET {value} = CAST({value} AS UNSIGNED) + 1 WHERE {key} = ?"
                )
            }
            Verb::Join => "SELECT d.c2, o.label FROM demo_test d \
                 JOIN other o ON o.c1 = d.c1 WHERE d.c1 = ?"
                .to_owned(),
            Verb::Label => "INSERT INTO other (c1, label) VALUES (?, ?) \
                 ON DUPLICATE KEY UPDATE label = VALUES(label)"
                .to_owned(),
        }
    }

    /// Reads so many keys.
    pub(super) fn many(self, keys: usize) -> String {
        let (table, key, values) = (self.name(), self.key(), self.values().join(", "));
        let marks = vec!["?"; keys].join(", ");
        format!("SELECT {key}, {values} FROM `{table}` WHERE {key} IN ({marks})")
    }

    fn insert(self) -> String {
        let (table, key, values) = (self.name(), self.key(), self.values());
        let [flags, cas, expiry] = self.rest();
        format!(
            "INSERT INTO `{table}` ({key}, {}, {flags}, {cas}, {expiry}) VALUES (?, {}, 0, 0, ?)",
            values.join(", "),
            vec!["?"; values.len()].join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_named_by_its_own_columns() {
        assert_eq!(
            Table::DemoTest.sql(Verb::Get),
            "SELECT c2 FROM `demo_test` WHERE c1 = ?"
        );
        assert_eq!(
            Table::Columns.sql(Verb::Set),
            "INSERT INTO `columns` (id, a, b, c, flags, cas, expiry) VALUES (?, ?, ?, ?, 0, 0, ?) \
             ON DUPLICATE KEY UPDATE a = VALUES(a), b = VALUES(b), c = VALUES(c), \
             expiry = VALUES(expiry)"
        );
        assert_eq!(
            Table::Numbers.many(3),
            "SELECT id, value FROM `numbers` WHERE id IN (?, ?, ?)"
        );
        assert_eq!("columns".parse(), Ok(Table::Columns));
        assert_eq!("other".parse::<Table>(), Err(()));
    }
}
