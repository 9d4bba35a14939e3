//! Loads a data set into the store, with a progress bar.

use super::activity;
use super::dataset::{Dataset, HISTORY, IdRange, STATUS_PERIOD};
use super::follows::FollowGraph;
use super::sample::{self, PASSWORD};
use super::text::{RandomNumbers, sentence};
use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::cli::{logs, migrate, workers};
use crate::db::demo_data::DemoLoad;
use crate::domains::users::User;
use crate::domains::{graph, sessions, statuses, timelines, users};
use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The number of statuses in a batch.
const CHUNK: usize = 5_000;

/// Loads the sample data set into an empty store, or completes an interrupted load. Returns `false` if the store has other data.
pub(in crate::cli) async fn load_sample(app: &App) -> anyhow::Result<bool> {
    match app.db().begin_demo_load("people", app.now()).await? {
        DemoLoad::Loaded => Ok(true),
        DemoLoad::Other => Ok(false),
        DemoLoad::Load(start) => import_sample(app, start, None).await.map(|()| true),
        DemoLoad::AddActivity(start) => add_activity(app, &sample::create(start)).await.map(|()| true),
    }
}

async fn import_sample(app: &App, start: Millis, tokens: Option<&Path>) -> anyhow::Result<()> {
    let data = sample::create(start);
    load(app, &data, tokens).await?;
    app.db().finish_demo_import().await?;
    add_activity(app, &data).await
}

async fn add_activity(app: &App, data: &Dataset) -> anyhow::Result<()> {
    activity::create(app, data).await?;
    // Workers settle the chat lists of the members of a group chat. No server runs now, so no worker does: this process runs the due work.
    workers::drain(app).await?;
    app.db().finish_demo_load().await.map_err(Into::into)
}

/// Loads a data set that is generated from a follow graph, or the sample data set.
pub(super) async fn load_demo(
    app: &App,
    follows: Option<FollowGraph>,
    per_user: u32,
    tokens: Option<&Path>,
) -> anyhow::Result<()> {
    let name = follows.as_ref().map_or("people".into(), |follows| format!("{}-{per_user}", follows.digest));
    let start = match app.db().begin_demo_load(&name, app.now()).await? {
        DemoLoad::Load(start) => start,
        DemoLoad::AddActivity(_) if tokens.is_some() => {
            bail!("an earlier load has imported this data without --tokens: load it into an empty store")
        }
        DemoLoad::AddActivity(start) => {
            migrate::migrate_at_start(app).await?;
            return add_activity(app, &sample::create(start)).await;
        }
        DemoLoad::Loaded => bail!("the store has this demo data already"),
        DemoLoad::Other => bail!("the store is not empty: demo data are loaded into an empty store only"),
    };
    let Some(follows) = follows else { return import_sample(app, start, tokens).await };
    load(app, &from_graph(&follows, per_user as usize, start), tokens).await?;
    app.db().finish_demo_load().await.map_err(Into::into)
}

/// Generates a data set from a follow graph. The users post one after the other, over a week.
fn from_graph(follows: &FollowGraph, per_user: usize, now: Millis) -> Dataset {
    let mut data = Dataset::default();
    let joined = IdRange::new(now - HISTORY, DAY, follows.users);
    for number in 0..follows.users {
        let (login, name) = (format!("user{}", number + 1), format!("User Number {}", number + 1));
        data.add_user(joined.id(number), login, name, String::new());
    }
    let followed = IdRange::new(now - HISTORY + 2 * DAY, 10 * DAY, follows.edges.len());
    for (index, (a, b)) in follows.edges.iter().enumerate() {
        data.add_follow(*a, *b, followed.id(index));
    }
    let posted = IdRange::new(now - STATUS_PERIOD, STATUS_PERIOD, per_user * follows.users);
    let mut random = RandomNumbers::new(42);
    for index in 0..per_user * follows.users {
        let mention = format!("user{}", random.below(follows.users) + 1);
        data.add_status(index % follows.users, posted.id(index), sentence(&mut random, Some(&mention)));
    }
    data
}

async fn load(app: &App, data: &Dataset, tokens: Option<&Path>) -> anyhow::Result<()> {
    migrate::migrate_at_start(app).await?;
    let bar = progress(app, data);
    bar.set_message("accounts");
    users::service::import(app, &data.users, PASSWORD).await?;
    bar.inc(data.users.len() as u64);
    bar.set_message("follows");
    let ids: Vec<_> = data.users.iter().map(|user| user.id).collect();
    graph::service::import(app, &ids, &data.follows).await?;
    bar.inc(data.follows.len() as u64);
    bar.set_message("statuses");
    let mut likes = data.likes.iter().peekable();
    for (number, chunk) in data.statuses.chunks(CHUNK).enumerate() {
        statuses::service::import(app, chunk.iter().map(|(_, status)| status)).await?;
        while let Some((index, likers)) = likes.next_if(|(index, _)| *index < (number + 1) * CHUNK) {
            let likers: Vec<_> = likers.iter().map(|(liker, id)| (ids[*liker], *id)).collect();
            statuses::service::import_likes(app, data.statuses[*index].1.id, &likers).await?;
        }
        bar.inc(chunk.len() as u64);
    }
    bar.set_message("timelines");
    fill_timelines(app, data, &bar).await?;
    bar.set_message("fan-out");
    // Authors with at least the threshold of followers are imported in their fan-out mode; the workers need not switch them.
    app.db().set_star_followers(app.config().star_followers).await?;
    for author in merged_authors(data, app.config().star_followers) {
        timelines::service::import_fanout_mode(app, author.id).await?;
        bar.inc(author.followers);
    }
    if let Some(file) = tokens {
        bar.set_message("sessions");
        let tokens = sessions::service::create_many(app, &ids).await?;
        write_tokens(file, data, &tokens).with_context(|| file.display().to_string())?;
    }
    bar.finish_and_clear();
    let (users, follows, statuses) = (data.users.len(), data.follows.len(), data.statuses.len());
    let took = bar.elapsed().as_secs_f64();
    logs::print(&format!("Loaded {users} users, {follows} follows and {statuses} statuses in {took:.1} s."));
    Ok(())
}

/// Writes the profiles, and the homes, which are merged from the profiles.
async fn fill_timelines(app: &App, data: &Dataset, bar: &ProgressBar) -> anyhow::Result<()> {
    let mut profiles = vec![Vec::new(); data.users.len()];
    for (author, status) in &data.statuses {
        profiles[*author].push(status.id);
    }
    let mut following = vec![Vec::new(); data.users.len()];
    for (follower, followed, _) in &data.follows {
        following[*follower].push(*followed);
    }
    for (number, user) in data.users.iter().enumerate() {
        let authors = std::iter::once(&number).chain(&following[number]);
        let home = authors.flat_map(|author| profiles[*author].iter().copied()).collect();
        timelines::service::import(app, user.id, &profiles[number], home).await?;
        bar.inc(1);
    }
    Ok(())
}

fn write_tokens(file: &Path, data: &Dataset, tokens: &[String]) -> std::io::Result<()> {
    let file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    // `mode` applies to a new file only.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    let mut file = std::io::BufWriter::new(file);
    for (user, token) in data.users.iter().zip(tokens) {
        writeln!(file, "{} {token}", user.login)?;
    }
    file.flush()
}

/// The authors with at least `threshold` followers: their statuses are merged when a home is read.
fn merged_authors(data: &Dataset, threshold: u64) -> impl Iterator<Item = &User> {
    data.users.iter().filter(move |user| user.followers >= threshold)
}

fn progress(app: &App, data: &Dataset) -> ProgressBar {
    let steps = (2 * data.users.len() + data.follows.len() + data.statuses.len()) as u64;
    let steps = steps + merged_authors(data, app.config().star_followers).map(|author| author.followers).sum::<u64>();
    let target = if logs::is_json() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(steps), target);
    let style = ProgressStyle::with_template("{msg:>10} [{bar:40}] {percent}% {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
}
