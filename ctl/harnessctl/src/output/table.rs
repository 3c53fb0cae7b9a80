//! Tables: columns as wide as their widest cell, the last one cut to the terminal.

use crate::output::{
    escape,
    style::{Style, Tone},
};

/// A table with a head line.
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<(Tone, String)>>,
}

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Cells are escaped here, so that no caller can forget it.
    pub(crate) fn row(&mut self, cells: Vec<(Tone, String)>) {
        let escape = |(tone, text): (Tone, String)| (tone, escape::text(&text));
        self.rows.push(cells.into_iter().map(escape).collect());
    }

    /// The table as text.
    pub(crate) fn render(&self, style: Style) -> String {
        let head = self
            .head
            .iter()
            .map(|name| (Tone::Faint, (*name).to_owned()))
            .collect();
        let lines: Vec<&Vec<(Tone, String)>> = std::iter::once(&head).chain(&self.rows).collect();
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                lines
                    .iter()
                    .filter_map(|line| line.get(column))
                    .map(|(_, text)| width(text))
                    .max()
            })
            .map(Option::unwrap_or_default)
            .collect();
        let mut text = String::new();
        for line in lines {
            text.push_str(&render_line(line, &widths, style));
            text.push('\n');
        }
        text
    }
}

fn render_line(line: &[(Tone, String)], widths: &[usize], style: Style) -> String {
    let mut text = String::new();
    let mut used = 0;
    for (place, (tone, cell)) in line.iter().enumerate() {
        if place + 1 == line.len() {
            let room = style.width.map(|width| width.saturating_sub(used).max(8));
            text.push_str(&style.paint(*tone, &cut(cell, room)));
        } else {
            let padding = widths[place] - width(cell);
            text.push_str(&style.paint(*tone, cell));
            text.extend(std::iter::repeat_n(' ', padding + 2));
            used += widths[place] + 2;
        }
    }
    text.trim_end().to_owned()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// At most `room` characters, the last of them `…` where something was cut.
fn cut(text: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if width(text) > room => {
            let kept: String = text.chars().take(room.saturating_sub(1)).collect();
            kept + "…"
        }
        Some(_) | None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(command: &str) -> Table {
        let mut table = Table::new(&["ID", "STATE", "COMMAND"]);
        let cell = |text: &str| (Tone::Plain, text.to_owned());
        table.row(vec![cell("a1"), cell("running"), cell(command)]);
        table.row(vec![cell("longer-id"), cell(""), cell("x")]);
        table
    }

    #[test]
    fn columns_are_aligned_and_nothing_trails() {
        let text = table("make all").render(Style::plain(None));
        assert_eq!(
            text,
            "ID         STATE    COMMAND\na1         running  make all\nlonger-id           x\n"
        );
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        let text = table(&"y".repeat(100)).render(Style::plain(Some(40)));
        let line = text.lines().nth(1).unwrap();
        assert_eq!(line.chars().count(), 40);
        assert!(line.ends_with('…'));
    }

    #[test]
    fn a_cell_can_neither_break_the_line_nor_turn_it_around() {
        let text = table("a\nb\u{202e}c\x1b[31m").render(Style::plain(None));
        assert_eq!(text.lines().count(), 3);
        assert!(text.contains("a\\nb\\u{202e}c\\u{1b}[31m"), "{text}");
    }
}
