//! The model: what operations on chats change, written from the rulings of the contract. Accounts and chats are numbers; rows are numbered from 1.

use super::operations::Operation;
use crate::privacy_model::model::{Model as Relations, PEOPLE};

/// The texts that one may write before the other of a direct chat has accepted it.
const BEFORE_ACCEPTANCE: u64 = 3;
/// A time that never comes.
pub(super) const UNTIL_UNMUTED: u64 = u64::MAX;

/// The state of a chat for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Active,
    Request,
    Declined,
    /// The other has begun it, and has written nothing.
    Unstarted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Owner,
    Admin,
    Member,
}

/// The list of an active member that has the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    Inbox,
    Archive,
    Unlisted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Everyone,
    Followed,
    Friends,
    Nobody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    RoleChanged,
    Renamed,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) sender: usize,
    pub(super) subject: Option<usize>,
    pub(super) role: Option<Role>,
    pub(super) text: String,
    pub(super) reply: Option<usize>,
    pub(super) is_edited: bool,
    pub(super) is_deleted: bool,
    /// Emoji in the order in which each first came, each with its accounts, the oldest first.
    pub(super) reactions: Vec<(&'static str, Vec<usize>)>,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) user: usize,
    pub(super) role: Role,
    pub(super) state: State,
    /// The lowest row that the member can read.
    pub(super) first: usize,
    pub(super) seen: usize,
    pub(super) delivered: usize,
    /// Who has added the member.
    by: usize,
    /// The time of the newest activity.
    pub(super) activity: usize,
    pub(super) listing: Listing,
    /// In ms; 0 for none.
    pub(super) muted_until: u64,
    /// Texts that the member has written to one who had not accepted.
    texts: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Chat {
    /// The name of a group; none for a direct chat.
    pub(super) name: Option<String>,
    pub(super) shows_all: bool,
    /// Who joined first is first. Empty once the chat has ended.
    pub(super) members: Vec<Member>,
    pub(super) rows: Vec<Row>,
    /// After how many days messages are deleted that all have seen.
    pub(super) days: Option<i64>,
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Done,
    /// A user error with one of these codes: the rulings do not say which check comes first.
    Refused(Vec<&'static str>),
    /// A user error for each of these paths of the input.
    Rows(Vec<(&'static str, usize)>),
    /// The rulings leave open what happens.
    Open,
}

#[derive(Clone)]
pub(super) struct Model {
    pub(super) relations: Relations,
    pub(super) chats: Vec<Chat>,
    pub(super) who: [Who; PEOPLE],
    pub(super) shares: [bool; PEOPLE],
    pub(super) time: usize,
    /// The clock, in ms.
    pub(super) now: u64,
}

impl Row {
    pub(super) fn new(kind: Kind, sender: usize, subject: Option<usize>) -> Self {
        let (text, reactions) = (String::new(), Vec::new());
        Self { kind, sender, subject, role: None, text, reply: None, is_edited: false, is_deleted: false, reactions }
    }
}

impl Member {
    fn new(user: usize, role: Role, state: State, by: usize, time: usize) -> Self {
        let (listing, activity) = (Listing::Inbox, time);
        Self { user, role, state, first: 1, seen: 0, delivered: 0, by, activity, listing, muted_until: 0, texts: 0 }
    }

    /// Whether the chat exists for the member.
    pub(super) fn is_shown(&self) -> bool {
        matches!(self.state, State::Active | State::Request)
    }
}

impl Chat {
    pub(super) fn is_direct(&self) -> bool {
        self.name.is_none()
    }

    pub(super) fn member(&self, user: usize) -> Option<&Member> {
        self.members.iter().find(|member| member.user == user)
    }

    fn member_mut(&mut self, user: usize) -> &mut Member {
        self.members.iter_mut().find(|member| member.user == user).expect("a member")
    }

    /// The member for whom the chat exists.
    pub(super) fn shown(&self, user: usize) -> Option<&Member> {
        self.member(user).filter(|member| member.is_shown())
    }

    pub(super) fn peer(&self, user: usize) -> &Member {
        self.members.iter().find(|member| member.user != user).expect("two members")
    }
}

impl Model {
    pub(super) fn new(now: u64) -> Self {
        let relations = Relations::default();
        Self { relations, chats: Vec::new(), who: [Who::Everyone; PEOPLE], shares: [true; PEOPLE], time: 0, now }
    }

    pub(super) fn is_known(&self, receiver: usize, sender: usize) -> bool {
        self.relations.follows.contains(&(receiver, sender)) || self.relations.friends.contains(&(receiver, sender))
    }

    /// Whether a receiver accepts that an account writes to it.
    pub(super) fn accepts(&self, receiver: usize, sender: usize) -> bool {
        match self.who[receiver] {
            Who::Everyone => true,
            Who::Followed => self.is_known(receiver, sender),
            Who::Friends => self.relations.friends.contains(&(receiver, sender)),
            Who::Nobody => false,
        }
    }

    fn joins_as(&self, receiver: usize, sender: usize) -> State {
        if self.is_known(receiver, sender) { State::Active } else { State::Request }
    }

    pub(super) fn is_separated(&self, chat: &Chat) -> bool {
        chat.is_direct() && self.relations.is_blocked_between(chat.members[0].user, chat.members[1].user)
    }

    /// Whether a block hides a row of a group from a viewer.
    pub(super) fn is_hidden(&self, chat: &Chat, row: &Row, viewer: usize) -> bool {
        !chat.is_direct() && row.kind == Kind::Text && self.relations.is_blocked_between(viewer, row.sender)
    }

    /// Whether all texts are written that one may write before the other accepts.
    pub(super) fn has_written_all(&self, chat: &Chat, user: usize) -> bool {
        chat.is_direct()
            && matches!(chat.peer(user).state, State::Request | State::Declined)
            && chat.member(user).is_some_and(|member| member.texts >= BEFORE_ACCEPTANCE)
    }

    /// The direct chat of two accounts.
    pub(super) fn direct(&self, a: usize, b: usize) -> Option<usize> {
        self.chats.iter().position(|chat| chat.is_direct() && chat.member(a).is_some() && chat.member(b).is_some())
    }

    /// Applies an operation that is not refused.
    pub(super) fn apply(&mut self, operation: &Operation) {
        use Operation as O;
        self.time += 1;
        match operation {
            O::Relation(operation) => {
                self.relations.apply(*operation);
                if let crate::privacy_model::model::Operation::Block(a, b) = operation {
                    self.decline_from(*a, *b);
                }
            }
            O::Start(a, b) => self.start(*a, *b),
            O::Group { by, name, others, shows_all } => self.create(*by, name, others, *shows_all),
            O::Send { by, chat, text, reply } => self.send(*by, *chat, text, *reply),
            O::Edit(_, at, text) => {
                let row = self.row_mut(*at);
                row.is_edited |= row.text != *text;
                row.text.clone_from(text);
            }
            O::Delete(_, at) => {
                let row = self.row_mut(*at);
                *row = Row { is_deleted: true, ..Row::new(Kind::Text, row.sender, None) };
            }
            O::React(by, at, emoji) => self.react(*by, *at, emoji),
            O::Unreact(by, at, emoji) => {
                let row = self.row_mut(*at);
                row.reactions.iter_mut().filter(|(of, _)| of == emoji).for_each(|(_, users)| users.retain(|user| user != by));
                row.reactions.retain(|(_, users)| !users.is_empty());
            }
            O::Seen(by, chat, to) => {
                let member = self.chats[*chat].member_mut(*by);
                member.seen = member.seen.max(usize::try_from(*to).expect("it was checked"));
                member.delivered = member.delivered.max(member.seen);
            }
            O::Typing(..) => {}
            O::Add(by, chat, others) => self.add(*by, *chat, others),
            O::Remove(by, chat, user) => {
                self.append(*chat, Row::new(Kind::MemberRemoved, *by, Some(*user)));
                self.end(*by, *chat, *user);
            }
            O::SetRole(by, chat, user, role) => self.set_role(*by, *chat, *user, *role),
            O::Leave(by, chat) => self.leave(*by, *chat),
            O::Rename(by, chat, name) => {
                if self.chats[*chat].name.as_ref() != Some(name) {
                    self.chats[*chat].name = Some(name.clone());
                    self.append(*chat, Row { text: name.clone(), ..Row::new(Kind::Renamed, *by, None) });
                }
            }
            O::Mute(by, chat, until) => {
                let until = until.map_or(UNTIL_UNMUTED, |seconds| self.now.saturating_add_signed(seconds * 1000));
                self.chats[*chat].member_mut(*by).muted_until = until;
            }
            O::Unmute(by, chat) => self.chats[*chat].member_mut(*by).muted_until = 0,
            O::Archive(by, chat, is_archived) => {
                let member = self.chats[*chat].member_mut(*by);
                if member.listing != Listing::Unlisted {
                    member.listing = if *is_archived { Listing::Archive } else { Listing::Inbox };
                }
            }
            O::Clear(by, chat) => {
                let newest = self.chats[*chat].rows.len();
                let member = self.chats[*chat].member_mut(*by);
                (member.first, member.seen, member.delivered, member.listing) = (newest + 1, newest, newest, Listing::Unlisted);
            }
            O::Accept(by, chat) => self.chats[*chat].member_mut(*by).state = State::Active,
            O::Decline(by, chat) => self.decline(*by, *chat),
            O::Retention(_, chat, days) => self.chats[*chat].days = *days,
            O::Settings(by, who, shares) => {
                self.who[*by] = who.unwrap_or(self.who[*by]);
                self.shares[*by] = shares.unwrap_or(self.shares[*by]);
            }
        }
    }

    pub(super) fn row_mut(&mut self, (chat, row): (usize, usize)) -> &mut Row {
        &mut self.chats[chat].rows[row - 1]
    }

    fn start(&mut self, a: usize, b: usize) {
        let time = self.time;
        let Some(chat) = self.direct(a, b) else {
            let of = |user, state| Member::new(user, Role::Member, state, user, time);
            let members = vec![of(a, State::Active), of(b, State::Unstarted)];
            self.chats.push(Chat { name: None, shows_all: true, members, rows: Vec::new(), days: None });
            return;
        };
        let member = self.chats[chat].member_mut(a);
        if !member.is_shown() || member.listing == Listing::Unlisted {
            (member.activity, member.listing) = (time, Listing::Inbox);
        }
        member.state = State::Active;
    }

    fn create(&mut self, by: usize, name: &str, others: &[usize], shows_all: bool) {
        let mut members = vec![Member::new(by, Role::Owner, State::Active, by, self.time)];
        for user in others {
            if members.iter().all(|member| member.user != *user) {
                members.push(Member::new(*user, Role::Member, self.joins_as(*user, by), by, self.time));
            }
        }
        self.chats.push(Chat { name: Some(name.to_owned()), shows_all, members, rows: Vec::new(), days: None });
    }

    /// Writes a row: it is activity for all members from whom no block hides it.
    fn append(&mut self, chat: usize, row: Row) {
        let (hidden, now, time) = (
            self.chats[chat]
                .members
                .iter()
                .map(|member| self.is_hidden(&self.chats[chat], &row, member.user))
                .collect::<Vec<_>>(),
            self.now,
            self.time,
        );
        let members = &mut self.chats[chat].members;
        for (member, _) in members.iter_mut().zip(hidden).filter(|(member, is_hidden)| member.is_shown() && !is_hidden) {
            member.activity = time;
            let returns = row.kind == Kind::Text && (member.user == row.sender || member.muted_until <= now);
            if member.listing == Listing::Unlisted || (member.listing == Listing::Archive && returns) {
                member.listing = Listing::Inbox;
            }
        }
        self.chats[chat].rows.push(row);
    }

    fn send(&mut self, by: usize, chat: usize, text: &str, reply: Option<usize>) {
        if self.chats[chat].is_direct() {
            let peer = self.chats[chat].peer(by);
            let (user, state) = (peer.user, peer.state);
            if state == State::Unstarted {
                let joins = self.joins_as(user, by);
                let member = self.chats[chat].member_mut(user);
                (member.state, member.by) = (joins, by);
            }
            let waits = self.chats[chat].peer(by).state != State::Active;
            self.chats[chat].member_mut(by).texts += u64::from(waits);
        }
        self.chats[chat].member_mut(by).state = State::Active;
        self.append(chat, Row { text: text.to_owned(), reply, ..Row::new(Kind::Text, by, None) });
        let newest = self.chats[chat].rows.len();
        let member = self.chats[chat].member_mut(by);
        (member.seen, member.delivered) = (newest, newest);
    }

    fn react(&mut self, by: usize, at: (usize, usize), emoji: &'static str) {
        let reactions = &mut self.row_mut(at).reactions;
        match reactions.iter_mut().find(|(of, _)| *of == emoji) {
            Some((_, users)) if users.contains(&by) => {}
            Some((_, users)) => users.push(by),
            None => reactions.push((emoji, vec![by])),
        }
    }

    fn add(&mut self, by: usize, chat: usize, others: &[usize]) {
        for user in others {
            if self.chats[chat].member(*user).is_some() {
                continue;
            }
            let member = Member::new(*user, Role::Member, self.joins_as(*user, by), by, self.time);
            self.chats[chat].members.push(member);
            self.append(chat, Row::new(Kind::MemberJoined, by, Some(*user)));
            let (row, shows_all) = (self.chats[chat].rows.len(), self.chats[chat].shows_all);
            let member = self.chats[chat].member_mut(*user);
            (member.seen, member.delivered, member.first) = (row, row, if shows_all { 1 } else { row });
        }
    }

    fn set_role(&mut self, by: usize, chat: usize, user: usize, role: Role) {
        if self.chats[chat].member(user).is_some_and(|member| member.role == role) {
            return;
        }
        let changes = [Some((user, role)), (role == Role::Owner).then_some((by, Role::Admin))];
        for (user, role) in changes.into_iter().flatten() {
            self.chats[chat].member_mut(user).role = role;
            self.append(chat, Row { role: Some(role), ..Row::new(Kind::RoleChanged, by, Some(user)) });
        }
    }

    fn leave(&mut self, by: usize, chat: usize) {
        if self.chats[chat].members.len() > 1 {
            self.append(chat, Row::new(Kind::MemberLeft, by, Some(by)));
        }
        self.end(by, chat, by);
    }

    /// Ends a membership; after the owner another member follows.
    fn end(&mut self, by: usize, chat: usize, user: usize) {
        let members = &mut self.chats[chat].members;
        let was_owner = members.iter().any(|member| member.user == user && member.role == Role::Owner);
        members.retain(|member| member.user != user);
        let rank = |member: &&mut Member| (member.state != State::Active, member.role != Role::Admin);
        if let Some(next) = members.iter_mut().min_by_key(rank).filter(|_| was_owner) {
            next.role = Role::Owner;
            let row = Row { role: Some(Role::Owner), ..Row::new(Kind::RoleChanged, by, Some(next.user)) };
            self.append(chat, row);
        }
    }

    fn decline(&mut self, by: usize, chat: usize) {
        if self.chats[chat].is_direct() {
            let member = self.chats[chat].member_mut(by);
            (member.state, member.muted_until) = (State::Declined, 0);
        } else {
            self.leave(by, chat);
        }
    }

    /// The chats that wait for an account and came from another.
    pub(super) fn waiting_from(&self, user: usize, from: usize) -> Vec<usize> {
        let is_from = |chat: &&Chat| chat.member(user).is_some_and(|member| member.state == State::Request && member.by == from);
        (0..self.chats.len()).filter(|at| is_from(&&self.chats[*at])).collect()
    }

    fn decline_from(&mut self, user: usize, from: usize) {
        for chat in self.waiting_from(user, from) {
            self.decline(user, chat);
        }
    }
}
