//! All actions of users, with subscriptions that start and end: the log contains no warning and no error.

use super::LiveSubscription;
use super::threads::{subscribe_to_new_events, wait_for_thread_subscribers};
use crate::ads::decide::start_server;
use crate::ads::{add, make, run};
use crate::comments::Commenter;
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Collects warnings and errors of the log.
#[derive(Clone, Default)]
struct WarningLog(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for WarningLog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() <= Level::WARN && event.metadata().target().starts_with("waxwing") {
            self.0.lock().expect("no panic while held").push(format!("{event:?}"));
        }
    }
}

impl WarningLog {
    fn all(&self) -> Vec<String> {
        self.0.lock().expect("no panic while held").clone()
    }
}

/// Runs a mutation that must succeed. Returns its payload.
async fn run_checked(actor: &Actor, operation: &str, input: Value) -> Value {
    let payload = run(actor, operation, input).await;
    assert_eq!(payload["userErrors"], json!([]), "{operation}: {payload}");
    payload
}

/// Creates statuses, comments, likes and follows, and removes most of them again.
async fn use_comments(app: &TestApp, users: &[Actor]) {
    let [ada, bob, cyd] = users else { panic!("three people") };
    let status = ada.post("Good morning").await;
    let mut thread = subscribe_to_new_events(app, &status).await;
    let mut homes = Vec::new();
    for reader in users {
        homes.push(LiveSubscription::home(app, reader, None).await.until_listening().await);
    }
    for (a, b) in [(ada, bob), (bob, ada), (cyd, ada), (cyd, bob)] {
        a.follow(b).await;
    }
    let one = Commenter(bob).comment_on(&status, "one").await;
    let two = Commenter(cyd).reply_to(&one, "two").await;
    Commenter(bob).edit(&one, "One").await;
    Commenter(ada).vote(&one, "UP").await;
    Commenter(bob).delete(&one, false).await;
    Commenter(ada).delete(&two, true).await;
    for _ in 0..4 {
        thread.next_response().await;
    }
    bob.like(&status).await;
    run_checked(bob, "Unlike", json!({ "statusId": status })).await;
    let other = bob.post("A status of Bob").await;
    homes[0].next_response().await;
    // One thread is deleted while it has subscribers, and another one while it has none.
    let mut ending = subscribe_to_new_events(app, &other).await;
    Commenter(ada).comment_on(&other, "last words").await;
    ending.next_response().await;
    bob.delete(&other).await;
    drop(thread);
    wait_for_thread_subscribers(app, &status, 0).await;
    Commenter(ada).comment_on(&status, "without a subscriber").await;
    cyd.unfollow(bob).await;
    drop(homes);
}

/// Creates lists, and statuses that reach them.
async fn use_lists(app: &TestApp, ada: &Actor, bob: &Actor) {
    let made = run_checked(ada, "CreateList", json!({ "name": "Few" })).await;
    let id = made["userList"]["id"].as_str().expect("an id").to_owned();
    run_checked(ada, "AddToList", json!({ "listId": id, "userId": bob.id })).await;
    let mut subscription =
        LiveSubscription::open(app, Some(ada), "ListEvents", json!({ "listId": id })).await.until_listening().await;
    bob.post("For the list").await;
    subscription.next_response().await;
    run_checked(ada, "RenameList", json!({ "listId": id, "name": "Fewer" })).await;
    run_checked(ada, "RemoveFromList", json!({ "listId": id, "userId": bob.id })).await;
    run_checked(ada, "DeleteList", json!({ "listId": id })).await;
}

/// Creates campaigns, serves their ads, and reads the reports.
async fn use_ads(app: &TestApp, ada: &Actor, key: &str) {
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
async fn a_busy_day_logs_no_warning_or_error() {
    let warnings = WarningLog::default();
    // The runtime of this test uses only this thread.
    let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(warnings.clone()));
    let (app, ada, key) = start_server(1).await;
    let [bob, cyd] = app.users(["bob", "cyd"]).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let working = tokio::spawn({
        let (app, stop) = (app.app.clone(), stop.clone());
        async move { waxwing::cli::workers::run(&app, &stop).await }
    });
    let mut public = LiveSubscription::public(&app, json!({ "track": ["list"] }), None).await.until_listening().await;
    let users = [ada, bob, cyd];
    for _ in 0..3 {
        use_comments(&app, &users).await;
        use_lists(&app, &users[0], &users[1]).await;
        public.next_response().await;
        use_ads(&app, &users[0], &key).await;
    }
    let mut watched = subscribe_to_new_events(&app, &users[1].post("Before the account is deleted").await).await;
    run_checked(&users[2], "UpdateProfile", json!({ "name": "Cyd" })).await;
    let input = json!({ "input": { "password": "correct horse" } });
    let mutation = "mutation($input: DeleteAccountInput!) { deleteAccount(input: $input) { userErrors { code } } }";
    let deleted = users[1].gql(mutation, input).await;
    assert_eq!(deleted["data"]["deleteAccount"]["userErrors"], json!([]), "{deleted}");
    app.drain().await;
    assert!(
        tokio::time::timeout(std::time::Duration::from_secs(30), watched.responses.recv()).await.is_ok(),
        "the thread subscription completes"
    );
    users[0].run("LogOut", json!({})).await;
    stop.cancel();
    working.await.expect("the workers stop");
    assert_eq!(warnings.all(), [""; 0]);
}
