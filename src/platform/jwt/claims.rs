//! The claims of a token whose signature is valid.

use super::members::Members;
use super::model::{LEEWAY, MAX_LIFETIME, TokenRefusal};
use crate::base::clock::Millis;
use crate::base::external_id::ExternalId;
use crate::base::jwt::{JwtConfig, KeyId, TokenProfile, VerifiedToken};
use serde::Deserialize;

/// The latest accepted time in seconds since the epoch: the year 5138.
const MAX_SECONDS: f64 = 1e11;

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Checks the claims.
///
/// # Errors
/// `Claims`; `Expired` also for a token that is not valid yet.
pub(super) fn verify(
    claims: &Members,
    config: &JwtConfig,
    now: Millis,
    (digest, key): (String, KeyId),
) -> Result<VerifiedToken, TokenRefusal> {
    let refused = TokenRefusal::Claims;
    let issuer = claims.text("iss").ok_or(refused)?;
    let has_audience = match claims.get::<Audience>("aud").ok_or(refused)? {
        Audience::One(audience) => audience == config.audience,
        Audience::Many(audiences) => audiences.contains(&config.audience),
    };
    let subject = claims.text("sub").as_deref().and_then(ExternalId::parse).ok_or(refused)?;
    // `events` is a claim of logout tokens and other event tokens, which do not prove a log-in.
    if issuer != config.issuer || !has_audience || claims.has("events") {
        return Err(refused);
    }
    let time = |name: &str| claims.get(name).and_then(millis).ok_or(refused);
    let (issued_at, expires_at) = (time("iat")?, time("exp")?);
    let not_before = if claims.has("nbf") { time("nbf")? } else { 0 };
    if expires_at.saturating_sub(issued_at) > MAX_LIFETIME {
        return Err(refused);
    }
    let ends_at = expires_at + LEEWAY;
    if now >= ends_at || issued_at.max(not_before) > now + LEEWAY {
        return Err(TokenRefusal::Expired);
    }
    let id = |name: &str| claims.optional(name).ok_or(refused);
    let (token_id, session_id, profile) = (id("jti")?, id("sid")?, profile(claims));
    Ok(VerifiedToken { subject, issued_at, ends_at, expires_at, token_id, session_id, profile, digest, key })
}

fn profile(claims: &Members) -> TokenProfile {
    let is_verified = claims.get("email_verified") == Some(true);
    TokenProfile {
        preferred_username: claims.text("preferred_username"),
        name: claims.text("name"),
        verified_email: claims.text("email").filter(|_| is_verified),
    }
}

/// A NumericDate in ms: seconds since the epoch, which may have a fraction.
fn millis(seconds: f64) -> Option<Millis> {
    (0.0..=MAX_SECONDS).contains(&seconds).then_some((seconds * 1_000.0).round() as Millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: Millis = 1_800_000_000_000;
    const SECONDS: u64 = NOW / 1_000;

    fn verified(claims: &Value) -> Result<VerifiedToken, TokenRefusal> {
        let config = JwtConfig {
            issuer: "https://id.example/".into(),
            audience: "waxwing".into(),
            key_source: crate::base::jwt::KeySource::File("keys.json".into()),
            is_provisioning: false,
        };
        let members = Members::parse(claims.to_string().as_bytes()).expect("an object");
        verify(&members, &config, NOW, (String::new(), [0; 32]))
    }

    fn claims() -> Value {
        json!({ "iss": "https://id.example/", "aud": "waxwing", "sub": "ada", "iat": SECONDS, "exp": SECONDS + 300 })
    }

    /// The valid claims with these changes; the value `"-"` removes a claim.
    fn with(changes: Value) -> Value {
        let mut claims = claims();
        for (name, value) in changes.as_object().expect("an object") {
            if value == "-" {
                claims.as_object_mut().expect("an object").remove(name);
            } else {
                claims[name] = value.clone();
            }
        }
        claims
    }

    #[test]
    fn valid_claims_are_accepted() {
        for changes in [
            json!({}),
            json!({ "aud": ["other", "waxwing"] }),
            json!({ "sub": "x".repeat(200) }),
            json!({ "sub": "!~" }),
            json!({ "exp": SECONDS - 59 }),
            json!({ "iat": SECONDS + 60, "nbf": SECONDS + 60 }),
            json!({ "iat": SECONDS as f64 - 0.5, "exp": SECONDS as f64 + 10.25 }),
            json!({ "iat": SECONDS, "exp": SECONDS + 24 * 60 * 60 }),
            json!({ "iat": 1.8e9 }),
        ] {
            assert!(verified(&with(changes.clone())).is_ok(), "{changes}");
        }
        let token =
            verified(&with(json!({ "iat": SECONDS as f64 - 0.5, "exp": SECONDS + 1, "jti": "j", "sid": "s" }))).expect("valid");
        assert_eq!((token.issued_at, token.expires_at, token.ends_at), (NOW - 500, NOW + 1_000, NOW + 61_000));
        assert_eq!((token.token_id.as_deref(), token.session_id.as_deref()), (Some("j"), Some("s")));
        assert!(token.is_valid_at(NOW + 60_999) && !token.is_valid_at(NOW + 61_000));
    }

    #[test]
    fn missing_and_wrong_claims_are_refused() {
        for changes in [
            json!({ "iss": "-" }),
            json!({ "iss": "https://id.example" }),
            json!({ "iss": ["https://id.example/"] }),
            json!({ "iss": 1 }),
            json!({ "aud": "-" }),
            json!({ "aud": "other" }),
            json!({ "aud": [] }),
            json!({ "aud": ["other"] }),
            json!({ "aud": ["waxwing", 1] }),
            json!({ "aud": { "waxwing": true } }),
            json!({ "aud": null }),
            json!({ "sub": "-" }),
            json!({ "sub": "" }),
            json!({ "sub": "a b" }),
            json!({ "sub": "é" }),
            json!({ "sub": "a\u{0}" }),
            json!({ "sub": "x".repeat(201) }),
            json!({ "sub": 7 }),
            json!({ "iat": "-" }),
            json!({ "iat": SECONDS.to_string() }),
            json!({ "iat": null }),
            json!({ "iat": -1 }),
            json!({ "exp": "-" }),
            json!({ "exp": (SECONDS + 300).to_string() }),
            json!({ "exp": true }),
            json!({ "exp": [SECONDS + 300] }),
            json!({ "exp": 1e300 }),
            json!({ "exp": SECONDS + 24 * 60 * 60 + 1 }),
            json!({ "exp": SECONDS as f64 + 86_400.001 }),
            json!({ "nbf": "0" }),
            json!({ "nbf": null }),
            json!({ "jti": 1 }),
            json!({ "sid": null }),
            json!({ "events": { "http://schemas.openid.net/event/backchannel-logout": {} } }),
        ] {
            assert_eq!(verified(&with(changes.clone())), Err(TokenRefusal::Claims), "{changes}");
        }
    }

    #[test]
    fn times_have_a_leeway_of_a_minute() {
        for changes in [
            json!({ "iat": SECONDS - 400, "exp": SECONDS - 60 }),
            json!({ "iat": SECONDS - 400, "exp": 0 }),
            json!({ "iat": SECONDS + 61 }),
            json!({ "nbf": SECONDS + 61 }),
            json!({ "nbf": SECONDS as f64 + 60.001 }),
        ] {
            assert_eq!(verified(&with(changes.clone())), Err(TokenRefusal::Expired), "{changes}");
        }
    }

    #[test]
    fn an_address_counts_only_if_the_issuer_has_verified_it() {
        let email = |is_verified: Value| {
            let claims = with(json!({ "email": "ada@example.org", "email_verified": is_verified }));
            verified(&claims).expect("valid").profile.verified_email
        };
        assert_eq!(email(json!(true)).as_deref(), Some("ada@example.org"));
        for is_verified in [json!(false), json!("true"), json!(1), json!(null), json!("-"), json!([true])] {
            assert_eq!(email(is_verified.clone()), None, "{is_verified}");
        }
        let profile = verified(&with(json!({ "name": 5, "preferred_username": "Ada L." }))).expect("valid").profile;
        assert_eq!((profile.name, profile.preferred_username.as_deref()), (None, Some("Ada L.")));
    }
}
