//! The documents for users: their links, their tables, their examples.

mod examples;
mod links;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

/// A Markdown file of the repository.
struct Page {
    /// Its path below the root of the repository.
    path: PathBuf,
    text: String,
}

impl Page {
    fn read(path: &str) -> Self {
        Self { path: path.into(), text: fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}")) }
    }

    /// The lines outside of code blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut is_code = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
    }

    /// The code blocks of one language.
    fn code(&self, language: &str) -> Vec<&str> {
        let blocks = self.text.split("```").skip(1).step_by(2);
        blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
    }

    /// The lines of the section with this heading, up to the next heading of the same or a higher level.
    fn section(&self, heading: &str) -> Vec<&str> {
        let level = heading.bytes().take_while(|byte| *byte == b'#').count();
        let ends = |line: &&str| (1..=level).any(|level| line.starts_with(&format!("{} ", "#".repeat(level))));
        let lines: Vec<&str> = self.prose().skip_while(|line| *line != heading).skip(1).take_while(|line| !ends(line)).collect();
        assert!(!lines.is_empty(), "{}: there is no section {heading}", self.path.display());
        lines
    }

    /// The code spans in the first column of the tables of a section.
    fn table(&self, heading: &str) -> Vec<&str> {
        let rows = self.section(heading).into_iter().filter(|line| line.starts_with("| `"));
        rows.filter_map(|line| line.split(" | ").next()).flat_map(spans).collect()
    }
}

/// The code spans of a line.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md.
fn pages() -> Vec<Page> {
    let docs = fs::read_dir(root().join("docs")).expect("docs").map(|entry| entry.expect("an entry").file_name());
    let docs = docs.map(|name| format!("docs/{}", name.display())).filter(|path| path.ends_with(".md"));
    let pages: Vec<Page> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .map(str::to_owned)
        .into_iter()
        .chain(docs)
        .map(|path| Page::read(&path))
        .collect();
    assert!(pages.len() > 8, "the documents were not found");
    pages
}
