//! The windows in which an audit reads large sets.

use crate::support::TestApp;
use waxwing::base::audit::Findings;
use waxwing::db::audit_reader::{AuditReader, SetScan};

/// The first member with the score is the last one of a window.
#[tokio::test]
async fn a_duplicate_score_at_the_end_of_a_window_is_reported() {
    let app = TestApp::start().await;
    let key = "liked:{7}";
    // A scan of one set reads 20,000 members at once. Members with one score are in the order of their bytes.
    let fill = "for n = 1, 20010 do redis.call('ZADD', KEYS[1], n, n) end redis.call('ZADD', KEYS[1], 20000, 30000)";
    app.redis.run::<()>(&["EVAL", fill, "1", key]);
    let reader = AuditReader::new(app.app.db().clone(), app.app.now(), |_| String::new());
    let (mut found, mut members) = (Findings::default(), Vec::new());
    let sets = vec![((), key.to_owned())];
    let mut scan = SetScan::start(&reader, sets, |_, _, _| Vec::new(), &mut found).await.expect("a store");
    loop {
        let windows = scan.next(&reader, &mut found).await.expect("a store");
        if windows.is_empty() {
            break;
        }
        members.extend(windows.iter().flat_map(|window| window.rows.iter().map(|row| row.member)));
    }
    let expected: Vec<u64> = (1..=20_000).chain([30_000]).chain(20_001..=20_010).collect();
    assert!(members == expected, "each member is read once: {:?}", &members[19_990..]);
    let problems: Vec<String> = found.into_vec().into_iter().map(|finding| finding.problem).collect();
    assert_eq!(problems, ["two entries have the position 20000"]);
}
