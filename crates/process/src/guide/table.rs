//! Tables of Markdown, as far as the process looks into them: issue logs, rows of modifiers,
//! columns of types.

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// The column whose heading is one of these words, in any case.
    pub(super) fn column(&self, names: &[&str]) -> Option<usize> {
        self.header.iter().position(|cell| names.iter().any(|name| same(cell, name)))
    }
}

/// The tables of a text, in order. Those within a fenced block are examples, not tables.
pub(super) fn tables(text: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut open = false;
    let mut before: Option<&str> = None;
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        let row = !fenced && line.contains('|');
        if row
            && !open
            && is_rule(line)
            && let Some(header) = before
        {
            tables.push(Table { header: cells(header), rows: Vec::new() });
            open = true;
        } else if row && open {
            if let Some(table) = tables.last_mut() {
                table.rows.push(cells(line));
            }
        } else if !row {
            open = false;
        }
        before = row.then_some(line);
    }
    tables
}

/// Whether a line is the one below a table's header.
fn is_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

fn cells(line: &str) -> Vec<String> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in line.chars() {
        match c {
            '|' if !escaped => cells.push(String::new()),
            c => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(c);
                }
            }
        }
        escaped = c == '\\' && !escaped;
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Whether a cell says a word and nothing else, whatever its case and markup.
pub(super) fn same(cell: &str, word: &str) -> bool {
    bare(cell).eq_ignore_ascii_case(word.trim())
}

/// A cell without its markup.
pub(super) fn bare(cell: &str) -> &str {
    cell.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_with_their_cells() {
        let text = "intro | not\n\n| A | `B` |\n|---|:-:|\n| 1 | x \\| y |\n2 | z\n\n```\n| C | D |\n|---|---|\n```\n| E |\n|---|\n";
        let found = tables(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].header, ["A", "`B`"]);
        assert_eq!(found[0].rows, [vec!["1", "x \\| y"], vec!["2", "z"]]);
        assert_eq!(found[0].column(&["b"]), Some(1));
        assert_eq!((found[1].header.len(), found[1].rows.len()), (1, 0));
    }
}
