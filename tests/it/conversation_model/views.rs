//! The expected view of a viewer by the model: every list in its order, as lines of text, and the fields of a status.

use super::model::Model;
use super::operations::TAGS;
use crate::privacy_model::model::PEOPLE;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

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
    /// The timeline of a tag.
    Tag(usize),
    Mentions,
    Ancestors(usize),
    Replies(usize, &'static str),
    Quotes(usize),
    Reposters(usize),
    Edits(usize),
}

/// An entry of a feed: its time, the status, and the account that has reposted it.
type FeedEntry = (usize, usize, Option<usize>);

/// Whether the first entry is a repost of a status that follows among the next thousand, with fewer than a hundred other statuses in between.
fn is_repeat(entries: &[FeedEntry]) -> bool {
    let mut statuses_between = 0;
    for entry in entries.iter().skip(1).take(1_000) {
        if entry.1 == entries[0].1 {
            return statuses_between < 100;
        }
        statuses_between += usize::from(entry.2.is_none());
    }
    false
}

pub(super) const SORTS: [&str; 3] = ["OLD", "NEW", "LIKES"];

impl Model {
    /// The lines of a list, or `None` where the viewer does not find the object that has the list.
    pub(super) fn list(&self, viewer: usize, list: List) -> Option<Vec<String>> {
        let lines = |all: Vec<usize>| all.into_iter().map(|at| self.message(at)).collect::<Vec<_>>();
        match list {
            List::Home => Some(self.home(viewer)),
            List::Timeline => Some(self.timeline_of_list(viewer)),
            List::Tag(tag) => Some(lines(self.tagged(tag).filter(|at| self.can_deliver(viewer, *at)).collect())),
            List::Mentions => {
                let mentions = |at: &usize| self.text(*at).mentions.contains(&viewer) && self.author(*at) != viewer;
                let shown = self.living().into_iter().rev().filter(mentions).filter(|at| self.can_deliver(viewer, *at));
                Some(lines(shown.collect()))
            }
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
    fn replies_to_source(&self, at: usize, is_source: impl Fn(usize) -> bool) -> bool {
        let Some(parent) = self.statuses[at].parent else { return true };
        let parent_author = self.author(parent);
        !self.deleted_accounts.contains(&parent_author) && (parent_author == self.author(at) || is_source(parent_author))
    }

    /// The public statuses with a tag, newest first.
    fn tagged(&self, tag: usize) -> impl Iterator<Item = usize> {
        let has_tag = move |at: &usize| self.is_public(*at) && self.text(*at).tags.contains(&tag);
        self.living().into_iter().rev().filter(has_tag)
    }

    /// The number of public statuses with each tag, and whether the viewer follows it.
    pub(super) fn tag_cards(&self, viewer: usize) -> Vec<(usize, bool)> {
        (0..TAGS).map(|tag| (self.tagged(tag).count(), self.followed_tags.contains(&(viewer, tag)))).collect()
    }

    fn home(&self, viewer: usize) -> Vec<String> {
        let is_source = |author| author == viewer || self.relations.follows.contains(&(viewer, author));
        let is_shown = |at: usize| {
            let author = self.author(at);
            author == viewer || (is_source(author) && self.replies_to_source(at, is_source) && self.can_deliver(viewer, at))
        };
        let shows_reposts_of = |by| is_source(by) && !self.without_reposts.contains(&(viewer, by));
        self.feed(viewer, &self.followed_tags, is_shown, shows_reposts_of)
    }

    fn timeline_of_list(&self, viewer: usize) -> Vec<String> {
        let is_member = |author| self.relations.members.contains(&(viewer, author));
        let is_replied_to = |account| account == viewer || is_member(account);
        let is_shown =
            |at: usize| is_member(self.author(at)) && self.replies_to_source(at, is_replied_to) && self.can_deliver(viewer, at);
        self.feed(viewer, &self.list_tags, is_shown, is_member)
    }

    /// The entries of a feed: statuses that `is_shown` accepts or that have a followed tag, and reposts by accounts that `shows_reposts_of` accepts.
    fn feed(
        &self,
        viewer: usize,
        tags: &BTreeSet<(usize, usize)>,
        is_shown: impl Fn(usize) -> bool,
        shows_reposts_of: impl Fn(usize) -> bool,
    ) -> Vec<String> {
        let is_tagged = |at: usize| {
            let has_tag = self.text(at).tags.iter().any(|tag| tags.contains(&(viewer, *tag)));
            has_tag && self.is_public(at) && self.statuses[at].parent.is_none() && self.can_deliver(viewer, at)
        };
        let own = self.living().into_iter().filter(|at| is_shown(*at) || is_tagged(*at));
        let mut all: Vec<FeedEntry> = own.map(|at| (self.statuses[at].time, at, None)).collect();
        let is_reposted = |by: usize, at: usize| {
            let is_named =
                by == viewer || self.relations.can_name(viewer, by, by) && !self.relations.mutes.contains(&(viewer, by));
            shows_reposts_of(by) && is_named && self.repost_is_visible(viewer, by, at) && self.can_deliver(viewer, at)
        };
        let reposts = self.reposts.iter().filter(|((by, at), _)| is_reposted(*by, *at));
        all.extend(reposts.map(|((by, at), time)| (*time, *at, Some(*by))));
        all.sort_unstable_by_key(|entry| Reverse(entry.0));
        let is_left = |(place, entry): &(usize, &FeedEntry)| entry.2.is_none() || !is_repeat(&all[*place..]);
        let line = |entry: &FeedEntry| match entry.2 {
            Some(by) => format!("p{by}: {}", self.message(entry.1)),
            None => self.message(entry.1),
        };
        all.iter().enumerate().filter(is_left).map(|(_, entry)| line(entry)).collect()
    }

    /// Whether a repost exists, and the viewer sees its status.
    fn repost_is_visible(&self, viewer: usize, by: usize, at: usize) -> bool {
        self.is_public(at) && !self.relations.is_blocked_between(self.author(at), by) && self.can_view(viewer, at)
    }

    fn profile(&self, viewer: usize, of: usize, replies: bool, reposts: bool) -> Vec<String> {
        let own = self.living().into_iter().filter(|at| self.author(*at) == of && self.can_view(viewer, *at));
        let own = own.filter(|at| replies || self.statuses[*at].parent.is_none());
        let mut all: Vec<(usize, String)> = own.map(|at| (self.statuses[at].time, self.message(at))).collect();
        if reposts && self.relations.can_read_profile(viewer, of) {
            let shown = self.reposts.iter().filter(|((by, at), _)| *by == of && self.repost_is_visible(viewer, of, *at));
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

    /// The entry of a status in a conversation: its depth, the number of its replies, and its text if the viewer sees it.
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

    /// Whether the entry of a status exists: the status is not deleted, or an entry below it exists.
    fn has_entry(&self, at: usize) -> bool {
        self.lives(at) || self.has_entry_below(at)
    }

    fn has_entry_below(&self, at: usize) -> bool {
        self.children(at).into_iter().any(|child| self.has_entry(child))
    }

    fn replies(&self, viewer: usize, of: usize, sort: &str) -> Vec<usize> {
        let is_shown = |at: &usize| self.can_view(viewer, *at) || self.has_entry_below(*at);
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
        let is_named = |by: usize| self.repost_is_visible(viewer, by, at) && self.relations.can_name(viewer, author, by);
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

    /// The number of statuses of an account that are not deleted; `None` if the viewer does not find it.
    pub(super) fn statuses_count(&self, viewer: usize, of: usize) -> Option<usize> {
        self.can_discover(viewer, of).then(|| self.living().into_iter().filter(|at| self.author(*at) == of).count())
    }
}
