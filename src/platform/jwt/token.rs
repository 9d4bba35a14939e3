//! The form of a token: a compact JWS with a header that this server understands.

use super::encoding;
use super::members::Members;
use super::model::{Algorithm, MAX_TOKEN, TokenRefusal};

/// The types of JWTs that are not access tokens: a token of one of these types is refused even if everything else fits.
const OTHER_TYPES: [&str; 4] = ["logout+jwt", "secevent+jwt", "dpop+jwt", "oauth-authz-req+jwt"];

/// A parsed token, whose signature was not verified yet.
#[derive(Debug)]
pub(super) struct UnverifiedToken<'a> {
    /// The algorithm.
    pub(super) algorithm: Algorithm,
    /// The id of the key.
    pub(super) kid: Option<String>,
    /// The text that is signed.
    pub(super) signed: &'a str,
    /// The claims.
    pub(super) payload: Members,
    /// The signature.
    pub(super) signature: Vec<u8>,
}

/// Whether a text has the form of a compact JWS: three parts separated by two dots. An access token of a session has no dots.
pub fn is_compact(text: &str) -> bool {
    text.bytes().filter(|byte| *byte == b'.').count() == 2
}

impl<'a> UnverifiedToken<'a> {
    /// Parses a token.
    ///
    /// # Errors
    /// `Malformed`; `Algorithm` for any other than RS256, ES256 and EdDSA.
    pub(super) fn parse(text: &'a str) -> Result<Self, TokenRefusal> {
        let malformed = TokenRefusal::Malformed;
        if text.len() > MAX_TOKEN || !is_compact(text) {
            return Err(malformed);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(malformed)?;
        let members = |part: &str| encoding::decode(part).and_then(|json| Members::parse(&json)).ok_or(malformed);
        let header = members(header)?;
        // This server knows no extension, so every list of critical ones has one that is unknown, or is empty and invalid.
        if header.has("crit") {
            return Err(malformed);
        }
        let kid = header.optional("kid").ok_or(malformed)?;
        let typ: Option<String> = header.optional("typ").ok_or(malformed)?;
        if typ.is_some_and(|typ| is_other_type(&typ)) {
            return Err(malformed);
        }
        let algorithm = header.text("alg").ok_or(malformed)?;
        let algorithm = Algorithm::from_name(&algorithm).ok_or(TokenRefusal::Algorithm)?;
        let signature = encoding::decode(signature).filter(|signature| !signature.is_empty()).ok_or(malformed)?;
        Ok(Self { algorithm, kid, signed, payload: members(payload)?, signature })
    }
}

fn is_other_type(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    OTHER_TYPES.contains(&typ.strip_prefix("application/").unwrap_or(&typ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(header: &str, payload: &str, signature: &str) -> Result<(Algorithm, Option<String>), TokenRefusal> {
        let text = format!("{}.{}.{signature}", encoding::encode(header.as_bytes()), encoding::encode(payload.as_bytes()));
        UnverifiedToken::parse(&text).map(|token| (token.algorithm, token.kid))
    }

    #[test]
    fn headers_are_parsed_strictly() {
        let parsed = parse(r#"{"alg":"RS256","kid":"a","typ":"at+jwt","x":1}"#, "{}", "AA");
        assert_eq!(parsed, Ok((Algorithm::Rs256, Some("a".to_owned()))));
        let parsed = parse(r#"{"alg":"EdDSA","jwk":{},"jku":"https://evil.example","x5u":"x","x5c":[]}"#, "{}", "AA");
        assert_eq!(parsed, Ok((Algorithm::EdDsa, None)));
        for alg in ["none", "None", "HS256", "rs256", "RS384", "PS256", "ES384", "ES256K", "RS1", "dir", ""] {
            assert_eq!(parse(&format!(r#"{{"alg":"{alg}"}}"#), "{}", "AA"), Err(TokenRefusal::Algorithm), "{alg}");
        }
        for header in [
            "",
            "[]",
            "{}",
            r#"{"alg":null}"#,
            r#"{"alg":["RS256"]}"#,
            r#"{"alg":"RS256","alg":"RS256"}"#,
            r#"{"alg":"RS256","kid":1}"#,
            r#"{"alg":"RS256","kid":null}"#,
            r#"{"alg":"RS256","crit":["exp"],"exp":1}"#,
            r#"{"alg":"RS256","crit":["b64"],"b64":false}"#,
            r#"{"alg":"RS256","crit":[]}"#,
            r#"{"alg":"RS256","crit":null}"#,
            r#"{"alg":"RS256","typ":"logout+jwt"}"#,
            r#"{"alg":"RS256","typ":"application/DPoP+JWT"}"#,
        ] {
            assert_eq!(parse(header, "{}", "AA"), Err(TokenRefusal::Malformed), "{header}");
        }
    }

    #[test]
    fn the_form_is_strict() {
        let header = r#"{"alg":"ES256"}"#;
        for (payload, signature) in [("", "AA"), ("1", "AA"), ("{}", ""), ("{}", "AA=="), ("{}", "AB"), ("{}", "A A")] {
            assert_eq!(parse(header, payload, signature), Err(TokenRefusal::Malformed), "{payload} {signature}");
        }
        let part = encoding::encode(header.as_bytes());
        for text in ["", "..", "a.b", "a.b.c.d", &format!("{part}.e30"), &format!("{part}.e30.AA.AA"), &format!(" {part}.e30.AA")]
        {
            assert!(UnverifiedToken::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_token_has_at_most_eight_kibibytes() {
        let token = |filler: usize| {
            let header = encoding::encode(br#"{"alg":"ES256"}"#);
            let rest = MAX_TOKEN - header.len() - "..".len() - "e30".len();
            format!("{header}.e30.{}", "A".repeat(rest / 4 * 4 + filler))
        };
        assert!(UnverifiedToken::parse(&token(0)).is_ok());
        assert!(token(4).len() > MAX_TOKEN);
        assert_eq!(UnverifiedToken::parse(&token(4)).err(), Some(TokenRefusal::Malformed));
    }
}
