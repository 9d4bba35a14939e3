//! What a viewer is shown by the model: every list in its order, as lines of text, and the fields of a status.

use super::model::Model;
use crate::privacy_model::model::PEOPLE;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// A viewer without an account: it has no relations.
pub(super) const NOBODY: usize = PEOPLE;

/// A list that is read completely. Accounts and statuses by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Home,
    /// The timeline of the viewer's list.
    Timeline,
    /// The profile of an account, with replies, and with reposts.
    Profile(usize, bool, bool),
    Pins(usize),
    Bookmarks,
    Ancestors(usize),
    Replies(usize, &'static str),
    Quotes(usize),
    Reposters(usize),
    Edits(usize),
}

pub(super) const SORTS: [&str; 3] = ["OLD", "NEW", "LIKES"];

impl Model {
    /// The lines of a list, or `None` where the viewer does not find the object that has the list.
    pub(super) fn list(&self, viewer: usize, list: List) -> Option<Vec<String>> {
        let lines = |all: Vec<usize>| all.into_iter().map(|at| self.message(at)).collect::<Vec<_>>();
        match list {
            List::Home => Some(lines(self.home(viewer))),
            List::Timeline => Some(lines(self.timeline_of_list(viewer))),
            List::Profile(of, ..) | List::Pins(of) if !self.can_discover(viewer, of) => None,
            List::Profile(of, replies, reposts) => Some(self.profile(viewer, of, replies, reposts)),
            List::Pins(of) => Some(lines(self.pinned(viewer, of))),
            List::Bookmarks => {
                let mut all: Vec<(usize, usize)> =
                    self.bookmarks.iter().filter(|((by, _), _)| *by == viewer).map(|((_, at), time)| (*time, *at)).collect();
                all.sort_unstable_by_key(|bookmark| Reverse(*bookmark));
                Some(lines(all.into_iter().map(|(_, at)| at).filter(|at| self.can_view(viewer, *at)).collect()))
            }
            List::Ancestors(at) | List::Replies(at, _) | List::Quotes(at) | List::Reposters(at) | List::Edits(at)
                if !self.can_view(viewer, at) =>
            {
                None
            }
            List::Ancestors(at) => Some(self.ancestors(at).into_iter().map(|at| self.entry(viewer, at)).collect()),
            List::Replies(at, sort) => {
                Some(self.replies(viewer, at, sort).into_iter().map(|at| self.entry(viewer, at)).collect())
            }
            List::Quotes(at) => {
                let quotes = self.living().into_iter().rev().filter(|by| self.statuses[*by].quoted == Some(at));
                Some(lines(quotes.filter(|by| self.can_view(viewer, *by)).collect()))
            }
            List::Reposters(at) => Some(self.reposters(viewer, at)),
            List::Edits(at) => Some(self.statuses[at].versions.iter().map(|text| text.message.clone()).collect()),
        }
    }

    fn can_discover(&self, viewer: usize, other: usize) -> bool {
        self.relations.can_discover(viewer, other) && !self.deleted_accounts.contains(&other)
    }

    fn message(&self, at: usize) -> String {
        self.text(at).message.clone()
    }

    /// Whether a status is delivered to feeds of a viewer, if its author is a source.
    fn can_deliver(&self, viewer: usize, at: usize) -> bool {
        self.can_view(viewer, at) && !self.relations.mutes.contains(&(viewer, self.author(at)))
    }

    /// Whether a status is no reply, or replies to its author or to an account that `is_source` accepts. The account of its parent may be deleted.
    fn answers_source(&self, at: usize, is_source: impl Fn(usize) -> bool) -> bool {
        let Some(parent) = self.statuses[at].parent else { return true };
        let answered = self.author(parent);
        !self.deleted_accounts.contains(&answered) && (answered == self.author(at) || is_source(answered))
    }

    fn home(&self, viewer: usize) -> Vec<usize> {
        let is_source = |author| author == viewer || self.relations.follows.contains(&(viewer, author));
        let is_shown = |at: &usize| {
            let author = self.author(*at);
            author == viewer || (is_source(author) && self.answers_source(*at, is_source) && self.can_deliver(viewer, *at))
        };
        self.living().into_iter().rev().filter(is_shown).collect()
    }

    fn timeline_of_list(&self, viewer: usize) -> Vec<usize> {
        let is_member = |author| self.relations.members.contains(&(viewer, author));
        let is_answered = |account| account == viewer || is_member(account);
        let is_shown =
            |at: &usize| is_member(self.author(*at)) && self.answers_source(*at, is_answered) && self.can_deliver(viewer, *at);
        self.living().into_iter().rev().filter(is_shown).collect()
    }

    /// Whether a repost stands, and the viewer sees its status.
    fn repost_stands(&self, viewer: usize, by: usize, at: usize) -> bool {
        self.is_public(at) && !self.relations.is_blocked_between(self.author(at), by) && self.can_view(viewer, at)
    }

    fn profile(&self, viewer: usize, of: usize, replies: bool, reposts: bool) -> Vec<String> {
        let own = self.living().into_iter().filter(|at| self.author(*at) == of && self.can_view(viewer, *at));
        let own = own.filter(|at| replies || self.statuses[*at].parent.is_none());
        let mut all: Vec<(usize, String)> = own.map(|at| (self.statuses[at].time, self.message(at))).collect();
        if reposts && self.relations.can_read_profile(viewer, of) {
            let shown = self.reposts.iter().filter(|((by, at), _)| *by == of && self.repost_stands(viewer, of, *at));
            all.extend(shown.map(|((by, at), time)| (*time, format!("p{by}: {}", self.message(*at)))));
        }
        all.sort_unstable_by_key(|(time, _)| Reverse(*time));
        all.into_iter().map(|(_, line)| line).collect()
    }

    fn pinned(&self, viewer: usize, of: usize) -> Vec<usize> {
        let mut all: Vec<(usize, usize)> =
            self.pins.iter().filter(|((by, _), _)| *by == of).map(|((_, at), time)| (*time, *at)).collect();
        all.sort_unstable_by_key(|pin| Reverse(*pin));
        let reads = self.relations.can_read_profile(viewer, of);
        all.into_iter().map(|(_, at)| at).filter(|at| reads && self.can_view(viewer, *at)).collect()
    }

    /// The place of a status in a conversation: its depth, the number of its replies, and its text if the viewer sees it.
    fn entry(&self, viewer: usize, at: usize) -> String {
        let text = if self.can_view(viewer, at) { self.message(at) } else { "-".to_owned() };
        format!("{} {} {text}", self.depth(at), self.reply_count(at))
    }

    fn ancestors(&self, at: usize) -> Vec<usize> {
        let Some(parent) = self.statuses[at].parent else { return Vec::new() };
        let mut all = self.ancestors(parent);
        all.push(parent);
        all
    }

    fn children(&self, of: usize) -> Vec<usize> {
        (of + 1..self.statuses.len()).filter(|at| self.statuses[*at].parent == Some(of)).collect()
    }

    /// Whether the place of a status stands: the status lives, or a place below it stands.
    fn has_place(&self, at: usize) -> bool {
        self.lives(at) || self.has_place_below(at)
    }

    fn has_place_below(&self, at: usize) -> bool {
        self.children(at).into_iter().any(|child| self.has_place(child))
    }

    fn replies(&self, viewer: usize, of: usize, sort: &str) -> Vec<usize> {
        let is_shown = |at: &usize| self.can_view(viewer, *at) || self.has_place_below(*at);
        let mut all: Vec<usize> = self.children(of).into_iter().filter(is_shown).collect();
        match sort {
            "OLD" => {}
            "NEW" => all.reverse(),
            _ => all.sort_by_key(|at| Reverse((self.statuses[*at].likes.len(), *at))),
        }
        all
    }

    fn reply_count(&self, of: usize) -> usize {
        self.children(of).into_iter().filter(|at| self.lives(*at)).count()
    }

    fn reposters(&self, viewer: usize, at: usize) -> Vec<String> {
        let author = self.author(at);
        let is_named = |by: usize| self.repost_stands(viewer, by, at) && self.relations.can_name(viewer, author, by);
        let mut all: Vec<(usize, usize)> = self
            .reposts
            .iter()
            .filter(|((by, status), _)| *status == at && is_named(*by))
            .map(|((by, _), time)| (*time, *by))
            .collect();
        all.sort_unstable_by_key(|repost| Reverse(*repost));
        all.into_iter().map(|(_, by)| format!("p{by}")).collect()
    }

    /// The fields of a status in [`super::reads::CARD`], or null where the viewer does not see it. `ids` are the global ids of statuses.
    pub(super) fn card(&self, viewer: usize, at: usize, ids: &[String]) -> Value {
        if !self.can_view(viewer, at) {
            return Value::Null;
        }
        let status = &self.statuses[at];
        let has = |marks: &super::model::Marks| marks.contains_key(&(viewer, at));
        let reply_to = status.parent.map(|parent| {
            let shown = self.can_view(viewer, parent).then(|| json!({ "message": self.message(parent) }));
            json!({ "depth": self.depth(parent), "replyCount": self.reply_count(parent), "status": shown })
        });
        let is_quoted_shown = |quoted: &usize| {
            self.is_public(*quoted)
                && self.can_view(viewer, *quoted)
                && !self.relations.is_blocked_between(self.author(at), self.author(*quoted))
        };
        let quoted = status.quoted.filter(is_quoted_shown).map(|quoted| json!({ "message": self.message(quoted) }));
        let mentions = self.text(at).mentions.iter().filter(|of| self.can_discover(viewer, **of));
        json!({
            "message": self.message(at),
            "likeCount": status.likes.len(),
            "replyCount": self.reply_count(at),
            "repostCount": self.reposts.keys().filter(|(_, of)| *of == at).count(),
            "quoteCount": self.living().into_iter().filter(|by| self.statuses[*by].quoted == Some(at)).count(),
            "viewerHasLiked": status.likes.contains(&viewer),
            "viewerHasReposted": has(&self.reposts),
            "viewerHasBookmarked": has(&self.bookmarks),
            "viewerCanReply": viewer != NOBODY && self.can_reply(viewer, at),
            "replyPolicy": format!("{:?}", status.policy).to_uppercase(),
            "conversationId": ids[self.root(at)],
            "isQuote": status.quoted.is_some(),
            "quotedStatus": quoted,
            "replyTo": reply_to,
            "edits": { "totalCount": status.versions.len() },
            "author": { "login": format!("p{}", self.author(at)) },
            "entities": {
                "mentions": mentions.map(|of| json!({ "user": { "login": format!("p{of}") } })).collect::<Vec<_>>(),
                "tags": self.text(at).tags.iter().map(|tag| json!({ "tag": { "name": format!("tag{tag}") } })).collect::<Vec<_>>(),
            },
        })
    }

    /// The number of living statuses of an account; `None` where the viewer does not find it.
    pub(super) fn statuses_count(&self, viewer: usize, of: usize) -> Option<usize> {
        self.can_discover(viewer, of).then(|| self.living().into_iter().filter(|at| self.author(*at) == of).count())
    }
}
