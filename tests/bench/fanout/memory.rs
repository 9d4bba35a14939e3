//! The memory of an entry of a home in Redis.

use super::bed::{Bed, Past};
use waxwing::base::config::Config;

const HOMES: usize = 10_000;

pub(crate) async fn run() {
    println!("Memory of {HOMES} homes: used_memory, key and all, without what stands beside the entries (feed:…, following:…).");
    println!("  entries  zset-max-listpack-entries  encoding   bytes a home  bytes an entry");
    for limit in ["128", "1100"] {
        for entries in [100, 1_000] {
            let bed = Bed::with(&["--zset-max-listpack-entries", limit], Config::default()).await;
            let people = Past::people(&bed.app, HOMES + 1);
            // One home first, so that scripts, connections and the like exist before the measurement.
            bed.homes(&people[..1], &[entries]).await;
            let before = bed.used_memory().await;
            let copy = |person: &waxwing::base::ids::UserId| {
                let key = |id: &waxwing::base::ids::UserId| format!("home:{{{}}}", id.0);
                redis::cmd("COPY").arg(key(&people[0])).arg(key(person)).take()
            };
            bed.write(people[1..].iter().map(copy)).await;
            let each = (bed.used_memory().await - before) as f64 / HOMES as f64;
            let key = format!("home:{{{}}}", people[1].0);
            let encoding: String = bed.ask(redis::cmd("OBJECT").arg("ENCODING").arg(key)).await;
            println!("{entries:>9}  {limit:>25}  {encoding:<9}  {each:>12.0}  {:>14.1}", each / entries as f64);
        }
    }
    println!();
}
