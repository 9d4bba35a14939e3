//! Mutes and subscriptions: statuses of muted accounts are not delivered, also on other servers and after a resume.

use super::*;

async fn change(actor: &Actor, field: &str, other: &Actor, duration: &str) {
    let mutation = format!("mutation {{ {field}(input: {{ userId: {:?}{duration} }}) {{ userErrors {{ code }} }} }}", other.id);
    let answer = actor.gql(&mutation, json!({})).await;
    assert_eq!(answer["data"][field]["userErrors"], json!([]), "{answer}");
}

/// Waits until a server with subscriptions of a viewer knows this number of mutes.
async fn wait_for_mutes(app: &TestServer, viewer: &Actor, count: usize) {
    let (hub, began) = (app.app.extension::<Hub>(), std::time::Instant::now());
    while hub.muted_by(viewer.user_id().0) != Some(count) {
        assert!(began.elapsed() < Duration::from_secs(5), "the change is not noticed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn statuses_of_muted_accounts_are_not_delivered_on_any_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    ada.follow(&bea).await;
    ada.follow(&cy).await;
    let filter = json!({ "follow": ["bea", "cy"] });
    for server in [&app, &other] {
        let mut streams = [
            LiveSubscription::home(server, &ada, None).await.until_listening().await,
            LiveSubscription::open(server, Some(&ada), "PublicStream", json!({ "filter": filter })).await.until_listening().await,
        ];
        let mut anonymous = LiveSubscription::public(server, filter.clone(), None).await.until_listening().await;
        change(&ada, "muteUser", &bea, "").await;
        wait_for_mutes(server, &ada, 1).await;
        let status = bea.post("muted").await;
        bea.delete(&status).await;
        cy.post("from cy").await;
        for stream in &mut streams {
            assert_eq!(stream.next_events(1).await, ["+from cy"]);
        }
        assert_eq!(anonymous.next_events(3).await, ["+muted".to_owned(), format!("-{status}"), "+from cy".to_owned()]);
        change(&ada, "unmuteUser", &bea, "").await;
        wait_for_mutes(server, &ada, 0).await;
        bea.post("again").await;
        for stream in &mut streams {
            assert_eq!(stream.next_events(1).await, ["+again"]);
        }
    }
}

#[tokio::test]
async fn a_resumed_subscription_goes_by_the_mutes_of_now() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    ada.follow(&bea).await;
    ada.follow(&cy).await;
    cy.post("first").await;
    let cursor = {
        let mut stream = LiveSubscription::home(&app, &ada, None).await.until_listening().await;
        cy.post("second").await;
        stream.next().await.cursor
    };
    bea.post("before the mute").await;
    change(&ada, "muteUser", &bea, ", durationSeconds: 60").await;
    bea.post("during the mute").await;
    cy.post("third").await;
    assert_eq!(LiveSubscription::home(&app, &ada, Some(&cursor)).await.next_events(1).await, ["+third"]);
    app.clock.advance(60_000);
    let all = ["+before the mute", "+during the mute", "+third"];
    assert_eq!(LiveSubscription::home(&app, &ada, Some(&cursor)).await.next_events(3).await, all, "the mute has ended");
}
