//! The table on standard output, a line as soon as it is known.

use std::io::{self, Write as _};

use crate::figure::{Figure, Limit, Value};

/// The head is out.
pub(crate) struct Table;

impl Table {
    pub(crate) fn begin() -> Self {
        let table = Self;
        table.line(["figure", "ours", "peer or limit", "ratio", "asked", ""]);
        table
    }

    pub(crate) fn row(&self, figure: &Figure) {
        match &figure.value {
            Value::Measured {
                ours,
                peer,
                ratio,
                limit,
            } => {
                let asked = match limit {
                    Limit::AtMost(most) => format!("≤ {most}"),
                    Limit::AtLeast(least) => format!("≥ {least}"),
                    Limit::Shown => String::new(),
                };
                let verdict = match limit {
                    Limit::Shown => "",
                    Limit::AtMost(_) | Limit::AtLeast(_) if figure.is_missed() => "MISSED",
                    Limit::AtMost(_) | Limit::AtLeast(_) => "ok",
                };
                self.line([
                    &figure.name,
                    ours,
                    peer,
                    &format!("{ratio:.2}"),
                    &asked,
                    verdict,
                ]);
            }
            Value::Missing { why } => self.text(&format!("{:<52} {why}\n", figure.name)),
        }
    }

    pub(crate) fn end(&self, missed: u32) {
        self.text(&match missed {
            0 => "every limit holds\n".to_owned(),
            1 => "1 limit is missed\n".to_owned(),
            missed => format!("{missed} limits are missed\n"),
        });
    }

    fn line(&self, [name, ours, peer, ratio, asked, verdict]: [&str; 6]) {
        let line = format!("{name:<52} {ours:>12} {peer:>14} {ratio:>7} {asked:>7}  {verdict}");
        self.text(&format!("{}\n", line.trim_end()));
    }

    #[expect(clippy::unused_self, reason = "only who has begun a table writes on")]
    fn text(&self, text: &str) {
        let mut output = io::stdout().lock();
        output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush())
            .expect("standard output is open");
    }
}
