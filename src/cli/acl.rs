//! `waxwing acl`.

use crate::cli::fsck;
use crate::db::inspect::acl;
use anyhow::{Context, bail};
use clap::Args;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "Put the line into the file that Redis' setting `aclfile` names, or hand it to a running one without its first word, \
    as `redis-cli ACL SETUSER …`. Then take the rights of the user `default`, as whom everybody is logged in who gives no name: \
    `user default off`, or a password. The user works in database 0; a URL with another needs `+select` besides.\n\n\
    Make it again after an upgrade: a newer Waxwing may need more, and says so when it starts."
)]
pub(super) struct Options {
    /// The user's name.
    #[arg(long, value_name = "NAME", env = "WAXWING_ACL_USER", default_value = "waxwing")]
    user: String,
    /// A file that holds the user's password; `-` reads it from stdin. Only its digest is printed. Without it, the user cannot log in
    /// until it is given a password.
    #[arg(long, value_name = "FILE", env = "WAXWING_ACL_PASSWORD_FILE")]
    password_file: Option<PathBuf>,
}

pub(super) fn run(options: &Options) -> anyhow::Result<()> {
    if options.user.is_empty() || !options.user.chars().all(|character| character.is_ascii_graphic()) {
        bail!("a user's name is made of visible ASCII characters");
    }
    let password = options.password_file.as_deref().map(digest).transpose()?;
    println!("{}", acl::line(&options.user, password.as_deref(), &fsck::key_kinds()));
    Ok(())
}

/// What Redis keeps of a password. The newline that ends the file is not part of it.
fn digest(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("stdin cannot be read")?;
    } else {
        text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    }
    let password = text.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        bail!("the password is empty");
    }
    Ok(Sha256::digest(password).iter().map(|byte| format!("{byte:02x}")).collect())
}
