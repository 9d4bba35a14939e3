//! Options of JSON Web Tokens.

use super::http::OnOff;
use crate::base::config::Config;
use crate::base::jwt::{JwtConfig, KeySource};
use anyhow::bail;
use clap::Args;

/// Options of JSON Web Tokens.
#[derive(Args, Clone)]
#[command(next_help_heading = "JSON Web Tokens")]
pub(super) struct JwtOptions {
    /// Accept JSON Web Tokens (JWT) of this issuer as access tokens: the claim `iss` must be this text exactly. Needs --jwt-audience and --jwt-jwks. Default:
    /// no JWT is accepted.
    #[arg(long, value_name = "URL", env = "WAXWING_JWT_ISSUER", value_parser = issuer)]
    jwt_issuer: Option<String>,
    /// The audience of accepted JWTs: their claim `aud` must be this text, or a list with it.
    #[arg(long, value_name = "TEXT", env = "WAXWING_JWT_AUDIENCE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    jwt_audience: Option<String>,
    /// The public keys of the issuer, a JSON Web Key Set of at most 1 MiB: a file, or a URL with https (or http on loopback). They are read at start, every ten
    /// minutes, and for an unknown key at most once a minute.
    #[arg(long, value_name = "FILE-OR-URL", env = "WAXWING_JWT_JWKS")]
    jwt_jwks: Option<KeySource>,
    /// Create an account for a JWT whose `sub` has none. With `off`, such a JWT is refused with NOT_PROVISIONED.
    #[arg(long, env = "WAXWING_JWT_PROVISION", default_value = "off")]
    jwt_provision: OnOff,
}

/// Checks that an issuer is a URL, and keeps it as it is written.
fn issuer(text: &str) -> Result<String, String> {
    let url = url::Url::parse(text).map_err(|error| error.to_string())?;
    let is_http = matches!(url.scheme(), "http" | "https");
    is_http.then(|| text.to_owned()).ok_or_else(|| "write a URL that begins with https:// or http://".to_owned())
}

impl JwtOptions {
    /// Applies the options.
    pub(super) fn apply(&self, config: Config) -> Config {
        let jwt = match (&self.jwt_issuer, &self.jwt_audience, &self.jwt_jwks) {
            (Some(issuer), Some(audience), Some(source)) => Some(JwtConfig {
                issuer: issuer.clone(),
                audience: audience.clone(),
                key_source: source.clone(),
                is_provisioning: self.jwt_provision == OnOff::On,
            }),
            // `check` fails if only some of the options are set.
            _ => None,
        };
        Config { jwt, ..config }
    }

    /// Fails if some of the options are set and others are missing.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let options = [
            ("--jwt-issuer", self.jwt_issuer.is_some()),
            ("--jwt-audience", self.jwt_audience.is_some()),
            ("--jwt-jwks", self.jwt_jwks.is_some()),
        ];
        let missing: Vec<&str> = options.iter().filter(|(_, is_set)| !is_set).map(|(name, _)| *name).collect();
        let is_any_set = missing.len() < options.len() || self.jwt_provision == OnOff::On;
        if is_any_set && !missing.is_empty() {
            bail!("JSON Web Tokens also need {}", missing.join(" and "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        jwt: JwtOptions,
    }

    fn parse(options: &[&str]) -> Result<JwtOptions, clap::Error> {
        Command::try_parse_from(["waxwing"].iter().chain(options)).map(|command| command.jwt)
    }

    const ISSUER: [&str; 2] = ["--jwt-issuer", "https://id.example/realms/a"];
    const AUDIENCE: [&str; 2] = ["--jwt-audience", "waxwing"];
    const KEYS: [&str; 2] = ["--jwt-jwks", "https://id.example/jwks"];

    #[test]
    fn the_options_are_set_together_or_not_at_all() {
        let none = parse(&[]).expect("options");
        assert!(none.check().is_ok() && none.apply(Config::default()).jwt.is_none());
        let all = parse(&[ISSUER, AUDIENCE, KEYS, ["--jwt-provision", "on"]].concat()).expect("options");
        let config = all.apply(Config::default()).jwt.expect("an issuer");
        assert!(all.check().is_ok() && config.is_provisioning);
        assert_eq!((config.issuer.as_str(), config.audience.as_str()), (ISSUER[1], "waxwing"));
        for some in [&[ISSUER, AUDIENCE][..], &[ISSUER, KEYS], &[AUDIENCE, KEYS], &[KEYS], &[["--jwt-provision", "on"]]] {
            let some = parse(&some.concat()).expect("options");
            let error = some.check().expect_err("an option is missing").to_string();
            assert!(
                error.starts_with("JSON Web Tokens also need --jwt-") && some.apply(Config::default()).jwt.is_none(),
                "{error}"
            );
        }
    }

    #[test]
    fn values_are_checked() {
        for options in
            [["--jwt-issuer", "id.example"], ["--jwt-issuer", "ftp://a"], ["--jwt-audience", ""], ["--jwt-jwks", "http://a/"]]
        {
            assert!(parse(&options).is_err(), "{options:?}");
        }
    }
}
