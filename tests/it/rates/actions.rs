//! Requests that the limits charge for, and the mutations that are charged as requests only.

use super::{log_in, post_query, post_query_as, sign_up};
use crate::support::{Actor, HttpResponse, TestApp};
use std::sync::Arc;
use waxwing::base::rate_limits::Limit;
use waxwing::base::server_key::Scope;
use waxwing::domains::server_keys;

/// An action that one limit charges for, the `n`th one, by Ada (or on her).
pub(super) async fn send_charged_request(app: &TestApp, limit: Limit, people: &[Actor], n: usize) -> HttpResponse {
    let (ada, other) = (&people[0], &people[1]);
    let even = n.is_multiple_of(2);
    let request = match limit {
        // Costs 2.
        Limit::Requests => post_query_as(app, ada, "{ viewer { login } }"),
        Limit::Keys => post_query(app, "{ viewer { login } }").bearer_auth(server_key(app).await),
        Limit::SignUps => post_query(app, &sign_up(&format!("new{n}"))),
        Limit::LogIns | Limit::LogInsOfAccount => post_query(app, &log_in(if even { &ada.login } else { "C0" }, "a wrong one")),
        Limit::LogInsOfDevice => {
            let mutation = match n % 3 {
                0 => "deleteAccount(input: { password: \"a wrong one\" })",
                1 => "changePassword(input: { currentPassword: \"a wrong one\", newPassword: \"battery staple\" })",
                _ => "changeLogin(input: { login: \"new\", password: \"a wrong one\" })",
            };
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::LogInsFromAddress => post_query(app, &log_in(&format!("nobody{n}"), "a wrong one")),
        Limit::Posts => post_query_as(app, ada, "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }"),
        Limit::Follows => {
            let (field, id) = (if even { "followUser" } else { "unfollowUser" }, &other.id);
            post_query_as(app, ada, &format!("mutation {{ {field}(input: {{ userId: {id:?} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Likes => {
            let id = waxwing::base::ids::StatusId(app.app.next_id().await.expect("an id")).global();
            let field = if even { "likeStatus" } else { "unlikeStatus" };
            post_query_as(app, ada, &format!("mutation {{ {field}(input: {{ statusId: {id:?} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Comments => {
            let comment = unknown_comment(app).await;
            let mutation = match n % 3 {
                0 => format!("addComment(input: {{ parentId: {comment:?}, message: \"x\" }})"),
                1 => format!("addComment(input: {{ statusId: {:?}, message: \"x\" }})", waxwing::base::ids::StatusId(7).global()),
                _ => format!("editComment(input: {{ commentId: {comment:?}, message: \"x\" }})"),
            };
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::Votes => {
            let (comment, vote) = (unknown_comment(app).await, ["UP", "DOWN", "NONE"][n % 3]);
            let mutation = format!("voteComment(input: {{ commentId: {comment:?}, vote: {vote} }})");
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::Lists => {
            let list = waxwing::base::ids::UserListId(app.app.next_id().await.expect("an id")).global();
            let mutation = match n % 7 {
                5 => format!("addTagToList(input: {{ listId: {list:?}, name: \"x\" }})"),
                6 => format!("removeTagFromList(input: {{ listId: {list:?}, name: \"x\" }})"),
                0 => "createUserList(input: { name: \"x\" })".to_owned(),
                1 => format!("renameUserList(input: {{ listId: {list:?}, name: \"x\" }})"),
                2 => format!("deleteUserList(input: {{ listId: {list:?} }})"),
                3 => format!("addUserToList(input: {{ listId: {list:?}, userId: {:?} }})", other.id),
                _ => format!("removeUserFromList(input: {{ listId: {list:?}, userId: {:?} }})", other.id),
            };
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::Relations => {
            let fields = [
                "muteUser",
                "setRepostsShown",
                "unmuteUser",
                "requestFriend",
                "acceptFriendRequest",
                "rejectFriendRequest",
                "removeFriend",
                "acceptFollowRequest",
                "rejectFollowRequest",
                "removeFollower",
                "setReplyPolicy",
                "setStatusAudience",
                "blockUser",
                "unblockUser",
            ];
            let (field, id) = (fields[n % fields.len()], &other.id);
            let input = match field {
                "setReplyPolicy" => format!("statusId: {:?}, replyPolicy: NOBODY", waxwing::base::ids::StatusId(5).global()),
                "setStatusAudience" => format!("statusId: {:?}, audience: FRIENDS", waxwing::base::ids::StatusId(5).global()),
                "setRepostsShown" => format!("userId: {id:?}, shown: true"),
                _ => format!("userId: {id:?}"),
            };
            post_query_as(app, ada, &format!("mutation {{ {field}(input: {{ {input} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Reposts => {
            let id = waxwing::base::ids::StatusId(app.app.next_id().await.expect("an id")).global();
            let field = ["repostStatus", "undoRepost"][n % 2];
            post_query_as(app, ada, &format!("mutation {{ {field}(input: {{ statusId: {id:?} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Edits => {
            let id = waxwing::base::ids::StatusId(app.app.next_id().await.expect("an id")).global();
            let input = format!("statusId: {id:?}, message: \"x\"");
            post_query_as(app, ada, &format!("mutation {{ editStatus(input: {{ {input} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::SavedItems => {
            let id = waxwing::base::ids::StatusId(app.app.next_id().await.expect("an id")).global();
            let field = ["bookmarkStatus", "removeBookmark", "pinStatus", "unpinStatus", "followTag", "unfollowTag"][n % 6];
            let input = if field.ends_with("Tag") { "name: \"birds\"".to_owned() } else { format!("statusId: {id:?}") };
            post_query_as(app, ada, &format!("mutation {{ {field}(input: {{ {input} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Messages => {
            let chat = waxwing::base::ids::ChatId(app.app.next_id().await.expect("an id"));
            let message = waxwing::base::ids::ChatMessageId { chat, sequence: 1 }.global_id();
            let mutation = match n % 2 {
                0 => format!("sendMessage(input: {{ chatId: {:?}, text: \"x\" }})", chat.global()),
                _ => format!("editMessage(input: {{ messageId: \"{message}\", text: \"x\" }})"),
            };
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::Chats | Limit::ChatMembers => {
            let input = format!("name: \"x\", userIds: [{:?}]", other.id);
            post_query_as(app, ada, &format!("mutation {{ createGroupChat(input: {{ {input} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Reactions => {
            let chat = waxwing::base::ids::ChatId(app.app.next_id().await.expect("an id"));
            let message = waxwing::base::ids::ChatMessageId { chat, sequence: 1 }.global_id();
            let field = ["reactToMessage", "removeReaction"][n % 2];
            let input = format!("messageId: \"{message}\", emoji: \"👍\"");
            post_query_as(app, ada, &format!("mutation {{ {field}(input: {{ {input} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Typing => {
            let chat = waxwing::base::ids::ChatId(app.app.next_id().await.expect("an id")).global();
            post_query_as(
                app,
                ada,
                &format!("mutation {{ sendTyping(input: {{ chatId: {chat:?} }}) {{ userErrors {{ code }} }} }}"),
            )
        }
        Limit::ChatSettings => {
            let fields = [
                "markChatSeen",
                "muteChat",
                "unmuteChat",
                "archiveChat",
                "unarchiveChat",
                "acceptChatRequest",
                "declineChatRequest",
                "updateChatSettings",
                "removeChatMember",
                "setChatMemberRole",
                "renameChat",
                "setChatRetention",
                "leaveChat",
            ];
            let chat = waxwing::base::ids::ChatId(app.app.next_id().await.expect("an id")).global();
            let field = fields[n % fields.len()];
            let input = match field {
                "markChatSeen" => format!("chatId: {chat:?}, sequence: 1"),
                "updateChatSettings" => "sharesSeen: true".to_owned(),
                "removeChatMember" => format!("chatId: {chat:?}, userId: {:?}", other.id),
                "setChatMemberRole" => format!("chatId: {chat:?}, userId: {:?}, role: ADMIN", other.id),
                "setChatRetention" => format!("chatId: {chat:?}, daysAfterSeen: 1"),
                "renameChat" => format!("chatId: {chat:?}, name: \"x\""),
                _ => format!("chatId: {chat:?}"),
            };
            post_query_as(app, ada, &format!("mutation {{ {field}(input: {{ {input} }}) {{ userErrors {{ code }} }} }}"))
        }
        Limit::Campaigns => {
            let campaign = waxwing::base::ids::CampaignId(app.app.next_id().await.expect("an id"));
            let (ad, id) = (waxwing::base::ids::AdId { campaign, number: 7 }.global(), campaign.global());
            let snippet = "snippet: \"x\", targetUrl: \"https://a.example\", pricing: CPM, bid: 1";
            let mutation = match n % 11 {
                0 => "createCampaign(input: { name: \"x\", budget: 1 })".to_owned(),
                1 => format!("updateCampaign(input: {{ campaignId: {id:?}, name: \"x\" }})"),
                2 => format!("pauseCampaign(input: {{ campaignId: {id:?} }})"),
                3 => format!("resumeCampaign(input: {{ campaignId: {id:?} }})"),
                4 => format!("stopCampaign(input: {{ campaignId: {id:?} }})"),
                5 => format!("addCampaignKeywords(input: {{ campaignId: {id:?}, keywords: [\"x\"] }})"),
                6 => format!("removeCampaignKeywords(input: {{ campaignId: {id:?}, keywords: [\"x\"] }})"),
                7 => format!("createAd(input: {{ campaignId: {id:?}, slot: SQUARE, {snippet} }})"),
                8 => format!("removeAd(input: {{ adId: {ad:?} }})"),
                9 => format!("renewWebsiteServerKey(input: {{ websiteId: {:?} }})", waxwing::base::ids::WebsiteId(7).global()),
                _ => "registerWebsite(input: { name: \"x\", origin: \"https://a.example\" })".to_owned(),
            };
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::Mails => {
            let mutation = "requestPasswordReset(input: { email: \"nobody@example.org\" })";
            post_query(app, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::MailsFromAddress => {
            let mutation = match n % 3 {
                0 => format!("changeEmail(input: {{ email: \"a{n}@example.org\", password: \"correct horse\" }})"),
                1 => format!("requestPasswordReset(input: {{ email: \"a{n}@example.org\" }})"),
                _ => "resendEmailConfirmation".to_owned(),
            };
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
        Limit::Ads => {
            let mutation = match n % 3 {
                0 => "serveAds(input: { websiteKey: \"x\", slot: BANNER })",
                1 => "clickAd(input: { token: \"x\" })",
                _ => "recordImpressions(input: { tokens: [\"x\"] })",
            };
            post_query_as(app, ada, &format!("mutation {{ {mutation} {{ userErrors {{ code }} }} }}"))
        }
    };
    HttpResponse::fetch(request).await
}

/// The server key of a test.
pub(super) async fn server_key(app: &TestApp) -> String {
    let created = app.app.extension::<Arc<tokio::sync::OnceCell<String>>>();
    let create = async || match server_keys::service::create(&app.app, "backend", &[Scope::Users]).await.expect("a store") {
        server_keys::CreateResult::Created(key) => key,
        _ => panic!("there is a key of this name already"),
    };
    created.get_or_init(create).await.clone()
}

async fn unknown_comment(app: &TestApp) -> String {
    let number = app.app.next_id().await.expect("an id");
    waxwing::base::ids::CommentId { status: waxwing::base::ids::StatusId(number), number }.global()
}

/// Mutations that are charged as requests only: they access a bounded number of keys of their own account, or are charged when they fail, or need a token that cannot be guessed. The last two are
/// charged for what they add: `chats::limits` checks that.
pub(super) const UNLIMITED: &[&str] = &[
    "confirmEmail",
    "deleteChatHistory",
    "deleteComment",
    "deleteMessage",
    "deleteStatus",
    "endSessions",
    "logOut",
    "resetPassword",
    "updateProfile",
    "addChatMembers",
    "startDirectChat",
    // Of backends, by the bucket of their key alone.
    "issueSession",
    "provisionUser",
    "removeUser",
    "revokeSessions",
];

/// Number of requests of [`send_charged_request`] for each limit: at least the number of its actions.
pub(super) const KINDS: usize = 16;
