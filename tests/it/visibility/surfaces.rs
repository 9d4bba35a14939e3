//! A table of all fields that return an account, a status or a comment, and of the function of the policy that each calls. A field without a row
//! fails the test.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{BaseType, FieldDefinition, InputValueDefinition, Type, TypeKind, TypeSystemDefinition};
use std::collections::{BTreeMap, BTreeSet};

/// The function of the policy that decides whether a field returns an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// `can_discover`.
    Discover,
    /// `can_view`.
    View,
    /// `can_deliver`.
    Deliver,
    /// `can_read_profile`, and `can_name` for each account.
    ReadProfile,
    /// `can_name`.
    Name,
    /// None: the object belongs to the viewer.
    Own,
    /// None: the parent object was checked, and the field returns nothing of other accounts.
    CheckedByParent,
}

const ROWS: [(&str, Rule); 187] = {
    use Rule::{CheckedByParent, Deliver, Discover, Name, Own, ReadProfile, View};
    [
        ("Account.user", Own),
        ("Ad.campaign", Own),
        // An ad promotes a status of its owner.
        ("Ad.status", Own),
        ("Campaign.ads", Own),
        // Null for a comment that a block hides.
        ("Comment.author", CheckedByParent),
        ("Comment.parent", View),
        // Chats exist for their members only; accounts in them are shown by `can_discover`, and blocks hide texts in groups.
        ("Chat.members", Own),
        ("Chat.messages", Own),
        ("Chat.newestMessage", Own),
        ("Chat.viewerMember", Own),
        ("Chat.viewerPeer", Discover),
        ("ChatMember.user", Discover),
        ("ChatMessage.reactions", CheckedByParent),
        ("ChatMessage.replyTo", View),
        ("ChatMessage.sender", Discover),
        ("ChatMessage.subject", Discover),
        ("MessageReaction.reactors", Discover),
        ("PendingChat.chat", Own),
        ("PendingChat.messages", Own),
        ("Mutation.acceptChatRequest", Own),
        ("Mutation.archiveChat", Own),
        ("Mutation.deleteChatHistory", Own),
        ("Mutation.deleteMessage", Own),
        ("Mutation.editMessage", Own),
        ("Mutation.markChatSeen", Own),
        ("Mutation.muteChat", Own),
        ("Mutation.renameChat", Own),
        ("Mutation.setChatRetention", Own),
        ("Mutation.setChatMemberRole", Own),
        ("Mutation.unarchiveChat", Own),
        ("Mutation.unmuteChat", Own),
        ("Mutation.addChatMembers", Discover),
        ("Mutation.createGroupChat", Discover),
        ("Mutation.reactToMessage", View),
        ("Mutation.removeReaction", View),
        ("Mutation.removeChatMember", Own),
        ("Mutation.sendMessage", View),
        ("Mutation.startDirectChat", Discover),
        ("Query.pendingMessages", Own),
        ("Query.viewerChatRequests", Own),
        ("Query.viewerChats", Own),
        ("ChatMemberJoined.chat", Own),
        ("ChatMemberJoined.chatMessage", Own),
        ("ChatMemberLeft.chat", Own),
        ("ChatMemberLeft.chatMessage", Own),
        ("ChatMemberRoleChanged.chat", Own),
        ("ChatMemberRoleChanged.chatMessage", Own),
        ("ChatRenamed.chat", Own),
        ("ChatRenamed.chatMessage", Own),
        ("MessageDeleted.chat", Own),
        ("MessageEdited.chat", Own),
        ("MessageEdited.chatMessage", Own),
        ("MessageSent.chat", Own),
        ("MessageSent.chatMessage", Own),
        ("ReactionChanged.chat", Own),
        ("ReactionChanged.chatMessage", Own),
        ("SeenChanged.chat", Own),
        ("SeenChanged.member", Own),
        ("Subscription.chatEvents", Own),
        ("ViewerChatChanged.chat", Own),
        ("TypingStarted.user", Discover),
        ("Comment.replies", View),
        ("Comment.status", View),
        ("Comment.entities", Discover),
        ("CommentAdded.comment", View),
        ("CommentEdited.comment", View),
        ("CommentThread.comments", View),
        ("CommentThread.tree", View),
        ("CommentVoted.comment", View),
        ("MentionEntity.user", CheckedByParent),
        ("ConversationEntry.replies", View),
        ("ConversationEntry.status", View),
        ("Mutation.acceptFollowRequest", Discover),
        ("Mutation.acceptFriendRequest", Discover),
        ("Mutation.addCampaignKeywords", Own),
        ("Mutation.addComment", View),
        ("Mutation.addTagToList", Own),
        ("Mutation.addUserToList", Discover),
        ("Mutation.blockUser", Discover),
        ("Mutation.bookmarkStatus", View),
        ("Mutation.changeEmail", Own),
        ("Mutation.changeLogin", Own),
        ("Mutation.confirmEmail", Own),
        ("Mutation.createAd", View),
        ("Mutation.createCampaign", Own),
        ("Mutation.createUserList", Own),
        ("Mutation.deleteComment", View),
        ("Mutation.deleteStatus", Own),
        ("Mutation.editComment", View),
        ("Mutation.editStatus", Own),
        // Everybody can see tags; `Tag.timeline` checks their statuses.
        ("Mutation.followTag", CheckedByParent),
        ("Mutation.followUser", Discover),
        // A backend reaches its own accounts only.
        ("IssuedSession.user", Own),
        ("Mutation.issueSession", Own),
        ("Mutation.likeStatus", View),
        ("Mutation.logIn", Own),
        ("Mutation.muteUser", Discover),
        ("Mutation.pauseCampaign", Own),
        ("Mutation.pinStatus", Own),
        // The status that it replies to.
        ("Mutation.postStatus", View),
        ("Mutation.provisionUser", Own),
        ("Mutation.rejectFollowRequest", Discover),
        ("Mutation.rejectFriendRequest", Discover),
        // The bookmark is the viewer's own; the status in the payload is shown by `can_view`.
        ("Mutation.removeBookmark", View),
        ("Mutation.removeCampaignKeywords", Own),
        ("Mutation.removeFollower", Discover),
        ("Mutation.removeFriend", Discover),
        ("Mutation.removeTagFromList", Own),
        ("Mutation.removeUserFromList", Discover),
        ("Mutation.renameUserList", Own),
        // The status in the payload is shown by `can_view`.
        ("Mutation.repostStatus", View),
        ("Mutation.requestFriend", Discover),
        ("Mutation.resetPassword", Own),
        ("Mutation.resumeCampaign", Own),
        ("Mutation.setReplyPolicy", Own),
        ("Mutation.setRepostsShown", Discover),
        ("Mutation.setStatusAudience", Own),
        ("Mutation.signUp", Own),
        ("Mutation.stopCampaign", Own),
        ("Mutation.unblockUser", Discover),
        ("Mutation.undoRepost", View),
        ("Mutation.unfollowTag", CheckedByParent),
        ("Mutation.unfollowUser", Discover),
        ("Mutation.unlikeStatus", View),
        ("Mutation.unmuteUser", Discover),
        ("Mutation.unpinStatus", Own),
        ("Mutation.updateCampaign", Own),
        ("Mutation.updateProfile", Own),
        ("Mutation.voteComment", View),
        ("NewSession.user", Own),
        ("Query.homeTimeline", Deliver),
        // Accounts; statuses and comments by `can_view`.
        ("Query.node", Discover),
        ("Query.nodes", Discover),
        ("Query.tag", CheckedByParent),
        ("Query.user", Discover),
        ("Query.viewer", Own),
        ("Query.viewerAccount", Own),
        // All accounts that the viewer blocks, also those that block the viewer.
        ("Query.viewerBlocks", Own),
        ("Query.viewerBookmarks", View),
        ("Query.viewerCampaigns", Own),
        ("Query.viewerFollowRequests", Discover),
        ("Query.viewerFollowedTags", Own),
        ("Query.viewerFriendRequests", Name),
        ("Query.viewerLists", Own),
        ("Query.viewerMentions", Deliver),
        ("Query.viewerMutes", Discover),
        ("Query.viewerSentFollowRequests", Discover),
        ("Query.viewerSentFriendRequests", Name),
        ("Status.ancestors", View),
        // Null for all but the author.
        ("Status.audienceList", Own),
        ("Status.author", CheckedByParent),
        ("Status.commentThread", CheckedByParent),
        ("Status.likers", Name),
        ("Status.edits", Discover),
        ("Status.entities", Discover),
        ("Status.quotedStatus", View),
        ("Status.quotes", View),
        ("Status.replies", View),
        ("Status.replyTo", View),
        ("Status.reposters", Name),
        ("StatusEdited.status", Deliver),
        ("StatusPosted.status", Deliver),
        ("StatusReposted.repostedBy", Name),
        ("StatusReposted.status", Deliver),
        ("StatusVersion.entities", Discover),
        ("Subscription.commentEvents", View),
        ("Subscription.homeTimelineEvents", Deliver),
        ("Subscription.listTimelineEvents", Deliver),
        ("Subscription.statusEvents", Deliver),
        ("Subscription.tagTimelineEvents", Deliver),
        ("Subscription.viewerMentionEvents", Deliver),
        ("Tag.timeline", Deliver),
        ("TagEntity.tag", CheckedByParent),
        // `can_deliver` for homes, lists and promoted entries; `can_view` for a profile.
        ("TextEntities.mentions", Discover),
        ("TextEntities.tags", CheckedByParent),
        ("Timeline.entries", Deliver),
        // The account whose profile it is.
        ("TimelineEntry.repostedBy", CheckedByParent),
        ("TimelineEntry.status", CheckedByParent),
        ("User.followers", ReadProfile),
        ("User.following", ReadProfile),
        ("User.friends", Name),
        ("User.mutualFriends", ReadProfile),
        // `can_read_profile`, and `can_view` for each status.
        ("User.pinnedStatuses", ReadProfile),
        ("User.profileTimeline", View),
        ("UserList.members", Name),
        ("UserList.tags", Own),
        ("UserList.timeline", Deliver),
    ]
};

/// The types that the policy applies to.
const CHECKED_TYPES: [&str; 3] = ["Comment", "Status", "User"];
/// Suffixes of types that only contain objects: the fields that return such a type have the rows.
const CONTAINER_SUFFIXES: [&str; 3] = ["Payload", "Connection", "Edge"];
/// The fields of inputs that name an account, a status or a comment.
const IDS: [&str; 7] = ["commentId", "parentId", "quotedStatusId", "replyToId", "statusId", "userId", "userIds"];
/// The fields of inputs with ids of other objects, which only their owner or their members can use.
const OTHER_IDS: [&str; 8] = ["adId", "audienceListId", "campaignId", "chatId", "listId", "messageId", "sessionId", "websiteId"];

struct SchemaTypes {
    fields: BTreeMap<String, Vec<FieldDefinition>>,
    implementors: BTreeMap<String, Vec<String>>,
    inputs: BTreeMap<String, Vec<InputValueDefinition>>,
}

impl SchemaTypes {
    fn parse(sdl: &str) -> Self {
        let mut all = Self { fields: BTreeMap::new(), implementors: BTreeMap::new(), inputs: BTreeMap::new() };
        for definition in parse_schema(sdl).expect("a schema").definitions {
            let TypeSystemDefinition::Type(ty) = definition else { continue };
            let name = ty.node.name.node.to_string();
            match ty.node.kind {
                TypeKind::Object(object) => {
                    for interface in object.implements {
                        all.implementors.entry(interface.node.to_string()).or_default().push(name.clone());
                    }
                    all.fields.insert(name, object.fields.into_iter().map(|field| field.node).collect());
                }
                TypeKind::InputObject(input) => {
                    all.inputs.insert(name, input.fields.into_iter().map(|field| field.node).collect());
                }
                _ => {}
            }
        }
        all
    }

    /// Returns whether a type leads to an object of the policy without another such object in between.
    fn leads_to_checked_type(&self, ty: &str, seen: &mut BTreeSet<String>) -> bool {
        if CHECKED_TYPES.contains(&ty) {
            return true;
        }
        if !seen.insert(ty.to_owned()) {
            return false;
        }
        let next: Vec<String> = match self.implementors.get(ty) {
            Some(implementors) => implementors.clone(),
            None => self.fields.get(ty).into_iter().flatten().map(|field| named(&field.ty.node)).collect(),
        };
        next.iter().any(|ty| self.leads_to_checked_type(ty, seen))
    }

    /// Returns whether a mutation takes the id of an account, a status or a comment.
    fn takes_id(&self, field: &FieldDefinition) -> bool {
        let inputs = field.arguments.iter().filter_map(|argument| self.inputs.get(&named(&argument.node.ty.node)));
        inputs.flatten().any(|input| IDS.contains(&input.name.node.as_str()))
    }

    /// Returns the fields that need a row.
    fn surfaces(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (ty, fields) in self.fields.iter().filter(|(ty, _)| !CONTAINER_SUFFIXES.iter().any(|end| ty.ends_with(end))) {
            for field in fields {
                if self.leads_to_checked_type(&named(&field.ty.node), &mut BTreeSet::new()) || self.takes_id(field) {
                    found.insert(format!("{ty}.{}", field.name.node));
                }
            }
        }
        found
    }
}

fn named(ty: &Type) -> String {
    match &ty.base {
        BaseType::Named(name) => name.to_string(),
        BaseType::List(inner) => named(inner),
    }
}

fn without_row(sdl: &str) -> Vec<String> {
    let surfaces = SchemaTypes::parse(sdl).surfaces();
    surfaces.into_iter().filter(|surface| ROWS.iter().all(|(field, _)| field != surface)).collect()
}

#[test]
fn every_surface_has_a_policy_function() {
    let sdl = waxwing::schema::sdl();
    assert_eq!(
        without_row(&sdl),
        [""; 0],
        "Which policy function applies to the field? Add a row, and a case to the tests beside this one."
    );
    let surfaces = SchemaTypes::parse(&sdl).surfaces();
    let rows: BTreeSet<&str> = ROWS.iter().map(|(field, _)| *field).collect();
    assert_eq!(rows.len(), ROWS.len(), "a field has two rows");
    let unknown: Vec<&str> = rows.into_iter().filter(|field| !surfaces.contains(*field)).collect();
    assert_eq!(unknown, [""; 0], "rows of unknown fields");
}

#[test]
fn every_id_in_an_input_is_known() {
    let types = SchemaTypes::parse(&waxwing::schema::sdl());
    let ids = types.inputs.values().flatten().filter(|input| named(&input.ty.node) == "ID").map(|input| input.name.node.as_str());
    let unknown: Vec<&str> = ids.filter(|name| !IDS.contains(name) && !OTHER_IDS.contains(name)).collect();
    assert_eq!(unknown, [""; 0], "Does it name an account, a status or a comment? Add it to `IDS`, otherwise to `OTHER_IDS`.");
}

#[test]
fn a_new_surface_without_a_row_is_found() {
    let sdl = waxwing::schema::sdl();
    for (ty, field, found) in [
        ("type Query {", "suggestions(first: Int): FollowConnection", "Query.suggestions"),
        ("type User implements Node {", "pinned: Status", "User.pinned"),
        ("type Session implements Node {", "device: SessionDevice } type SessionDevice { lastComment: Comment", "Session.device"),
        ("type Mutation {", "reportStatus(input: LikeStatusInput!): Int", "Mutation.reportStatus"),
        ("type Subscription {", "friendEvents: CommentEvent", "Subscription.friendEvents"),
    ] {
        assert!(sdl.contains(ty), "{ty}");
        let without = without_row(&sdl.replacen(ty, &format!("{ty} {field} "), 1));
        assert!(without.contains(&found.to_owned()), "{found}: {without:?}");
    }
}

#[test]
fn every_row_with_a_policy_function_has_a_case() {
    let covered = super::covered();
    let needs_case = |rule: Rule| !matches!(rule, Rule::Own | Rule::CheckedByParent);
    let uncovered: Vec<&str> =
        ROWS.iter().filter(|(field, rule)| needs_case(*rule) && !covered.contains(field)).map(|(field, _)| *field).collect();
    assert_eq!(uncovered, [""; 0]);
}
