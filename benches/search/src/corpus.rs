//! A large folder of realistic Markdown: the sections of real pages, put together anew.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use crate::collection::Document;

/// How many documents the corpus has, and about how long each is.
pub(crate) const DOCUMENTS: usize = 10_000;
const LENGTH: usize = 6_000;

/// Writes the corpus, the same for the same pages, and tells its size in bytes.
pub(crate) fn write(folder: &Path, pages: &[Document]) -> Result<u64, Box<dyn Error>> {
    let sections: Vec<&str> = pages
        .iter()
        .flat_map(|page| page.content.split("\n## "))
        .filter(|section| (200..LENGTH).contains(&section.len()))
        .collect();
    let mut random = Random(0x5EED);
    let mut size = 0;
    for number in 0..DOCUMENTS {
        let page = random.pick(pages).ok_or("the collection has no pages")?;
        let title = page.name.replace('"', "'");
        let mut text = format!("---\ntitle: \"{title} {number}\"\n---\n\n# {title}\n\n");
        while text.len() < LENGTH {
            let section = random.pick(&sections).ok_or("the pages have no sections")?;
            write!(text, "## {}\n\n", section.trim())?;
        }
        let at = folder.join(format!("part-{:02}", number % 100));
        std::fs::create_dir_all(&at)?;
        std::fs::write(at.join(format!("page-{number}.md")), &text)?;
        size += text.len() as u64;
    }
    Ok(size)
}

/// Small and always the same: a corpus needs variety, not secrecy (xorshift).
struct Random(u64);

impl Random {
    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let count = items.len().max(1) as u64;
        items.get(usize::try_from(self.0 % count).unwrap_or_default())
    }
}
