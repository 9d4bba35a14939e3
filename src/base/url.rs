//! URLs that people write.

use url::Url;

/// Whether all parsers find the same host in a URL with one of these schemes, which end with `://`. Some parsers read `https:host` as a relative path, and
/// some read a backslash as a slash.
pub fn has_unambiguous_host(text: &str, schemes: &[&str]) -> bool {
    strip_scheme(text, schemes).is_some_and(|rest| !rest.starts_with('/') && !rest.contains('\\'))
}

/// Whether a text is an absolute https URL without a user name and a password, which can be stored as it is written. The server never requests it.
pub fn is_https_url(text: &str) -> bool {
    const HTTPS: [&str; 1] = ["https://"];
    // Parsers remove spaces and control characters, so that the URL would not be the written text; direction overrides reorder the displayed text.
    let is_refused =
        |it: char| it.is_whitespace() || it.is_control() || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text.contains(is_refused) || !has_unambiguous_host(text, &HTTPS) {
        return false;
    }
    let has_user =
        strip_scheme(text, &HTTPS).is_some_and(|rest| rest.split(['/', '?', '#']).next().is_some_and(|it| it.contains('@')));
    !has_user && Url::parse(text).is_ok_and(|url| url.scheme() == "https" && url.has_host())
}

/// Removes the scheme of a URL, ignoring case; `None` if the scheme is not one of `schemes`.
fn strip_scheme<'a>(text: &'a str, schemes: &[&str]) -> Option<&'a str> {
    let strip =
        |scheme: &&str| text.get(..scheme.len()).filter(|it| it.eq_ignore_ascii_case(scheme)).map(|_| &text[scheme.len()..]);
    schemes.iter().find_map(strip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_https_url_is_absolute_and_names_its_host_and_nobody() {
        for text in [
            "https://example.com",
            "HTTPS://Example.COM:8443/a%20b?c=d#e",
            "https://bücher.example/@ada",
            "https://[::1]/",
            "https://example.com/?mail=a@b.example",
        ] {
            assert!(is_https_url(text), "{text:?}");
        }
        for text in [
            "",
            "example.com",
            "/avatar.png",
            "//example.com/a",
            "http://example.com",
            "javascript:alert(1)",
            "data:image/png;base64,AA",
            "https:example.com",
            "https:/example.com",
            "https://",
            "https:///example.com",
            "https:\\\\example.com",
            "https://example.com\\@evil.example",
            "https://ada@example.com/",
            "https://ada:secret@example.com/",
            "https://:secret@example.com/",
            "https://@example.com/",
            " https://example.com",
            "https://example.com\n",
            "https://exa\tmple.com",
            "https://example.com/a b",
            "https://example.com/\u{202e}gnp.exe",
            "https://exa mple.com",
            "https://example.com:99999/",
        ] {
            assert!(!is_https_url(text), "{text:?}");
        }
    }
}
