//! Characters that a reader does not see and an agent does: text that is shown in another order
//! than it is read in, or that is not shown at all.

use rutter_base::failure::Problem;
use rutter_base::text;

/// How many lines of one file are reported.
const REPORTED: usize = 5;

/// The lines of a file with such characters: one problem for each of the first few.
pub(super) fn find(file: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut more = 0;
    // A byte order mark at the very start is a habit of editors.
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    for (line, number) in text.lines().zip(1_u32..) {
        let Some(c) = first(line) else { continue };
        if problems.len() == REPORTED {
            more += 1;
            continue;
        }
        let message = format!("has U+{:04X} ({}): remove it", u32::from(c), name(c));
        problems.push(Problem::warning(file, message).at_line(Some(number)));
    }
    if more > 0 {
        let message = format!("has invisible or control characters in {more} more lines");
        problems.push(Problem::warning(file, message));
    }
    problems
}

/// The first character of a line that could mislead.
fn first(line: &str) -> Option<char> {
    if line.is_ascii() {
        return line.chars().find(|c| c.is_ascii_control() && *c != '\t');
    }
    let mut before = None;
    let mut in_flag = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        // England's flag is a black one followed by letters that are not shown.
        in_flag = c == '\u{1F3F4}' || (in_flag && is_tag(c));
        let misleads = match c {
            '\t' => false,
            // Joins emoji, and letters of scripts that need it.
            '\u{200C}' | '\u{200D}' => !(is_foreign(before) && is_foreign(rest.peek().copied())),
            // One of them chooses a picture; several in a row can only carry something.
            '\u{FE00}'..='\u{FE0F}' => before.is_none_or(is_selector),
            '\u{E0100}'..='\u{E01EF}' => {
                before.is_none_or(|before| before < '\u{2E80}' || is_selector(before))
            }
            c if is_tag(c) => !in_flag,
            c => text::is_hostile(c) || is_blank(c),
        };
        if misleads {
            return Some(c);
        }
        before = Some(c);
    }
    None
}

fn is_foreign(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_ascii() && !text::is_hostile(c))
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Letters and marks that look like nothing.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180E}' | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FFA0}'
            | '\u{FFF9}'..='\u{FFFB}'
    )
}

fn name(c: char) -> &'static str {
    match c {
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            "changes the order in which text is shown"
        }
        '\u{200E}' | '\u{200F}' | '\u{61C}' => "a direction mark",
        '\u{200B}' => "a space without width",
        '\u{FEFF}' => "a byte order mark",
        '\u{AD}' => "a soft hyphen",
        '\u{2028}' | '\u{2029}' => "a line separator that few programs know",
        c if is_tag(c) => "a hidden letter",
        c if c.is_control() => "a control character",
        _ => "an invisible character",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        find("a.md", text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_misleads_is_named_with_its_line() {
        assert_eq!(
            found("fine\nadmin\u{202E}nimda\nzero\u{200B}width\n\u{E0041}\n\u{1b}[2J\n"),
            [
                "a.md:2: has U+202E (changes the order in which text is shown): remove it",
                "a.md:3: has U+200B (a space without width): remove it",
                "a.md:4: has U+E0041 (a hidden letter): remove it",
                "a.md:5: has U+001B (a control character): remove it",
            ]
        );
        for hidden in ['\u{AD}', '\u{2066}', '\u{FEFF}', '\u{3164}', '\u{85}', '\u{200D}'] {
            assert_eq!(found(&format!("a{hidden}b")).len(), 1, "{hidden:?}");
        }
        assert_eq!(found("a\u{FE00}\u{FE01}").len(), 1);
    }

    #[test]
    fn what_scripts_and_emoji_need_is_fine() {
        for text in [
            "\u{FEFF}# Title\r\n\ttab",
            "👨\u{200D}👩\u{200D}👧 and ❤\u{FE0F}",
            "می\u{200C}خواهم",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "葛\u{E0100}",
            "Straße, naïve, 日本語",
        ] {
            assert_eq!(found(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn a_file_full_of_them_is_told_in_a_few_lines() {
        let told = found(&"\u{200B}\n".repeat(20));
        assert_eq!(told.len(), 6);
        assert_eq!(told[5], "a.md: has invisible or control characters in 15 more lines");
    }
}
