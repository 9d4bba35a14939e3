//! Members of a chat, as a viewer sees them.

use super::super::model::{ChatView, MAX_DELIVERED_SHOWN, Member, MemberRow, MemberState};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use futures_util::try_join;

/// A member as a viewer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownMember {
    /// The account.
    pub user: UserId,
    /// The membership.
    pub member: Member,
    /// The position up to which it has seen rows; `None` if the member or the viewer has turned read receipts off.
    pub seen: Option<u64>,
    /// The position up to which rows were delivered to it; `None` in a chat of more than 50 members, which does not store it.
    pub delivered: Option<u64>,
}

/// The scope of the cursors of [`members`].
pub const fn members_scope(chat: ChatId) -> CursorScope {
    CursorScope { kind: b'M', owner: chat.0 }
}

/// The viewer's own membership.
pub fn member_of(viewer: UserId, view: &ChatView) -> ShownMember {
    let delivered = (view.members <= MAX_DELIVERED_SHOWN as u64).then_some(view.delivered);
    ShownMember { user: viewer, member: view.member, seen: Some(view.seen), delivered }
}

/// A page of the members of a chat: by role, then in the order of joining. One batch of all members with their positions, and one of the
/// chat settings of the members of the page.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn members(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    view: &ChatView,
    args: &PageArgs,
) -> Result<Page<ShownMember>, Error> {
    let request = args.check(&app.cursors().await?, members_scope(view.id))?;
    let mut all = loaders.chat_members.load(view.id).await?.to_vec();
    all.sort_unstable_by_key(|row| std::cmp::Reverse(position(&row.member)));
    page::read_page(&MemberListing { loaders, viewer, all }, request).await
}

/// A member of a chat; `None` if the account is no member, or the chat does not exist for the viewer. The reads of [`members`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_member(loaders: &Loaders, viewer: UserId, chat: ChatId, user: UserId) -> Result<Option<ShownMember>, Error> {
    if loaders.chats.load(chat).await?.is_none() {
        return Ok(None);
    }
    let all = loaders.chat_members.load(chat).await?.to_vec();
    let Some(found) = all.iter().find(|row| row.user == user).copied() else { return Ok(None) };
    let row = Row { member: user.0, position: position(&found.member) };
    let listing = MemberListing { loaders, viewer, all };
    Ok(listing.hydrate(&[row]).await?.pop().flatten())
}

/// The position of a member: larger is earlier in the list.
fn position(member: &Member) -> u64 {
    (1 << 52) - ((member.role as u64) << 48) - member.join_order
}

struct MemberListing<'a> {
    loaders: &'a Loaders,
    viewer: UserId,
    all: Vec<MemberRow>,
}

impl PageSource for MemberListing<'_> {
    type Item = ShownMember;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let rows = |window: &Window| {
            let row = |row: &MemberRow| Row { member: row.user.0, position: position(&row.member) };
            let fits = |row: &Row| row.position > window.above && row.position < window.below;
            let mut rows: Vec<Row> = self.all.iter().map(row).filter(fits).collect();
            if !window.newest_first {
                rows.reverse();
            }
            rows.truncate(window.limit);
            rows
        };
        Ok(windows.iter().map(rows).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<ShownMember>>, Error> {
        let users = rows.iter().map(|row| UserId(row.member));
        let (own, others) =
            try_join!(self.loaders.chat_receivers.load(self.viewer), self.loaders.chat_receivers.load_many(users))?;
        let shown = |(row, (_, settings)): (&Row, (u64, super::super::model::ChatSettings))| {
            let found = self.all.iter().find(|it| it.user.0 == row.member)?;
            Some(self.shown(found, own.1.shares_seen && settings.shares_seen))
        };
        Ok(rows.iter().zip(others).map(shown).collect())
    }
}

impl MemberListing<'_> {
    fn shown(&self, row: &MemberRow, is_shared: bool) -> ShownMember {
        let is_own = row.user == self.viewer;
        let has_accepted = row.member.state == MemberState::Active || is_own;
        let shown = |position| if has_accepted { position } else { 0 };
        ShownMember {
            user: row.user,
            member: row.member,
            seen: (is_own || is_shared).then_some(shown(row.seen)),
            delivered: (self.all.len() <= MAX_DELIVERED_SHOWN).then_some(shown(row.delivered)),
        }
    }
}
