//! The expected responses to queries of an account, by the model.

use super::model::{Chat, Kind, Listing, Member, Model, Role, Row, State, UNTIL_UNMUTED};
use super::operations::date_time;
use serde_json::{Value, json};

/// A list of chats of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Inbox,
    Archived,
    Requests,
}

fn name(role: Role) -> String {
    format!("{role:?}").to_uppercase()
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "TEXT",
        Kind::MemberJoined => "MEMBER_JOINED",
        Kind::MemberLeft => "MEMBER_LEFT",
        Kind::MemberRemoved => "MEMBER_REMOVED",
        Kind::RoleChanged => "ROLE_CHANGED",
        Kind::Renamed => "RENAMED",
    }
}

impl Model {
    /// The login of an account, null if the viewer may not see it.
    fn login(&self, viewer: usize, user: usize) -> Value {
        if self.relations.can_discover(viewer, user) { json!(format!("p{user}")) } else { Value::Null }
    }

    /// The chats of a list, the latest activity first.
    pub(super) fn list(&self, viewer: usize, list: List) -> Vec<usize> {
        let is_in = |member: &Member| match list {
            List::Inbox => member.state == State::Active && member.listing == Listing::Inbox,
            List::Archived => member.state == State::Active && member.listing == Listing::Archive,
            List::Requests => member.state == State::Request,
        };
        let member = |at: usize| self.chats[at].member(viewer).filter(|member| is_in(member));
        let mut chats: Vec<usize> = (0..self.chats.len()).filter(|at| member(*at).is_some()).collect();
        chats.sort_by_key(|at| std::cmp::Reverse(member(*at).map(|member| (member.activity, *at))));
        chats
    }

    fn is_unread(&self, chat: &Chat, member: &Member, at: usize) -> bool {
        let row = &chat.rows[at - 1];
        let counts = row.kind == Kind::Text && !row.is_deleted && row.sender != member.user;
        counts && at > member.seen && at >= member.first && !self.is_hidden(chat, row, member.user)
    }

    /// The unread texts of a chat, the oldest first.
    fn unread(&self, chat: &Chat, member: &Member) -> Vec<usize> {
        if self.is_separated(chat) {
            return Vec::new();
        }
        (1..=chat.rows.len()).filter(|at| self.is_unread(chat, member, *at)).collect()
    }

    pub(super) fn is_muted(&self, member: &Member) -> bool {
        member.muted_until > self.now
    }

    pub(super) fn badge(&self, viewer: usize) -> usize {
        let counts = |at: &usize| {
            let chat = &self.chats[*at];
            let member = chat.member(viewer).expect("a member");
            !self.is_muted(member) && !self.unread(chat, member).is_empty()
        };
        self.list(viewer, List::Inbox).iter().filter(|at| counts(at)).count()
    }

    /// The chats with unread texts: the chat, its count, the rows, and whether there are more.
    pub(super) fn pending(&self, viewer: usize, per_chat: usize) -> Vec<(usize, usize, Vec<usize>, bool)> {
        let of = |at: usize| {
            let chat = &self.chats[at];
            let unread = self.unread(chat, chat.member(viewer).expect("a member"));
            let first: Vec<usize> = unread.iter().take(per_chat).copied().collect();
            (at, unread.len(), first, unread.len() > per_chat)
        };
        self.list(viewer, List::Inbox).into_iter().map(of).filter(|(_, count, ..)| *count > 0).collect()
    }

    fn can_send(&self, chat: &Chat, viewer: usize) -> bool {
        if !chat.is_direct() {
            return true;
        }
        let peer = chat.peer(viewer);
        let is_refused = peer.state == State::Unstarted && !self.accepts(peer.user, viewer);
        !self.is_separated(chat) && !self.has_written_all(chat, viewer) && !is_refused
    }

    /// The card of a chat, null if it does not exist for the viewer.
    pub(super) fn card(&self, viewer: usize, at: usize) -> Value {
        let chat = &self.chats[at];
        let Some(member) = chat.shown(viewer) else { return Value::Null };
        let until = match member.muted_until {
            until if until == UNTIL_UNMUTED || !self.is_muted(member) => Value::Null,
            until => json!(date_time(until)),
        };
        let peer = if chat.is_direct() { self.login(viewer, chat.peer(viewer).user) } else { Value::Null };
        json!({
            "kind": if chat.is_direct() { "DIRECT" } else { "GROUP" },
            "name": chat.name,
            "history": if chat.shows_all { "ALL" } else { "FROM_JOIN" },
            "membersCount": chat.members.len(),
            "newestSequence": chat.rows.len(),
            "viewerPeer": peer,
            "viewerState": format!("{:?}", member.state).to_uppercase(),
            "viewerCanSend": self.can_send(chat, viewer),
            "viewerUnreadCount": self.unread(chat, member).len(),
            "viewerHasMuted": self.is_muted(member),
            "viewerMutedUntil": until,
            "viewerHasArchived": member.listing == Listing::Archive,
            "daysAfterSeen": chat.days,
            "viewerMember": { "role": name(member.role), "seenSequence": member.seen, "deliveredSequence": member.delivered },
            "members": self.members(viewer, chat),
        })
    }

    /// The members in their order, as lines.
    fn members(&self, viewer: usize, chat: &Chat) -> Vec<String> {
        // Of a direct chat, who began it is the first.
        let mut members: Vec<&Member> = chat.members.iter().collect();
        members.sort_by_key(|member| member.role);
        let line = |member: &Member| {
            let is_own = member.user == viewer;
            let has_accepted = member.state == State::Active || is_own;
            let of = |position: usize| if has_accepted { json!(position) } else { json!(0) };
            let is_shared = is_own || (self.shares[viewer] && self.shares[member.user]);
            let seen = if is_shared { of(member.seen) } else { Value::Null };
            let login = self.login(viewer, member.user);
            format!("{login} {} {seen} {}", name(member.role), of(member.delivered))
        };
        members.into_iter().map(line).collect()
    }

    /// The numbers of the rows that a viewer can read, the newest first.
    pub(super) fn readable(&self, viewer: usize, at: usize) -> Vec<usize> {
        let chat = &self.chats[at];
        chat.shown(viewer).map(|member| (member.first..=chat.rows.len()).rev().collect()).unwrap_or_default()
    }

    /// A row as a viewer reads it; null if it cannot.
    pub(super) fn row(&self, viewer: usize, at: usize, sequence: usize) -> Value {
        if !self.readable(viewer, at).contains(&sequence) {
            return Value::Null;
        }
        let chat = &self.chats[at];
        let row = &chat.rows[sequence - 1];
        let is_hidden = self.is_hidden(chat, row, viewer);
        let reply =
            row.reply.filter(|_| !is_hidden && !row.is_deleted).map_or(Value::Null, |reply| self.reply(viewer, at, reply));
        let reaction = |(emoji, users): &(&str, Vec<usize>)| json!({ "emoji": emoji, "count": users.len(), "viewerHasReacted": users.contains(&viewer) });
        let reactions: Vec<Value> = row.reactions.iter().filter(|_| !is_hidden).map(reaction).collect();
        json!({
            "sequence": sequence,
            "kind": kind(row.kind),
            "text": if is_hidden { "" } else { &row.text },
            "isEdited": row.is_edited && !is_hidden,
            "isDeleted": row.is_deleted && !is_hidden,
            "isHidden": is_hidden,
            "role": row.role.map(name),
            "sender": if is_hidden { Value::Null } else { self.login(viewer, row.sender) },
            "subject": row.subject.map_or(Value::Null, |subject| self.login(viewer, subject)),
            "replyTo": reply,
            "reactions": reactions,
        })
    }

    /// The row that a text answers, as a viewer reads it.
    fn reply(&self, viewer: usize, at: usize, reply: usize) -> Value {
        let row = self.row(viewer, at, reply);
        if row.is_null() {
            return row;
        }
        let field = |name: &str| row[name].clone();
        json!({
            "sequence": field("sequence"), "text": field("text"), "isDeleted": field("isDeleted"),
            "isHidden": field("isHidden"), "sender": field("sender"),
        })
    }

    /// The accounts that have reacted, as a viewer reads them: for each emoji the newest first.
    pub(super) fn reactors(&self, viewer: usize, at: usize, row: &Row) -> Vec<(String, Vec<Value>)> {
        if self.is_hidden(&self.chats[at], row, viewer) {
            return Vec::new();
        }
        let shown = |users: &[usize]| {
            users.iter().rev().map(|user| self.login(viewer, *user)).filter(|login| !login.is_null()).collect::<Vec<Value>>()
        };
        row.reactions.iter().map(|(emoji, users)| ((*emoji).to_owned(), shown(users))).collect()
    }

    /// Records that rows up to this one were delivered to a viewer.
    pub(super) fn deliver(&mut self, viewer: usize, at: usize, sequence: usize) {
        if let Some(member) = self.chats[at].members.iter_mut().find(|member| member.user == viewer && member.is_shown()) {
            member.delivered = member.delivered.max(sequence);
        }
    }
}
