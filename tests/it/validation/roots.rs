//! An error in a nullable root field nulls only that field. The test makes each nullable root field fail next to a sibling field that succeeds.

use crate::ads::{self, decide};
use crate::support::{Actor, HttpResponse, RedisServer, TestApp, error_codes};
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{TypeKind, TypeSystemDefinition};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, ChatMessageId, UserId};

/// Nullable root fields that never fail: without a session `viewer` and `viewerMentions` are null, without an error; a tag is its name, and needs no
/// storage.
const NEVER_FAIL: [&str; 3] = ["tag", "viewer", "viewerMentions"];

/// Returns the fields of a root type, each with whether it is nullable.
fn roots(kind: &str) -> Vec<(String, bool)> {
    let sdl = parse_schema(include_str!("../../../schema.graphql")).expect("a schema");
    let fields = sdl.definitions.into_iter().find_map(|definition| match definition {
        TypeSystemDefinition::Type(ty) if ty.node.name.node == kind => match ty.node.kind {
            TypeKind::Object(object) => Some(object.fields),
            _ => None,
        },
        _ => None,
    });
    let field = |field: async_graphql::parser::types::FieldDefinition| (field.name.node.to_string(), field.ty.node.nullable);
    fields.expect("a root").into_iter().map(|it| field(it.node)).collect()
}

/// The arguments of the root fields about chats.
fn chat_arguments(field: &str) -> Option<String> {
    let chat = ChatId(9);
    let message = ChatMessageId { chat, sequence: 1 }.global_id().to_string();
    let (chat, user) = (chat.global(), UserId(9).global());
    let input = match field {
        "viewerChats" | "viewerChatRequests" | "pendingMessages" => return Some("(first: 1)".to_owned()),
        "viewerUnreadChatsCount" | "viewerChatSettings" => return Some(String::new()),
        "startDirectChat" => format!("userId: {user:?}"),
        "createGroupChat" => format!("name: \"x\", userIds: [{user:?}]"),
        "addChatMembers" => format!("chatId: {chat:?}, userIds: [{user:?}]"),
        "removeChatMember" => format!("chatId: {chat:?}, userId: {user:?}"),
        "setChatMemberRole" => format!("chatId: {chat:?}, userId: {user:?}, role: ADMIN"),
        "setChatRetention" => format!("chatId: {chat:?}, daysAfterSeen: 1"),
        "renameChat" => format!("chatId: {chat:?}, name: \"x\""),
        "sendMessage" => format!("chatId: {chat:?}, text: \"x\""),
        "editMessage" => format!("messageId: {message:?}, text: \"x\""),
        "deleteMessage" => format!("messageId: {message:?}"),
        "reactToMessage" | "removeReaction" => format!("messageId: {message:?}, emoji: \"\u{1f44d}\""),
        "markChatSeen" => format!("chatId: {chat:?}, sequence: 1"),
        "updateChatSettings" => "sharesSeen: true".to_owned(),
        "leaveChat" | "muteChat" | "unmuteChat" | "archiveChat" | "unarchiveChat" | "deleteChatHistory" | "acceptChatRequest"
        | "declineChatRequest" | "sendTyping" => format!("chatId: {chat:?}"),
        _ => return None,
    };
    Some(format!("(input: {{ {input} }})"))
}

/// Arguments with which each root field reaches the storage.
struct Fixture {
    user: String,
    key: String,
    tokens: Vec<String>,
}

/// A token of an account that does not exist.
const TOKEN: &str = "AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

impl Fixture {
    fn arguments(&self, field: &str) -> String {
        let id = &self.user;
        match field {
            "node" => format!("(id: {id:?})"),
            "user" => "(login: \"nobody\")".to_owned(),
            "tag" => "(name: \"x\")".to_owned(),
            "explainAd" => format!("(campaignId: {id:?}, slot: BANNER)"),
            "homeTimeline" | "viewerAccount" | "viewerSessions" | "logOut" | "resendEmailConfirmation" => String::new(),
            "viewerBlocks"
            | "viewerBookmarks"
            | "viewerCampaigns"
            | "viewerFollowRequests"
            | "viewerSentFollowRequests"
            | "viewerLists"
            | "viewerFollowedTags"
            | "viewerMutes"
            | "viewerWebsites"
            | "viewerFriendRequests"
            | "viewerSentFriendRequests" => "(first: 1)".to_owned(),
            "signUp" => "(input: { login: \"new\", name: \"N\", password: \"correct horse\" })".to_owned(),
            "logIn" => "(input: { login: \"ada\", password: \"correct horse\" })".to_owned(),
            "serveAds" => format!("(input: {{ websiteKey: {:?}, slot: BANNER }})", self.key),
            "clickAd" => format!("(input: {{ token: {:?} }})", self.tokens[0]),
            "recordImpressions" => format!("(input: {{ tokens: [{:?}] }})", self.tokens[0]),
            "postStatus" => "(input: { message: \"x\" })".to_owned(),
            "createCampaign" => "(input: { name: \"x\", budget: 1 })".to_owned(),
            "createUserList" => "(input: { name: \"x\" })".to_owned(),
            "createAd" => {
                format!(
                    "(input: {{ campaignId: {id:?}, bid: 1, pricing: CPM, slot: BANNER, snippet: \"x\", targetUrl: \"https://a.example\" }})"
                )
            }
            "addCampaignKeywords" | "removeCampaignKeywords" => format!("(input: {{ campaignId: {id:?}, keywords: [\"x\"] }})"),
            "pauseCampaign" | "resumeCampaign" | "stopCampaign" | "updateCampaign" => {
                format!("(input: {{ campaignId: {id:?} }})")
            }
            "addComment" => format!("(input: {{ statusId: {id:?}, message: \"x\" }})"),
            "editComment" => format!("(input: {{ commentId: {id:?}, message: \"x\" }})"),
            "editStatus" => format!("(input: {{ statusId: {id:?}, message: \"x\" }})"),
            "deleteComment" => format!("(input: {{ commentId: {id:?} }})"),
            "voteComment" => format!("(input: {{ commentId: {id:?}, vote: UP }})"),
            "addUserToList" | "removeUserFromList" => format!("(input: {{ listId: {id:?}, userId: {id:?} }})"),
            "addTagToList" | "removeTagFromList" => format!("(input: {{ listId: {id:?}, name: \"x\" }})"),
            "followTag" | "unfollowTag" => "(input: { name: \"x\" })".to_owned(),
            "setRepostsShown" => format!("(input: {{ userId: {id:?}, shown: true }})"),
            "renameUserList" => format!("(input: {{ listId: {id:?}, name: \"x\" }})"),
            "deleteUserList" => format!("(input: {{ listId: {id:?} }})"),
            "changeEmail" => "(input: { email: \"ada@example.org\", password: \"correct horse\" })".to_owned(),
            "confirmEmail" => format!("(input: {{ token: {TOKEN:?} }})"),
            "requestPasswordReset" => "(input: { email: \"ada@example.org\" })".to_owned(),
            "resetPassword" => format!("(input: {{ token: {TOKEN:?}, newPassword: \"correct horse\" }})"),
            "changeLogin" => "(input: { login: \"ada\", password: \"correct horse\" })".to_owned(),
            "changePassword" => "(input: { currentPassword: \"correct horse\", newPassword: \"correct horse\" })".to_owned(),
            "deleteAccount" => "(input: { password: \"correct horse\" })".to_owned(),
            "provisionUser" | "issueSession" | "revokeSessions" | "removeUser" => "(input: { externalId: \"7\" })".to_owned(),
            "setReplyPolicy" => format!("(input: {{ statusId: {id:?}, replyPolicy: NOBODY }})"),
            "setStatusAudience" => format!("(input: {{ statusId: {id:?}, audience: FRIENDS }})"),
            "repostStatus" | "undoRepost" | "deleteStatus" | "likeStatus" | "unlikeStatus" | "bookmarkStatus"
            | "removeBookmark" | "pinStatus" | "unpinStatus" => format!("(input: {{ statusId: {id:?} }})"),
            "followUser"
            | "unfollowUser"
            | "muteUser"
            | "unmuteUser"
            | "blockUser"
            | "unblockUser"
            | "requestFriend"
            | "acceptFriendRequest"
            | "rejectFriendRequest"
            | "removeFriend"
            | "acceptFollowRequest"
            | "rejectFollowRequest"
            | "removeFollower" => format!("(input: {{ userId: {id:?} }})"),
            "endSessions" => "(input: { allOthers: true })".to_owned(),
            "registerWebsite" => "(input: { name: \"x\", origin: \"https://a.example\" })".to_owned(),
            "renewWebsiteServerKey" => format!("(input: {{ websiteId: {id:?} }})"),
            "removeAd" => format!("(input: {{ adId: {id:?} }})"),
            "updateProfile" => "(input: { name: \"x\" })".to_owned(),
            _ => chat_arguments(field)
                .unwrap_or_else(|| panic!("no arguments for root field `{field}`: add them to `Fixture::arguments`")),
        }
    }

    fn query(&self, kind: &str, field: &str) -> String {
        let (operation, sibling) =
            if kind == "Query" { ("query", "sibling: serverLimits { depth }") } else { ("mutation", "sibling: __typename") };
        let arguments = self.arguments(field);
        // A number has no fields.
        let selection = if field == "viewerUnreadChatsCount" { "" } else { "{ __typename }" };
        format!("{operation} {{ before: __typename field: {field}{arguments} {selection} {sibling} }}")
    }
}

/// Asserts that the error nulls only its field.
fn check(field: &str, response: &Value, expected: &[&str]) {
    let codes = error_codes(response);
    assert!(codes.len() == 1 && expected.contains(&codes[0].as_str()), "{field}: {response}");
    assert_eq!(response["errors"][0]["path"], json!(["field"]), "{field}: {response}");
    assert_eq!(response["data"]["field"], Value::Null, "{field}: {response}");
    assert!(response["data"].get("field").is_some() && !response["data"]["sibling"].is_null(), "{field}: {response}");
    assert!(response["data"]["before"].is_string(), "{field}: {response}");
}

async fn create_fixture(app: &TestApp) -> (Fixture, Actor) {
    let ada = app.user("ada").await;
    let key = decide::website(&ada).await;
    let campaign = ads::make(&ada, json!({})).await;
    ads::add(&ada, &campaign, json!({})).await;
    let served = decide::serve(&app.anonymous(), &key, json!({})).await;
    let tokens = served.iter().map(|it| it["token"].as_str().expect("a token").to_owned()).collect();
    (Fixture { user: ada.id.clone(), key, tokens }, ada)
}

#[tokio::test]
async fn without_a_storage_every_nullable_root_field_fails_alone() {
    let redis = Arc::new(RedisServer::start());
    let setup_app =
        TestApp::on_redis(redis.clone(), waxwing::base::clock::Clock::manual(crate::support::START), Config::default()).await;
    let (fixture, _) = create_fixture(&setup_app).await;
    let app = TestApp::with_default_timeouts_on(redis, Config::default()).await;
    app.redis.kill();
    let mut failed = 0;
    for kind in ["Query", "Mutation"] {
        for (field, _) in roots(kind).into_iter().filter(|(field, nullable)| *nullable && !NEVER_FAIL.contains(&field.as_str())) {
            let response = app.query(&fixture.query(kind, &field)).await.json();
            check(&field, &response, &["STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN", "UNAUTHENTICATED", "BAD_USER_INPUT"]);
            failed += 1;
        }
    }
    assert!(failed > 30, "{failed}");
}

#[tokio::test]
async fn an_error_of_the_client_nulls_only_its_field() {
    let app = TestApp::start().await;
    let (_, ada) = create_fixture(&app).await;
    let queries = [
        ("node(id: \"no id\") { id }", "BAD_USER_INPUT"),
        ("viewerLists(first: 0) { totalCount }", "BAD_USER_INPUT"),
        ("viewerLists(first: 1, last: 1) { totalCount }", "BAD_USER_INPUT"),
        ("viewerCampaigns(after: \"forged\") { totalCount }", "BAD_USER_INPUT"),
        ("viewerWebsites(first: 101) { totalCount }", "BAD_USER_INPUT"),
    ];
    for (field, code) in queries {
        let response = ada.gql(&format!("{{ before: __typename field: {field} sibling: viewer {{ login }} }}"), json!({})).await;
        check(field, &response, &[code]);
    }
    // Requests without a session.
    for (field, inner) in [("homeTimeline", "__typename"), ("viewerSessions", "id"), ("viewerLists", "totalCount")] {
        let response =
            app.query(&format!("{{ before: __typename field: {field} {{ {inner} }} sibling: serverLimits {{ depth }} }}")).await;
        check(field, &response.json(), &["UNAUTHENTICATED"]);
    }
}

/// An error in a non-null root field nulls the whole response, so new root fields are nullable.
#[tokio::test]
async fn non_null_root_fields_are_listed() {
    let strict =
        |kind| -> Vec<String> { roots(kind).into_iter().filter(|(_, nullable)| !nullable).map(|(field, _)| field).collect() };
    assert_eq!(strict("Query"), ["nodes", "serverLimits", "statusEventsSyncCursor"]);
    assert_eq!(strict("Mutation"), [""; 0]);
    let app = TestApp::start().await;
    let response =
        HttpResponse::fetch(app.post().json(&json!({ "query": "{ nodes(ids: \"no id\") { id } __typename }" }))).await.json();
    assert_eq!((&response["data"], error_codes(&response)), (&Value::Null, vec!["BAD_USER_INPUT".to_owned()]), "{response}");
}
