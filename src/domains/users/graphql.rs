//! Accounts in GraphQL.

mod account;
mod email;
mod login;

pub use account::{AccountObject, AccountQuery, find_account};
pub use email::EmailMutation;
pub use login::LoginMutation;

use super::model::User;
use super::service::{Change, ProfileChange, Registration};
use crate::base::audience::DetailAudience;
use crate::base::day::Day;
use crate::base::ids::GlobalId;
use crate::base::page::PageArgs;
use crate::domains::graph::{self, Direction, FollowState, Follows, PendingRequests, Relation};
use crate::domains::relations::{self, Friends, FriendshipState, Relationship};
use crate::domains::statuses::service::ProfileChoice;
use crate::domains::statuses::{self, StatusObject};
use crate::domains::timelines::{self, Timeline};
use crate::schema::{
    Connection, Date, DateTime, FollowedAt, List, Text, TotalCount, object, payload, refuse, request, schema_enum,
};
use async_graphql::{Context, InputObject, MaybeUndefined, Object, Result};
use std::sync::Arc;

schema_enum! {
    DetailAudience as "DetailAudience";
}

/// A user account.
pub struct UserObject(pub Arc<User>);

object! {
    /// A user account.
    "User": UserObject(user) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = user.id.global_id();

        /// Login, as written at sign-up or at its last change. Unique, ignoring case.
        "login" login: &str = &user.login;

        /// Display name: 1 to 50 grapheme clusters, not unique.
        "name" name: Text<'_> = Text(&user.name);

        /// Biography: at most 160 grapheme clusters. Empty if the account has none.
        "bio" bio: Text<'_> = Text(&user.bio);

        /// URL of the avatar: absolute https, at most 2,000 bytes, as its owner has written it. The server never requests it. Null if there is none.
        "avatarUrl" avatar_url: Option<Text<'_>> = user.avatar_url.as_deref().map(Text);

        /// URL of the banner, as `avatarUrl`. Null if there is none.
        "bannerUrl" banner_url: Option<Text<'_>> = user.banner_url.as_deref().map(Text);

        /// URL of the website, as `avatarUrl`. Null if there is none.
        "websiteUrl" website_url: Option<Text<'_>> = user.website_url.as_deref().map(Text);

        /// Location, as its owner has written it: at most 60 grapheme clusters. Null if there is none.
        "location" location: Option<Text<'_>> = user.location.as_deref().map(Text);

        /// Gender, as its owner has written it: at most 40 grapheme clusters. Null if there is none.
        "gender" gender: Option<Text<'_>> = user.gender.as_deref().map(Text);

        /// Whether the account is private: only its followers and friends see its followers, the accounts that it follows and its statuses. The members of
        /// a list still see the statuses for that list.
        "isPrivate" is_private: bool = user.is_private;

        /// Time of creation.
        "createdAt" created_at: DateTime = DateTime(user.signed_up);

        /// Number of followers.
        "followersCount" followers_count: u64 = user.followers;

        /// Number of accounts that this account follows.
        "followingCount" following_count: u64 = user.following;

        /// Number of statuses of this account.
        "statusesCount" statuses_count: u64 = user.posts;

        /// Number of friends.
        "friendsCount" friends_count: u64 = user.friends.0;

        direct "birthDate" = user.birth_date.is_none().then_some(None::<Date>)?;
        direct "age" = user.birth_date.is_none().then_some(None::<u64>)?;
        direct "lastPostedAt" = (user.posts == 0).then_some(None::<DateTime>)?;
    }

    /// Date of birth. Null if there is none, and for accounts to which `Account.showBirthDate` does not show it.
    async fn birth_date(&self, ctx: &Context<'_>) -> Option<Result<Date>> {
        let birth_date = self.0.birth_date?;
        self.show_detail(ctx, self.0.birth_date_audience, Date(birth_date)).await
    }

    /// Age in whole years on the present day in UTC. Null without a date of birth, and for accounts to which `Account.showAge` does not show it.
    async fn age(&self, ctx: &Context<'_>) -> Option<Result<u32>> {
        let birth_date = self.0.birth_date?;
        let today = match request(ctx) {
            Ok(request) => Day::at(request.app.now()),
            Err(error) => return Some(Err(error)),
        };
        self.show_detail(ctx, self.0.age_audience, birth_date.age_on(today)).await
    }

    /// Time of the newest status of `profileTimeline` that the viewer can see. Null without one.
    async fn last_posted_at(&self, ctx: &Context<'_>) -> Option<Result<DateTime>> {
        if self.0.posts == 0 {
            return None;
        }
        let found = async {
            let loaders = request(ctx)?.loaders();
            Ok(Box::pin(statuses::service::last_posted_at(&loaders, self.0.id)).await?.map(DateTime))
        };
        found.await.transpose()
    }

    /// Whether the viewer follows this account. False without a session and for the viewer's own account.
    async fn viewer_is_following(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relation(ctx).await?.follows)
    }

    /// Whether the viewer's home timeline shows the reposts of this account. Set by `setRepostsShown`; default for a followed account: true. False for an
    /// account that the viewer does not follow, for the viewer's own account, and without a session.
    async fn viewer_sees_reposts(&self, ctx: &Context<'_>) -> Result<bool> {
        let choice = Box::pin(request(ctx)?.loaders().repost_choices.load(self.0.id)).await?;
        Ok(choice.follows && !choice.is_hidden)
    }

    /// Whether the viewer follows this account, or has requested to follow it.
    async fn viewer_follow_state(&self, ctx: &Context<'_>) -> Result<FollowState> {
        let relation = self.relation(ctx).await?;
        Ok(match () {
            () if relation.follows => FollowState::Following,
            // Public accounts have no follow requests.
            () if self.0.is_private && self.requests(ctx).await?.sent => FollowState::Requested,
            () => FollowState::None,
        })
    }

    /// Whether this account has requested to follow the viewer, and the request is pending. False without a session.
    async fn viewer_has_follow_request(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.requests(ctx).await?.received)
    }

    /// Whether this account follows the viewer. False without a session and for the viewer's own account.
    async fn is_following_viewer(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relation(ctx).await?.is_followed)
    }

    /// Whether the viewer mutes this account. False without a session and for the viewer's own account.
    async fn viewer_is_muting(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relationship(ctx).await?.mute.is_some())
    }

    /// Whether the viewer blocks this account. False without a session and for the viewer's own account.
    async fn viewer_is_blocking(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relationship(ctx).await?.blocks)
    }

    /// End of the viewer's temporary mute of this account. Null without a mute, and for one that lasts until `unmuteUser`.
    async fn viewer_mute_ends_at(&self, ctx: &Context<'_>) -> Result<Option<DateTime>> {
        Ok(self.relationship(ctx).await?.mute.and_then(|mute| mute.ends_at).map(DateTime))
    }

    /// Friendship of the viewer and this account. `NONE` without a session and for the viewer's own account.
    async fn viewer_friendship(&self, ctx: &Context<'_>) -> Result<FriendshipState> {
        Ok(Box::pin(request(ctx)?.loaders().friendships.load(self.0.id)).await?)
    }

    /// Followers of this account, the newest follow first.
    async fn followers(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Follows>> {
        Box::pin(self.follow_page(ctx, Direction::Followers, PageArgs { first, after, last, before })).await
    }

    /// Accounts that this account follows, the newest follow first.
    async fn following(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Follows>> {
        Box::pin(self.follow_page(ctx, Direction::Following, PageArgs { first, after, last, before })).await
    }

    /// Friends of this account, the newest friendship first. At most 5,000. An empty page for all but the account itself and its friends.
    async fn friends(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Friends>> {
        Box::pin(relations::friends(ctx, &self.0, PageArgs { first, after, last, before })).await
    }

    /// Friends that the viewer and this account have in common, the newest friendship of the viewer first. Empty for the viewer's own account and
    /// without a session. `totalCount` counts only the accounts that the viewer can see.
    async fn mutual_friends(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Friends>> {
        Box::pin(relations::mutual_friends(ctx, self.0.id, PageArgs { first, after, last, before })).await
    }

    /// Statuses that this account has pinned to its profile, the newest pin first. At most 5. Empty if the viewer cannot read the profile.
    async fn pinned_statuses(&self, ctx: &Context<'_>) -> Result<List<StatusObject>> {
        Ok(List(Box::pin(statuses::pinned_statuses(ctx, self.0.id)).await?))
    }

    /// Statuses of this account, newest first, and with `includeReposts` its reposts, each at the time of the repost. A cursor is valid only with the same
    /// values of both arguments.
    async fn profile_timeline(
        &self,
        #[graphql(desc = "Whether replies are included. Default: true.")] include_replies: Option<bool>,
        #[graphql(desc = "Whether reposts are included. Default: false.")] include_reposts: Option<bool>,
    ) -> Timeline {
        let default = ProfileChoice::default();
        let choice = ProfileChoice {
            replies: include_replies.unwrap_or(default.replies),
            reposts: include_reposts.unwrap_or(default.reposts),
        };
        Timeline::Profile(self.0.id, choice)
    }
}

// Futures that wait for the storage are boxed: async-graphql reserves, for the future of any field of an object, the size of the largest
// one.
impl UserObject {
    async fn relation(&self, ctx: &Context<'_>) -> Result<Relation> {
        Ok(Box::pin(request(ctx)?.loaders().relations.load(self.0.id)).await?)
    }

    async fn requests(&self, ctx: &Context<'_>) -> Result<PendingRequests> {
        Ok(Box::pin(request(ctx)?.loaders().requests.load(self.0.id)).await?)
    }

    async fn relationship(&self, ctx: &Context<'_>) -> Result<Relationship> {
        let relationship = Box::pin(relations::service::relationships(&request(ctx)?.loaders(), &[self.0.id])).await?.pop();
        Ok(relationship.unwrap_or_default())
    }

    /// A detail of the profile, if the account shows it to the viewer.
    async fn show_detail<T>(&self, ctx: &Context<'_>, audience: DetailAudience, detail: T) -> Option<Result<T>> {
        let can_see = async {
            let loaders = request(ctx)?.loaders();
            Ok(Box::pin(relations::service::can_see_detail(&loaders, self.0.id, audience)).await?)
        };
        can_see.await.map(|can_see| can_see.then_some(detail)).transpose()
    }

    async fn follow_page(&self, ctx: &Context<'_>, side: Direction, args: PageArgs) -> Result<Connection<Follows>> {
        let request = request(ctx)?;
        let page = relations::service::follows(&request.app, &request.loaders(), self.0.id, side, &args).await?;
        let total = if side == Direction::Followers { self.0.followers } else { self.0.following };
        let (list, total) = (graph::service::list_scope(self.0.id, side), TotalCount::Loaded(total));
        let follow = |position, user| (Self(user), FollowedAt::from_position(position));
        Connection::from_page(request, page, list, total, follow).await
    }
}

/// Queries of accounts.
#[derive(Default)]
pub struct UserQuery;

#[Object]
impl UserQuery {
    /// The account of the request's session, JWT or server key. Null without a session.
    async fn viewer(&self, ctx: &Context<'_>) -> Option<Result<UserObject>> {
        let found = async {
            let request = request(ctx)?;
            let Some(id) = request.viewer_id() else { return Ok(None) };
            Ok(request.loaders().users.load(id).await?.map(UserObject))
        };
        found.await.transpose()
    }

    /// The account with this login, ignoring case, or the account that had it within the last 30 days. Null if there is none.
    async fn user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Login, ignoring case.")] login: String,
    ) -> Option<Result<UserObject>> {
        let found = async {
            let request = request(ctx)?;
            Ok(relations::service::find_by_login(&request.app, &request.loaders(), &login).await?.map(UserObject))
        };
        found.await.transpose()
    }
}

/// Input of `signUp`.
#[derive(InputObject)]
pub struct SignUpInput {
    /// Login: 1 to 30 letters A-Z and a-z, digits and underscores. Unique, ignoring case; displayed as written. A taken login fails with `LOGIN_TAKEN`.
    pub login: String,
    /// Display name: 1 to 50 grapheme clusters.
    pub name: String,
    /// Password: 8 to 128 grapheme clusters without a space at either end. Stored as a hash.
    pub password: String,
    /// Mail address. A link is sent to it, and it is pending until `confirmEmail` confirms it. Whether another account has it does not change the
    /// response.
    pub email: Option<String>,
}

impl From<SignUpInput> for Registration {
    fn from(input: SignUpInput) -> Self {
        Self { login: input.login, name: input.name, password: input.password, email: input.email }
    }
}

/// Input of `updateProfile`. Fields that are omitted do not change.
#[derive(InputObject)]
struct UpdateProfileInput {
    /// Display name: 1 to 50 grapheme clusters. Null fails with `INVALID_NAME`.
    name: MaybeUndefined<String>,
    /// Biography: at most 160 grapheme clusters. Null or an empty string clears it.
    bio: MaybeUndefined<String>,
    /// Whether the account is private, as `User.isPrivate`. Null or omitted: no change. An account that becomes public accepts all follow requests,
    /// the oldest first. A request from an account that follows 10,000 others is dropped.
    is_private: Option<bool>,
    /// Location: 1 to 60 grapheme clusters. Null clears it.
    location: MaybeUndefined<String>,
    /// Gender: 1 to 40 grapheme clusters. Null clears it.
    gender: MaybeUndefined<String>,
    /// URL of the avatar: absolute https without a user name and a password, at most 2,000 bytes. Null clears it.
    avatar_url: MaybeUndefined<String>,
    /// URL of the banner, as `avatarUrl`. Null clears it.
    banner_url: MaybeUndefined<String>,
    /// URL of the website, as `avatarUrl`. Null clears it.
    website_url: MaybeUndefined<String>,
    /// Date of birth: 1900-01-01 to today in UTC. Null clears it.
    birth_date: MaybeUndefined<Date>,
    /// Accounts that see `User.birthDate`. Null: `NOBODY`.
    show_birth_date: MaybeUndefined<DetailAudience>,
    /// Accounts that see `User.age`. Null: `NOBODY`.
    show_age: MaybeUndefined<DetailAudience>,
}

impl From<UpdateProfileInput> for ProfileChange {
    fn from(input: UpdateProfileInput) -> Self {
        // Null is an empty text here: it clears the bio, and is refused as a name.
        let text = |value: MaybeUndefined<String>| match value {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(String::new()),
            MaybeUndefined::Value(text) => Some(text),
        };
        Self {
            name: text(input.name),
            bio: text(input.bio),
            is_private: input.is_private,
            location: change(input.location),
            gender: change(input.gender),
            avatar_url: change(input.avatar_url),
            banner_url: change(input.banner_url),
            website_url: change(input.website_url),
            birth_date: change(input.birth_date).map(|date| date.0),
            birth_date_audience: change(input.show_birth_date),
            age_audience: change(input.show_age),
        }
    }
}

/// The change of a field of which null clears the value.
fn change<T>(value: MaybeUndefined<T>) -> Change<T> {
    match value {
        MaybeUndefined::Undefined => Change::Keep,
        MaybeUndefined::Null => Change::Clear,
        MaybeUndefined::Value(value) => Change::Set(value),
    }
}

payload! {
    {
        /// The changed account. Null if there are user errors.
        user: UserObject,
    }
    /// Result of `updateProfile`.
    UpdateProfilePayload;
}

/// Mutations of accounts.
#[derive(Default)]
pub struct UserMutation;

#[Object]
impl UserMutation {
    /// Changes the viewer's profile, the audiences of its date of birth and its age, or whether its account is private. Requires a session.
    async fn update_profile(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "New values.")] input: UpdateProfileInput,
    ) -> Option<Result<UpdateProfilePayload>> {
        Some(update_profile(ctx, input).await)
    }
}

async fn update_profile(ctx: &Context<'_>, input: UpdateProfileInput) -> Result<UpdateProfilePayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?;
    let (user, user_errors) = refuse(timelines::service::update_profile(&request.app, viewer.user, input.into()).await)?;
    request.reset_loaders();
    Ok(UpdateProfilePayload { user: user.map(UserObject), user_errors })
}
