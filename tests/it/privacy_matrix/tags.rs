//! Timelines by tags and mentions, and reposts of an account in homes and lists that have its author by no other way.

use super::conversations::TAG;
use super::model::{Audience, Model, Viewer};
use super::read::data;
use super::world::{AUDIENCES, Author, World, list_with};
use super::{Cell, Matrix};
use crate::support::Actor;
use serde_json::{Value, json};

/// The statuses of a timeline, as (id, whether it is a repost).
type Shown = Vec<(String, bool)>;

/// All statuses of a timeline, in pages. `open` and `close` are the text before and after the timeline, which is at `pointer` in the data.
async fn shown(actor: &Actor, [open, close]: [&str; 2], pointer: &str, list: Option<&str>) -> Shown {
    let (mut all, mut after) = (Vec::new(), Value::Null);
    let parameter = if list.is_some() { "$list: ID!, " } else { "" };
    let query = format!(
        "query({parameter}$after: String) {{ {open} {{ entries(first: 100, after: $after) {{
            edges {{ node {{ repostedBy {{ login }} promotion {{ campaignName }} status {{ id }} }} }} pageInfo {{ hasNextPage endCursor }} }} }} {close} }}"
    );
    let query = if open.starts_with("homeTimeline") || open.contains("UserList") {
        query
    } else {
        query.replace("repostedBy { login } promotion { campaignName } ", "")
    };
    loop {
        let read = data(actor, &query, json!({ "list": list, "after": after })).await;
        let entries = &read.pointer(pointer).unwrap_or_else(|| panic!("{read}"))["entries"];
        for edge in entries["edges"].as_array().unwrap_or_else(|| panic!("{read}")) {
            let node = &edge["node"];
            if node["promotion"].is_null() {
                all.push((node["status"]["id"].as_str().expect("an id").to_owned(), !node["repostedBy"].is_null()));
            }
        }
        after = entries["pageInfo"]["endCursor"].clone();
        if entries["pageInfo"]["hasNextPage"] == false {
            return all;
        }
    }
}

async fn home(actor: &Actor) -> Shown {
    shown(actor, ["homeTimeline", ""], "/homeTimeline", None).await
}

async fn list(actor: &Actor, list: &str) -> Shown {
    shown(actor, ["node(id: $list) { ... on UserList { timeline", "} }"], "/node/timeline", Some(list)).await
}

/// An account, or a client without a session, with the statuses that it sees.
struct Reader {
    viewer: Viewer,
    actor: Actor,
    tag: Shown,
    mentions: Shown,
    home: Shown,
    /// A list with the host alone.
    host_list: Shown,
    home_by_tag: Shown,
    /// A list with the tag alone.
    tag_list: Shown,
}

impl Reader {
    async fn read(world: &World, viewer: Viewer, actor: Actor) -> Self {
        let open = format!("tag(name: \"{TAG}\") {{ statusesCount timeline");
        let tag = shown(&actor, [&open, "}"], "/tag/timeline", None).await;
        let count = data(&actor, &format!("{{ tag(name: \"{TAG}\") {{ statusesCount }} }}"), json!({})).await;
        assert_eq!(count["tag"]["statusesCount"], 1, "only public statuses of public accounts are counted");
        let mut reader = Self {
            viewer,
            actor,
            tag,
            mentions: Vec::new(),
            home: Vec::new(),
            host_list: Vec::new(),
            home_by_tag: Vec::new(),
            tag_list: Vec::new(),
        };
        if viewer != Viewer::Nobody {
            reader.read_own(world).await;
        }
        reader
    }

    async fn read_own(&mut self, world: &World) {
        let actor = &self.actor;
        self.mentions = shown(actor, ["viewerMentions", ""], "/viewerMentions", None).await;
        self.home = home(actor).await;
        self.host_list = list(actor, &list_with(actor, &[&world.host]).await).await;
        let of_tag = list_with(actor, &[]).await;
        actor.mutate_ok("addTagToList", json!({ "listId": of_tag, "name": TAG }), "").await;
        self.tag_list = list(actor, &of_tag).await;
        actor.mutate_ok("followTag", json!({ "name": TAG }), "").await;
        self.home_by_tag = home(actor).await;
    }

    fn check(&self, matrix: &mut Matrix, author: &Author) {
        let model = Model(self.viewer, author.is_private);
        let is_source = model.follows() || model.is_author();
        for (at, audience) in AUDIENCES.into_iter().enumerate() {
            let can_deliver = model.can_deliver(audience);
            // A status that everybody sees has a tag, and can be reposted.
            let is_open = can_deliver && audience == Audience::Public && !author.is_private;
            let status = &author.statuses[at].0;
            let mut check = |surface, shown: &Shown, is_repost, expected| {
                let is_shown = shown.contains(&(status.clone(), is_repost));
                let cell: Cell = (surface, self.viewer, author.is_private, Some(audience));
                matrix.check(cell, is_shown, expected);
            };
            check("timeline of a tag", &self.tag, false, is_open);
            if self.viewer == Viewer::Nobody {
                continue;
            }
            // Mentions of an author in its own statuses are left out.
            check("viewerMentions", &self.mentions, false, can_deliver && !model.is_author());
            check("home before the tag", &self.home, false, can_deliver && is_source);
            check("home by a tag", &self.home_by_tag, false, can_deliver && (is_source || is_open));
            check("list by a tag", &self.tag_list, false, is_open);
            check("repost in a list", &self.host_list, true, is_open);
            check("status in a list of the reposter", &self.host_list, false, false);
            // Otherwise the status is shown as itself.
            if !(is_source && can_deliver) {
                check("repost in a home", &self.home, true, is_open);
            }
        }
    }
}

#[tokio::test]
async fn tags_mentions_and_reposts_in_feeds_agree_with_the_policy() {
    let world = World::start().await;
    let mut matrix = Matrix::default();
    for (viewer, actor, _, author) in world.pairs().into_iter().filter(|pair| pair.0 == Viewer::Author) {
        Reader::read(&world, viewer, actor).await.check(&mut matrix, author);
    }
    let accounts = world.accounts.iter().map(|it| (it.viewer, it.actor.clone()));
    for (viewer, actor) in accounts.chain([(Viewer::Nobody, world.app.anonymous())]) {
        let reader = Reader::read(&world, viewer, actor).await;
        for author in &world.authors {
            reader.check(&mut matrix, author);
        }
    }
    matrix.finish(650);
}
