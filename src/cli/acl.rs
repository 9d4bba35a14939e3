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
    after_help = "Add the line to the file that Redis' setting `aclfile` names, or send it to a running Redis without its first word, \
    as `redis-cli ACL SETUSER …`. Then restrict the user `default`, which clients without a user name are: \
    `user default off`, or a password. The user works in database 0; a URL with another database also needs `+select`.\n\n\
    Print the line again after an upgrade: a newer version may need more permissions, and says so when it starts."
)]
pub(super) struct AclOptions {
    /// The name of the user.
    #[arg(long, value_name = "NAME", env = "WAXWING_ACL_USER", default_value = "waxwing")]
    user: String,
    /// A file with the password of the user; `-` reads it from stdin. Only its digest is printed. Default: no password; the user cannot log in
    /// until it has one.
    #[arg(long, value_name = "FILE", env = "WAXWING_ACL_PASSWORD_FILE")]
    password_file: Option<PathBuf>,
}

pub(super) fn run(options: &AclOptions) -> anyhow::Result<()> {
    if options.user.is_empty() || !options.user.chars().all(|character| character.is_ascii_graphic()) {
        bail!("the name of a user consists of visible ASCII characters");
    }
    let password = options.password_file.as_deref().map(digest).transpose()?;
    println!("{}", acl::line(&options.user, password.as_deref(), &fsck::key_kinds()));
    Ok(())
}

/// The digest that Redis stores of a password. A newline at the end of the file is not part of the password.
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
