//! Mutes, blocks and subscriptions: statuses of hidden authors are not delivered, also on other servers and after a resume.

use super::*;

async fn change(actor: &Actor, field: &str, other: &Actor, duration: &str) {
    let mutation = format!("mutation {{ {field}(input: {{ userId: {:?}{duration} }}) {{ userErrors {{ code }} }} }}", other.id);
    let response = actor.gql(&mutation, json!({})).await;
    assert_eq!(response["data"][field]["userErrors"], json!([]), "{response}");
}

/// Waits until a server with subscriptions of a viewer knows this number of hidden authors.
async fn wait_for_hidden(app: &TestServer, viewer: &Actor, count: usize) {
    let (hub, began) = (app.app.extension::<Hub>(), std::time::Instant::now());
    while hub.hidden_author_count(viewer.user_id().0) != Some(count) {
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
        wait_for_hidden(server, &ada, 1).await;
        let status = bea.post("muted").await;
        bea.delete(&status).await;
        cy.post("from cy").await;
        for stream in &mut streams {
            assert_eq!(stream.next_events(1).await, ["+from cy"]);
        }
        assert_eq!(anonymous.next_events(3).await, ["+muted".to_owned(), format!("-{status}"), "+from cy".to_owned()]);
        change(&ada, "unmuteUser", &bea, "").await;
        wait_for_hidden(server, &ada, 0).await;
        bea.post("again").await;
        for stream in &mut streams {
            assert_eq!(stream.next_events(1).await, ["+again"]);
        }
    }
}

#[tokio::test]
async fn a_resumed_subscription_applies_the_current_mutes() {
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

/// Opens the subscriptions of a viewer that show every status of some accounts: the home timeline, a list timeline and a filter of the public stream.
async fn streams(server: &TestServer, viewer: &Actor, list: &str, logins: &[&str]) -> [LiveSubscription; 3] {
    let filter = json!({ "filter": { "follow": logins } });
    [
        LiveSubscription::home(server, viewer, None).await.until_listening().await,
        LiveSubscription::open(server, Some(viewer), "ListEvents", json!({ "listId": list })).await.until_listening().await,
        LiveSubscription::open(server, Some(viewer), "PublicStream", filter).await.until_listening().await,
    ]
}

/// A list of an actor with these members.
async fn list_of(owner: &Actor, members: &[&Actor]) -> String {
    let made = owner.run("CreateList", json!({ "input": { "name": "all" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    for member in members {
        let added = owner.run("AddToList", json!({ "input": { "listId": list, "userId": member.id } })).await;
        assert_eq!(added["data"]["addUserToList"]["userErrors"], json!([]), "{added}");
    }
    list
}

#[tokio::test]
async fn a_block_hides_both_accounts_from_each_other_on_every_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    let logins = ["ada", "bea", "cy"];
    for (a, b) in [(&ada, &cy), (&bea, &cy)] {
        a.follow(b).await;
    }
    for server in [&app, &other] {
        ada.follow(&bea).await;
        bea.follow(&ada).await;
        let lists = [list_of(&ada, &[&bea, &cy]).await, list_of(&bea, &[&ada, &cy]).await];
        let mut of_ada = streams(server, &ada, &lists[0], &logins).await;
        let mut of_bea = streams(server, &bea, &lists[1], &logins).await;
        let mut anonymous = LiveSubscription::public(server, json!({ "follow": logins }), None).await.until_listening().await;
        change(&ada, "blockUser", &bea, "").await;
        for viewer in [&ada, &bea] {
            wait_for_hidden(server, viewer, 1).await;
        }
        // Homes and lists lose their sources, too.
        let status = bea.post("from bea").await;
        bea.delete(&status).await;
        ada.post("from ada").await;
        cy.post("from cy").await;
        let [home, list, public] = &mut of_ada;
        assert_eq!(home.next_events(2).await, ["+from ada", "+from cy"]);
        assert_eq!(list.next_events(1).await, ["+from cy"]);
        assert_eq!(public.next_events(2).await, ["+from ada", "+from cy"]);
        let (own, deleted) = ("+from bea".to_owned(), format!("-{status}"));
        let [home, list, public] = &mut of_bea;
        assert_eq!(home.next_events(3).await, [own.clone(), deleted.clone(), "+from cy".into()]);
        assert_eq!(list.next_events(1).await, ["+from cy"]);
        assert_eq!(public.next_events(3).await, [own.clone(), deleted.clone(), "+from cy".into()]);
        assert_eq!(anonymous.next_events(4).await, [own, deleted, "+from ada".into(), "+from cy".into()]);
        change(&ada, "unblockUser", &bea, "").await;
        for viewer in [&ada, &bea] {
            wait_for_hidden(server, viewer, 0).await;
        }
        bea.post("again").await;
        assert_eq!(of_ada[2].next_events(1).await, ["+again"]);
        cy.post("the last").await;
        assert_eq!(of_ada[0].next_events(1).await, ["+the last"], "ended relations are not restored");
    }
}

#[tokio::test]
async fn a_resumed_subscription_applies_the_current_blocks() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    let filter = json!({ "follow": ["ada", "bea", "cy"] });
    let open = async |viewer: &Actor, after: Option<&str>| {
        LiveSubscription::open(&app, Some(viewer), "PublicStream", json!({ "filter": filter, "after": after })).await
    };
    let mut stream = open(&ada, None).await.until_listening().await;
    cy.post("first").await;
    let cursor = stream.next().await.cursor;
    bea.post("from bea").await;
    ada.post("from ada").await;
    cy.post("last").await;
    change(&ada, "blockUser", &bea, "").await;
    // The shards of a cluster have no common order.
    let resumed = async |viewer: &Actor, count| {
        let mut events = open(viewer, Some(&cursor)).await.next_events(count).await;
        events.sort();
        events
    };
    assert_eq!(resumed(&ada, 2).await, ["+from ada", "+last"]);
    assert_eq!(resumed(&bea, 2).await, ["+from bea", "+last"]);
    change(&ada, "unblockUser", &bea, "").await;
    for viewer in [&ada, &bea] {
        assert_eq!(resumed(viewer, 3).await, ["+from ada", "+from bea", "+last"]);
    }
}
