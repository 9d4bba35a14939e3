//! Two authors, one with a private account, and viewers of every kind.

use super::conversations::Talk;
use super::model::{Audience, Viewer};
use crate::support::{Actor, TestApp};
use crate::visibility::block;
use serde_json::{Value, json};

pub(super) const AUDIENCES: [Audience; 4] = [Audience::Public, Audience::Followers, Audience::Friends, Audience::List];
/// The viewers that are accounts of their own.
pub(super) const ACCOUNTS: [Viewer; 10] = [
    Viewer::Stranger,
    Viewer::Follower,
    Viewer::Friend,
    Viewer::AudienceListMember,
    Viewer::Requested,
    Viewer::Blocked,
    Viewer::Blocker,
    Viewer::Muter,
    Viewer::FormerFollower,
    Viewer::RemovedFollower,
];

pub(super) struct Author {
    pub(super) actor: Actor,
    pub(super) is_private: bool,
    pub(super) audience_list: String,
    /// A status for each of [`AUDIENCES`], and a comment of the author on it.
    pub(super) statuses: Vec<(String, String)>,
    /// The comment of each of [`ACCOUNTS`] on each status.
    pub(super) comments: Vec<Vec<String>>,
    /// The replies, quotes, reposts and marks of the statuses.
    pub(super) talk: Talk,
}

/// An account with its list, which has both authors and the host.
pub(super) struct Account {
    pub(super) viewer: Viewer,
    pub(super) actor: Actor,
    pub(super) list: String,
}

pub(super) struct World {
    pub(super) app: TestApp,
    pub(super) authors: [Author; 2],
    /// An account that everyone follows and is friends with.
    pub(super) host: Actor,
    /// A public status of the host, which both authors like and comment on.
    pub(super) hosted: String,
    pub(super) accounts: Vec<Account>,
}

pub(super) async fn comment(actor: &Actor, status: &str, message: &str) -> String {
    let input = json!({ "statusId": status, "message": message });
    id_of(&actor.mutate_ok("addComment", input, "comment { id }").await["comment"])
}

fn id_of(object: &Value) -> String {
    object["id"].as_str().unwrap_or_else(|| panic!("{object}")).to_owned()
}

pub(super) async fn list_with(owner: &Actor, members: &[&Actor]) -> String {
    let list = id_of(&owner.mutate_ok("createUserList", json!({ "name": "list" }), "userList { id }").await["userList"]);
    for member in members {
        owner.mutate_ok("addUserToList", json!({ "listId": list, "userId": member.id }), "").await;
    }
    list
}

async fn befriend(one: &Actor, other: &Actor) {
    on(one, "requestFriend", other).await;
    on(other, "acceptFriendRequest", one).await;
}

/// Runs a mutation of an account on another.
async fn on(actor: &Actor, field: &str, other: &Actor) {
    actor.mutate_ok(field, json!({ "userId": other.id }), "").await;
}

impl Author {
    pub(super) fn input(&self, audience: Audience) -> Value {
        let list = (audience == Audience::List).then_some(&self.audience_list);
        json!({ "audience": format!("{audience:?}").to_uppercase(), "audienceListId": list })
    }

    /// Posts a status for an audience.
    pub(super) async fn post(&self, message: &str, audience: Audience) {
        let mut input = self.input(audience);
        input["message"] = json!(message);
        self.actor.mutate_ok("postStatus", input, "").await;
    }

    /// Posts statuses for everyone, on which everyone comments.
    async fn begin(actor: Actor, is_private: bool, accounts: &[Actor], host: &Actor) -> Self {
        let audience_list = list_with(&actor, &[]).await;
        let (mut statuses, mut comments) = (Vec::new(), Vec::new());
        for audience in AUDIENCES {
            let status = actor.post(&format!("{audience:?}")).await;
            let mut of_accounts = Vec::new();
            for account in accounts {
                of_accounts.push(comment(account, &status, "a comment").await);
            }
            let own = comment(&actor, &status, "of the author").await;
            statuses.push((status, own));
            comments.push(of_accounts);
        }
        let talk = Talk::begin(&actor, &statuses, host, accounts).await;
        Self { actor, is_private, audience_list, statuses, comments, talk }
    }

    async fn relate(&self, viewer: Viewer, account: &Actor) {
        use Viewer::{AudienceListMember, Author, FormerFollower, Friend, Nobody, RemovedFollower, Requested, Stranger};
        let author = &self.actor;
        match viewer {
            Friend => befriend(account, author).await,
            AudienceListMember => {
                author.mutate_ok("addUserToList", json!({ "listId": self.audience_list, "userId": account.id }), "").await;
            }
            Requested => on(account, "requestFriend", author).await,
            Nobody | Stranger | Author => {}
            _ => on(account, "followUser", author).await,
        }
        match viewer {
            Viewer::Muter => on(account, "muteUser", author).await,
            FormerFollower => on(account, "unfollowUser", author).await,
            RemovedFollower => on(author, "removeFollower", account).await,
            _ => {}
        }
    }

    /// Creates an ad that promotes the status for everyone.
    async fn promote(&self) {
        let campaign = json!({ "name": self.actor.login, "budget": "10" });
        let campaign = id_of(&self.actor.mutate_ok("createCampaign", campaign, "campaign { id }").await["campaign"]);
        let status = &self.statuses[0].0;
        let ad = json!({ "campaignId": campaign, "slot": "IN_FEED", "statusId": status, "pricing": "CPM", "bid": "2" });
        self.actor.mutate_ok("createAd", ad, "").await;
    }

    /// Gives each status its audience, and makes the account private.
    async fn close(&self) {
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            for status in self.talk.of_author(at).into_iter().chain([&self.statuses[at].0]) {
                let mut input = self.input(audience);
                input["statusId"] = json!(status);
                self.actor.mutate_ok("setStatusAudience", input, "").await;
            }
        }
        self.actor.mutate_ok("updateProfile", json!({ "isPrivate": self.is_private }), "").await;
    }
}

impl World {
    pub(super) async fn start() -> Self {
        let app = TestApp::start().await;
        let [open, closed, host] = app.users(["open", "closed", "host"]).await;
        let actors = app.create_users("v", ACCOUNTS.len()).await;
        let authors = [Author::begin(open, false, &actors, &host).await, Author::begin(closed, true, &actors, &host).await];
        for actor in actors.iter().chain(authors.iter().map(|author| &author.actor)) {
            befriend(actor, &host).await;
        }
        let hosted = host.post("of the host").await;
        let mut accounts = Vec::new();
        for (viewer, actor) in ACCOUNTS.into_iter().zip(actors) {
            for author in &authors {
                author.relate(viewer, &actor).await;
            }
            let list = list_with(&actor, &[&authors[0].actor, &authors[1].actor, &host]).await;
            accounts.push(Account { viewer, actor, list });
        }
        for author in &authors {
            author.promote().await;
            author.close().await;
            author.actor.like(&hosted).await;
            comment(&author.actor, &hosted, &author.actor.login).await;
        }
        // Every tenth entry of a home can be promoted.
        for number in 0..30 {
            host.post(&number.to_string()).await;
        }
        let world = Self { app, authors, host, hosted, accounts };
        world.request_and_block().await;
        world
    }

    /// The relations that need a private account, and blocks that have ended no relation yet: everything must be hidden by the policy alone.
    async fn request_and_block(&self) {
        for Account { viewer, actor, .. } in &self.accounts {
            for author in &self.authors {
                match viewer {
                    Viewer::Requested if author.is_private => on(actor, "followUser", &author.actor).await,
                    Viewer::Blocked => block(&self.app, &author.actor, actor),
                    Viewer::Blocker => block(&self.app, actor, &author.actor),
                    _ => {}
                }
            }
        }
        self.app.drain().await;
    }

    /// All pairs of a viewer and an author, with the viewer's list if it has one: accounts, a client without a session, and the author itself.
    pub(super) fn pairs(&self) -> Vec<(Viewer, Actor, Option<&str>, &Author)> {
        let mut pairs = Vec::new();
        for author in &self.authors {
            pairs.push((Viewer::Nobody, self.app.anonymous(), None, author));
            pairs.push((Viewer::Author, author.actor.clone(), None, author));
            pairs.extend(self.accounts.iter().map(|it| (it.viewer, it.actor.clone(), Some(it.list.as_str()), author)));
        }
        pairs
    }
}
