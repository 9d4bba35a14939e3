//! Takes a planned world into the store, with a progress bar.

use super::follows::Follows;
use super::life;
use super::people::{self as small, PASSWORD};
use super::plan::{PAST, Spread, TALK, World};
use super::text::{Dice, sentence};
use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::cli::{logs, migrate};
use crate::db::demo_data::DemoLoad;
use crate::domains::users::User;
use crate::domains::{graph, sessions, statuses, timelines, users};
use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Statuses that are written in one go.
const CHUNK: usize = 5_000;

/// Makes sure that the small world is there: loads it into an empty store, or finishes a load that was cut off. `false` when the
/// store holds something else.
pub(in crate::cli) async fn people(app: &App) -> anyhow::Result<bool> {
    match app.db().begin_demo_load("people", app.now()).await? {
        DemoLoad::Loaded => Ok(true),
        DemoLoad::Other => Ok(false),
        DemoLoad::Load(moment) => {
            let world = small::world(moment);
            take_in(app, &world, None).await?;
            life::begin(app, &world).await?;
            Ok(true)
        }
    }
}

/// Loads a world from a graph, or the small one.
pub(super) async fn world(app: &App, follows: Option<Follows>, per_user: u32, tokens: Option<&Path>) -> anyhow::Result<()> {
    let name = follows.as_ref().map_or("people".into(), |follows| format!("{}-{per_user}", follows.digest));
    let moment = match app.db().begin_demo_load(&name, app.now()).await? {
        DemoLoad::Load(moment) => moment,
        DemoLoad::Loaded => bail!("this world is in the store already"),
        DemoLoad::Other => bail!("the store is not empty: a world is loaded into an empty one only"),
    };
    let Some(follows) = follows else {
        let world = small::world(moment);
        take_in(app, &world, tokens).await?;
        return life::begin(app, &world).await;
    };
    take_in(app, &from_graph(&follows, per_user as usize, moment), tokens).await
}

/// A world of a graph: everybody posts in turns, over a week.
fn from_graph(follows: &Follows, per_user: usize, now: Millis) -> World {
    let mut world = World::default();
    let joined = Spread::new(now - PAST, DAY, follows.users);
    for number in 0..follows.users {
        let (login, name) = (format!("user{}", number + 1), format!("User Number {}", number + 1));
        world.add_user(joined.id(number), login, name, String::new());
    }
    let followed = Spread::new(now - PAST + 2 * DAY, 10 * DAY, follows.edges.len());
    for (place, (a, b)) in follows.edges.iter().enumerate() {
        world.add_follow(*a, *b, followed.id(place));
    }
    let posted = Spread::new(now - TALK, TALK, per_user * follows.users);
    let mut dice = Dice::new(42);
    for place in 0..per_user * follows.users {
        let mention = format!("user{}", dice.roll(follows.users) + 1);
        world.add_status(place % follows.users, posted.id(place), sentence(&mut dice, Some(&mention)));
    }
    world
}

async fn take_in(app: &App, world: &World, tokens: Option<&Path>) -> anyhow::Result<()> {
    migrate::at_start(app).await?;
    let bar = progress(app, world);
    bar.set_message("accounts");
    users::service::import(app, &world.users, PASSWORD).await?;
    bar.inc(world.users.len() as u64);
    bar.set_message("follows");
    let ids: Vec<_> = world.users.iter().map(|user| user.id).collect();
    graph::service::import(app, &ids, &world.follows).await?;
    bar.inc(world.follows.len() as u64);
    bar.set_message("statuses");
    let mut likes = world.likes.iter().peekable();
    for (at, chunk) in world.statuses.chunks(CHUNK).enumerate() {
        statuses::service::import(app, chunk.iter().map(|(_, status)| status)).await?;
        while let Some((place, likers)) = likes.next_if(|(place, _)| *place < (at + 1) * CHUNK) {
            let likers: Vec<_> = likers.iter().map(|(who, id)| (ids[*who], *id)).collect();
            statuses::service::import_likes(app, world.statuses[*place].1.id, &likers).await?;
        }
        bar.inc(chunk.len() as u64);
    }
    bar.set_message("timelines");
    fill_timelines(app, world, &bar).await?;
    bar.set_message("stars");
    // Authors cross by the store's threshold; the workers need not review them again.
    app.db().set_star_followers(app.config().star_followers).await?;
    for star in stars(world, app.config().star_followers) {
        timelines::service::import_fanout_mode(app, star.id).await?;
        bar.inc(star.followers);
    }
    if let Some(file) = tokens {
        bar.set_message("sessions");
        let tokens = sessions::service::create_many(app, &ids).await?;
        write_tokens(file, world, &tokens).with_context(|| file.display().to_string())?;
    }
    app.db().finish_demo_load().await?;
    bar.finish_and_clear();
    let (people, edges, said) = (world.users.len(), world.follows.len(), world.statuses.len());
    let took = bar.elapsed().as_secs_f64();
    logs::tell(&format!("Loaded {people} users, {edges} follows and {said} statuses in {took:.1} s."));
    Ok(())
}

/// Profiles, and homes merged from them.
async fn fill_timelines(app: &App, world: &World, bar: &ProgressBar) -> anyhow::Result<()> {
    let mut profiles = vec![Vec::new(); world.users.len()];
    for (author, status) in &world.statuses {
        profiles[*author].push(status.id);
    }
    let mut following = vec![Vec::new(); world.users.len()];
    for (follower, followed, _) in &world.follows {
        following[*follower].push(*followed);
    }
    for (number, user) in world.users.iter().enumerate() {
        let own = std::iter::once(&number).chain(&following[number]);
        let home = own.flat_map(|author| profiles[*author].iter().copied()).collect();
        timelines::service::import(app, user.id, &profiles[number], home).await?;
        bar.inc(1);
    }
    Ok(())
}

fn write_tokens(file: &Path, world: &World, tokens: &[String]) -> std::io::Result<()> {
    let file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    // Its mode counts for a new file only.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    let mut file = std::io::BufWriter::new(file);
    for (user, token) in world.users.iter().zip(tokens) {
        writeln!(file, "{} {token}", user.login)?;
    }
    file.flush()
}

/// Those whose statuses are merged when they are read.
fn stars(world: &World, least: u64) -> impl Iterator<Item = &User> {
    world.users.iter().filter(move |user| user.followers >= least)
}

fn progress(app: &App, world: &World) -> ProgressBar {
    let steps = (2 * world.users.len() + world.follows.len() + world.statuses.len()) as u64;
    let steps = steps + stars(world, app.config().star_followers).map(|star| star.followers).sum::<u64>();
    let target = if logs::is_json() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(steps), target);
    let style = ProgressStyle::with_template("{msg:>10} [{bar:40}] {percent}% {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
}
