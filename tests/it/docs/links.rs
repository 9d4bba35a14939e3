//! Links between the documents, and their size.

use super::{Page, pages, root};
use std::path::Path;

/// The targets of the links of a page: `[text](target)`.
fn links(page: &Page) -> Vec<&str> {
    let targets = page.prose().flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    targets.collect()
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    letters.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The reason why a link is broken; `None` if it leads to a file, and to a heading of that file.
fn broken(page: &Page, link: &str) -> Option<String> {
    if link.starts_with("https://") || link.starts_with("http://127.0.0.1:4000/") {
        return None;
    }
    let (file, fragment) = link.split_once('#').map_or((link, None), |(file, fragment)| (file, Some(fragment)));
    let folder = page.path.parent().unwrap_or(Path::new(""));
    let path = if file.is_empty() { page.path.clone() } else { folder.join(file) };
    let broken = |why: &str| Some(format!("{}: {link}: {why}", page.path.display()));
    if !root().join(&path).exists() {
        return broken("there is no such file");
    }
    let fragment = fragment?;
    let target = Page::read(path.to_str().expect("text"));
    let has_heading = target.prose().any(|line| line.starts_with('#') && anchor(line) == fragment);
    if has_heading { None } else { broken("there is no such heading") }
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let links: Vec<(&Page, &str)> = pages.iter().flat_map(|page| links(page).into_iter().map(move |link| (page, link))).collect();
    assert!(links.len() > 100, "the links were not found");
    let broken: Vec<String> = links.iter().filter_map(|(page, link)| broken(page, link)).collect();
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

/// The README is an overview; everything else is in docs/.
#[test]
fn the_readme_is_short_and_links_to_every_document() {
    let readme = Page::read("README.md");
    assert!(readme.text.lines().count() <= 180, "README.md is longer than 180 lines: move details to docs/");
    for page in pages().iter().filter(|page| page.path.starts_with("docs")) {
        let path = page.path.to_str().expect("text");
        assert!(links(&readme).contains(&path), "README.md has no link to {path}");
    }
}
