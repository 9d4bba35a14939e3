//! The properties that hold for any input: shared by the fuzz targets and by the replay of their corpus in the suite.

use async_graphql::{Request, Variables};
use futures_util::FutureExt;
use waxwing::base::config::Config;
use waxwing::base::ids::{self, CommentId, IdKind, StatusId, UserId};
use waxwing::base::page::{CursorScope, Cursors, PageArgs};
use waxwing::domains::entities::{self, EntityKind};

/// Whether a document may run. Only this function calls the check.
fn may_run(request: &mut Request) -> bool {
    waxwing::schema::check(request, &Config::default()).is_ok()
}

/// A document, and after a zero byte its variables: it is refused or it is not, within the stack that there is. What passes is run
/// through the library's validation and introspection, as far as that goes without anything to ask.
pub(crate) fn document(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let query = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let variables = parts.next().and_then(|rest| serde_json::from_slice(rest).ok());
    let mut request = Request::new(query).variables(variables.map(Variables::from_json).unwrap_or_default());
    if may_run(&mut request) {
        // Without a request's context every resolver fails before it waits for anything.
        let response = waxwing::schema::instance().execute(request).now_or_never().expect("it waits for nothing");
        let text = serde_json::to_string(&response.errors).expect("JSON");
        assert!(text.len() < 4 * bytes.len() + 100_000, "{} bytes of errors for {} bytes", text.len(), bytes.len());
    }
}

/// A secret, a list, a place, and a text that claims to be a cursor or an id.
pub(crate) fn cursor(bytes: &[u8]) {
    let mut fixed = [0; 33];
    let length = bytes.len().min(fixed.len());
    fixed[..length].copy_from_slice(&bytes[..length]);
    let number = |at: usize| u64::from_be_bytes(fixed[at..at + 8].try_into().expect("eight bytes"));
    let secret: [u8; 16] = fixed[..16].try_into().expect("sixteen bytes");
    let (cursors, list, position) = (Cursors::new(secret), CursorScope { kind: fixed[16], owner: number(17) }, number(25));
    cursors_are_of_one_list(secret, list, position);
    ids_come_back(list, position);

    let text = String::from_utf8_lossy(&bytes[length..]).into_owned();
    if let Some(position) = cursors.decode(list, &text) {
        assert_eq!(cursors.encode(list, position), text, "there is one form of each");
    }
    let page = PageArgs { after: Some(text.clone()), before: Some(text.clone()), ..PageArgs::default() };
    assert_eq!(page.check(&cursors, list).is_ok(), cursors.decode(list, &text).is_some());
    match ids::decode(&text) {
        Ok((IdKind::TimelineEntry, _)) => assert_eq!(text.len(), 23),
        Ok((kind, id)) => assert_eq!(ids::encode(kind, id), text, "there is one form of each"),
        Err(error) => assert_eq!(error.code(), "BAD_USER_INPUT"),
    }
}

fn cursors_are_of_one_list(secret: [u8; 16], list: CursorScope, position: u64) {
    let (cursors, mut other) = (Cursors::new(secret), secret);
    let cursor = cursors.encode(list, position);
    assert_eq!(cursors.decode(list, &cursor), Some(position));
    other[(position % 16) as usize] ^= 1 << (position % 8);
    assert_eq!(Cursors::new(other).decode(list, &cursor), None, "another deployment's");
    for foreign in
        [CursorScope { kind: list.kind ^ 1, ..list }, CursorScope { owner: list.owner ^ (1 << (position % 64)), ..list }]
    {
        assert_eq!(cursors.decode(foreign, &cursor), None, "another list's");
    }
    for at in 0..cursor.len() {
        let mut forged = cursor.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).expect("ASCII");
        assert_eq!(cursors.decode(list, &forged), None, "forged");
    }
}

fn ids_come_back(list: CursorScope, position: u64) {
    let id = position & ids::source::MAX;
    for (kind, text) in [
        (IdKind::User, UserId(id).global()),
        (IdKind::Status, StatusId(id).global()),
        (IdKind::Comment, CommentId { status: StatusId(id), number: id }.global()),
        (IdKind::TimelineEntry, ids::encode_entry(list.kind, list.owner, id).to_string()),
    ] {
        let decoded = ids::decode(&text).ok();
        assert_eq!(decoded, (id > 0).then_some((kind, id)), "{text}");
    }
    assert_eq!(StatusId::from_global(&UserId(id).global()), None, "of another kind");
}

/// An Authorization header: it names a session's key or it does not, and that key is made of nothing that was sent.
pub(crate) fn token(bytes: &[u8]) {
    let Some(token) = waxwing::server::token_in(bytes) else { return };
    let text = std::str::from_utf8(bytes).expect("what is no text names nobody");
    assert!(text.len() > token.len() + "bearer".len() && text[.."bearer".len()].eq_ignore_ascii_case("bearer"));
    assert!(text.contains(&token) && token.trim() == token && !token.contains(char::is_control), "{token:?}");
    if let Some(digest) = waxwing::domains::sessions::digest_of(&token) {
        assert_eq!(token.len(), 43);
        assert!(waxwing::base::audit::is_digest(&digest, 43) && digest != token);
    }
}

/// A text: its entities are inside of it, in its order, and do not overlap. The name of a tag is the name of its name.
pub(crate) fn entities(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let chars: Vec<char> = text.chars().collect();
    let mut past = 0;
    for entity in entities::find(&text) {
        let range = entity.range;
        assert!(past <= range.start && range.start + 1 < range.end && range.end <= chars.len(), "{range:?} past {past}");
        past = range.end;
        let written: String = chars[range].iter().collect();
        if entity.kind == EntityKind::Tag
            && let Some(name) = entities::tag_name(&written)
        {
            assert_eq!(entities::tag_name(&name).as_ref(), Some(&name), "{written}");
        }
    }
}
