//! Templates of messages. The defaults are English and in the binary; files of the same names in a folder of the operator replace them.

use crate::base::mail::MailKind;
use anyhow::{Context, bail};
use minijinja::{Environment, UndefinedBehavior, context};
use std::path::Path;

/// The layout that the HTML of all kinds extends.
const LAYOUT: (&str, &str) = ("layout.html", include_str!("templates/layout.html"));

/// The defaults of a kind: text, whose first line is the subject, and HTML.
const fn defaults(kind: MailKind) -> (&'static str, &'static str) {
    macro_rules! files {
        ($name:literal) => {
            (include_str!(concat!("templates/", $name, ".txt")), include_str!(concat!("templates/", $name, ".html")))
        };
    }
    match kind {
        MailKind::ConfirmEmail => files!("confirm-email"),
        MailKind::EmailInUse => files!("email-in-use"),
        MailKind::EmailChangeRequested => files!("email-change-requested"),
        MailKind::EmailChanged => files!("email-changed"),
        MailKind::EmailRemoved => files!("email-removed"),
        MailKind::ResetPassword => files!("reset-password"),
        MailKind::PasswordChanged => files!("password-changed"),
    }
}

/// The parsed templates.
pub(super) struct Templates(Environment<'static>);

/// A rendered message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RenderedMessage {
    pub(super) subject: String,
    pub(super) text: String,
    pub(super) html: String,
}

/// The variables of templates.
pub(super) struct Variables<'a> {
    pub(super) login: &'a str,
    pub(super) app_url: &'a str,
    /// Empty if the kind has no link.
    pub(super) link: &'a str,
}

impl Templates {
    /// Reads and checks the templates: each is rendered once, so that a mistake is found at start.
    pub(super) fn load(folder: Option<&Path>) -> anyhow::Result<Self> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut add = |name: String, default: &'static str| {
            let source = match folder.map(|folder| folder.join(&name)).filter(|file| file.exists()) {
                Some(file) => std::fs::read_to_string(&file).with_context(|| file.display().to_string())?,
                None => default.to_owned(),
            };
            environment.add_template_owned(name.clone(), source).with_context(|| format!("the template {name}"))
        };
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("{} is not a folder", folder.display());
        }
        add(LAYOUT.0.to_owned(), LAYOUT.1)?;
        for kind in MailKind::ALL {
            let (text, html) = defaults(kind);
            add(format!("{}.txt", kind.name()), text)?;
            add(format!("{}.html", kind.name()), html)?;
        }
        let templates = Self(environment);
        for kind in MailKind::ALL {
            let sample = Variables { login: "ada", app_url: "https://social.example", link: "https://social.example/#token=x" };
            templates.render(kind, &sample).with_context(|| format!("the templates {}", kind.name()))?;
        }
        Ok(templates)
    }

    /// Renders a message. Errors name the template and the mistake, not the values.
    pub(super) fn render(&self, kind: MailKind, variables: &Variables<'_>) -> anyhow::Result<RenderedMessage> {
        let render = |suffix: &str| {
            let Variables { login, app_url, link } = *variables;
            self.0.get_template(&format!("{}.{suffix}", kind.name()))?.render(context! { login, app_url, link })
        };
        let (text, html) = (render("txt")?, render("html")?);
        let subject = text.strip_prefix("Subject: ").and_then(|rest| rest.split_once('\n'));
        let (subject, text) = subject.context("the first line of a text is `Subject: …`")?;
        Ok(RenderedMessage { subject: subject.trim().to_owned(), text: text.trim_start().to_owned(), html })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(templates: &Templates, kind: MailKind) -> RenderedMessage {
        let variables = Variables { login: "a<b", app_url: "https://a.example", link: "https://a.example/x#token=T&<" };
        templates.render(kind, &variables).expect("a message")
    }

    #[test]
    fn every_kind_has_a_subject_a_text_and_html() {
        let templates = Templates::load(None).expect("the defaults");
        for kind in MailKind::ALL {
            let RenderedMessage { subject, text, html } = render(&templates, kind);
            let has_link = matches!(kind, MailKind::ConfirmEmail | MailKind::ResetPassword);
            assert!(!subject.is_empty() && !subject.contains('\n'), "{subject}");
            assert_eq!(text.contains("https://a.example/x#token=T&<"), has_link, "{text}");
            assert_eq!(html.contains("#token=T&amp;&lt;"), has_link, "{html}");
            assert!(html.contains("a&lt;b") && !html.contains("a<b") && text.contains("a<b"), "{kind:?}");
        }
    }

    #[test]
    fn files_of_the_operator_replace_defaults_and_mistakes_are_found_at_start() {
        let folder = std::env::temp_dir().join(format!("waxwing-templates-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |text: &str| std::fs::write(folder.join("email-changed.txt"), text).expect("a file");
        write("Subject: Hallo {{ login }}\n\nNeu.\n");
        let message = render(&Templates::load(Some(&folder)).expect("templates"), MailKind::EmailChanged);
        assert_eq!((message.subject.as_str(), message.text.as_str()), ("Hallo a<b", "Neu."));
        for wrong in ["Hallo", "Subject: x\n{{ nobody }}", "Subject: x\n{% if %}"] {
            write(wrong);
            assert!(Templates::load(Some(&folder)).is_err(), "{wrong}");
        }
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert!(Templates::load(Some(&folder)).is_err(), "a folder that does not exist");
    }
}
