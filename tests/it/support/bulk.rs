//! Bulk data: users and follows for tests in which signing up is not the subject.

use super::{Actor, LONG_TIMEOUTS, TestApp};
use serde_json::json;
use waxwing::app::App;
use waxwing::base::ids::UserId;
use waxwing::db::Db;
use waxwing::domains::users::User;
use waxwing::domains::{graph, sessions, users};

impl TestApp {
    /// An application with long timeouts on the same Redis, since bulk writes may take longer.
    async fn app_with_long_timeouts(&self) -> App {
        if self.app.db().timing().response >= LONG_TIMEOUTS.response {
            return self.app.clone();
        }
        let db = Db::open(&self.redis.target(), LONG_TIMEOUTS).await.expect("a store");
        App::new(db, self.clock.clone(), self.app.config().clone())
    }

    /// `count` users with sessions, called `{prefix}0` and so on; all have one password, which is hashed once.
    pub async fn create_users(&self, prefix: &str, count: usize) -> Vec<Actor> {
        let app = self.app_with_long_timeouts().await;
        let mut people = Vec::with_capacity(count);
        for number in 0..count {
            let id = UserId(app.next_id().await.expect("an id"));
            let login = format!("{prefix}{number}");
            people.push(User::new(id, login.clone(), login));
        }
        users::service::import(&app, &people, "correct horse").await.expect("a store");
        let ids: Vec<UserId> = people.iter().map(|user| user.id).collect();
        let tokens = sessions::service::create_many(&app, &ids).await.expect("a store");
        let actor = |(user, token): (&User, String)| {
            let session = json!({ "token": token, "user": { "id": user.id.global(), "login": user.login } });
            Actor::new(self, Some(&session))
        };
        people.iter().zip(tokens).map(actor).collect()
    }

    /// Creates a reader whose home has 120 statuses of twelve users, ten each.
    pub async fn create_reader(&self) -> Actor {
        let reader = self.user("reader").await;
        for number in 0..12 {
            let author = self.user(&format!("author{number}")).await;
            reader.follow(&author).await;
            for post in 0..10 {
                self.clock.advance(1_000);
                author.post(&format!("{number} {post} and some more words, as people say them about the weather")).await;
            }
        }
        self.drain().await;
        reader
    }

    /// Creates follows in bulk, the first one the oldest. For accounts without follows of their own.
    pub async fn create_follows(&self, follows: &[(&Actor, &Actor)]) {
        let mut users: Vec<UserId> = follows.iter().flat_map(|(a, b)| [a.user_id(), b.user_id()]).collect();
        users.sort();
        users.dedup();
        let place = |actor: &Actor| users.binary_search(&actor.user_id()).expect("it is there");
        let app = self.app_with_long_timeouts().await;
        let mut edges = Vec::with_capacity(follows.len());
        for (a, b) in follows {
            edges.push((place(a), place(b), app.next_id().await.expect("an id")));
        }
        graph::service::import(&app, &users, &edges).await.expect("a store");
        for (at, user) in users.iter().enumerate() {
            let following = edges.iter().filter(|edge| edge.0 == at).count().to_string();
            let followers = edges.iter().filter(|edge| edge.1 == at).count().to_string();
            let key = format!("user:{{{}}}", user.0);
            self.redis.run::<()>(&["HSET", &key, "following", &following, "followers", &followers]);
        }
    }
}

impl Actor {
    /// The internal id.
    pub fn user_id(&self) -> UserId {
        UserId::from_global(&self.id).expect("an account's id")
    }
}
