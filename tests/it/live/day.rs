//! A busy day: all actions of users, with subscriptions that come and go. No line of the log is a warning or an error.

use super::Ear;
use super::threads::{followed, live};
use crate::ads::decide::started;
use crate::ads::{add, make, run};
use crate::comments::Says;
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Collects the log lines that an operator should read.
#[derive(Clone, Default)]
struct Complaints(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Complaints {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() <= Level::WARN && event.metadata().target().starts_with("waxwing") {
            self.0.lock().expect("no panic while held").push(format!("{event:?}"));
        }
    }
}

impl Complaints {
    fn all(&self) -> Vec<String> {
        self.0.lock().expect("no panic while held").clone()
    }
}

/// Returns the first object of a payload.
async fn done(actor: &Actor, operation: &str, input: Value) -> Value {
    let payload = run(actor, operation, input).await;
    assert_eq!(payload["userErrors"], json!([]), "{operation}: {payload}");
    payload
}

/// Creates statuses, comments, likes and follows, and removes most of them again.
async fn talk(app: &TestApp, crowd: &[Actor]) {
    let [ada, bob, cyd] = crowd else { panic!("three people") };
    let status = ada.post("Good morning").await;
    let mut thread = live(app, &status).await;
    let mut homes = Vec::new();
    for reader in crowd {
        homes.push(Ear::home(app, reader, None).await.listen().await);
    }
    for (a, b) in [(ada, bob), (bob, ada), (cyd, ada), (cyd, bob)] {
        a.follow(b).await;
    }
    let one = Says(bob).on(&status, "one").await;
    let two = Says(cyd).to(&one, "two").await;
    Says(bob).edit(&one, "One").await;
    Says(ada).vote(&one, "UP").await;
    Says(bob).delete(&one, false).await;
    Says(ada).delete(&two, true).await;
    for _ in 0..4 {
        thread.answer().await;
    }
    bob.like(&status).await;
    done(bob, "Unlike", json!({ "statusId": status })).await;
    let other = bob.post("Somebody else's").await;
    homes[0].answer().await;
    // One thread is deleted while it has subscribers, and another one while it has none.
    let mut ending = live(app, &other).await;
    Says(ada).on(&other, "last words").await;
    ending.answer().await;
    bob.delete(&other).await;
    drop(thread);
    followed(app, &status, 0).await;
    Says(ada).on(&status, "nobody hears it").await;
    cyd.unfollow(bob).await;
    drop(homes);
}

/// Creates lists, and statuses that reach them.
async fn list(app: &TestApp, ada: &Actor, bob: &Actor) {
    let made = done(ada, "CreateList", json!({ "name": "Few" })).await;
    let id = made["userList"]["id"].as_str().expect("an id").to_owned();
    done(ada, "AddToList", json!({ "listId": id, "userId": bob.id })).await;
    let mut ear = Ear::open(app, Some(ada), "ListEvents", json!({ "listId": id })).await.listen().await;
    bob.post("For the list").await;
    ear.answer().await;
    done(ada, "RenameList", json!({ "listId": id, "name": "Fewer" })).await;
    done(ada, "RemoveFromList", json!({ "listId": id, "userId": bob.id })).await;
    done(ada, "DeleteList", json!({ "listId": id })).await;
}

/// Creates campaigns, serves their ads, and reads the reports.
async fn advertise(app: &TestApp, ada: &Actor, key: &str) {
    let campaign = make(ada, json!({})).await;
    add(ada, &campaign, json!({})).await;
    let page = app.anonymous();
    let served = run(&page, "ServeAds", json!({ "websiteKey": key, "slot": "BANNER", "visitorId": "v" })).await;
    let token = served["impressions"][0]["token"].as_str().unwrap_or_else(|| panic!("{served}"));
    run(&page, "ClickAd", json!({ "token": token })).await;
    for operation in ["PauseCampaign", "ResumeCampaign", "StopCampaign"] {
        run(ada, operation, json!({ "campaignId": campaign })).await;
    }
}

#[tokio::test]
async fn a_busy_day_logs_nothing_that_somebody_should_look_at() {
    let complaints = Complaints::default();
    // The runtime of this test uses only this thread.
    let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(complaints.clone()));
    let (app, ada, key) = started(1).await;
    let [bob, cyd] = app.users(["bob", "cyd"]).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let working = tokio::spawn({
        let (app, stop) = (app.app.clone(), stop.clone());
        async move { waxwing::cli::workers::run(&app, &stop).await }
    });
    let mut public = Ear::public(&app, json!({ "track": ["list"] }), None).await.listen().await;
    let crowd = [ada, bob, cyd];
    for _ in 0..3 {
        talk(&app, &crowd).await;
        list(&app, &crowd[0], &crowd[1]).await;
        public.answer().await;
        advertise(&app, &crowd[0], &key).await;
    }
    let mut watched = live(&app, &crowd[1].post("Before one goes").await).await;
    done(&crowd[2], "UpdateProfile", json!({ "name": "Cyd" })).await;
    let input = json!({ "input": { "password": "correct horse" } });
    let mutation = "mutation($input: DeleteAccountInput!) { deleteAccount(input: $input) { userErrors { code } } }";
    let gone = crowd[1].gql(mutation, input).await;
    assert_eq!(gone["data"]["deleteAccount"]["userErrors"], json!([]), "{gone}");
    app.drain().await;
    assert!(tokio::time::timeout(std::time::Duration::from_secs(30), watched.told.recv()).await.is_ok(), "the thread has ended");
    crowd[0].run("LogOut", json!({})).await;
    stop.cancel();
    working.await.expect("they stop");
    assert_eq!(complaints.all(), [""; 0]);
}
