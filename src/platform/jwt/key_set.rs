//! A set of public keys (JWK set, RFC 7517), the choice of a key for a token, and the verification of signatures.

use super::encoding;
use super::members::Members;
use super::model::{Algorithm, TokenRefusal};
use crate::base::jwt::KeyId;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The largest set in bytes.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Maximum number of keys of a set.
pub(super) const MAX_KEYS: usize = 64;
/// Maximum length of a `kid` in bytes. Keys with a longer `kid` are skipped.
const MAX_KID: usize = 1 << 10;
/// The sizes of RSA keys in bits.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2_048..=8_192;
/// The longest exponent of RSA keys in bytes: the library accepts up to 33 bits.
const MAX_EXPONENT: usize = 4;
/// The first byte of an uncompressed point.
const UNCOMPRESSED: u8 = 4;
/// The length of a coordinate of P-256, and of a key of Ed25519, in bytes.
const COORDINATE: usize = 32;

/// A set of public keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KeySet {
    keys: Vec<VerificationKey>,
    /// The number of keys that were skipped: of another type, too short, for another use, or with an id that is too long.
    pub(super) skipped: usize,
}

/// A public key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VerificationKey {
    /// The digest of the key and its `kid`.
    pub(super) id: KeyId,
    kid: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug, PartialEq, Eq)]
enum KeyMaterial {
    /// Modulus and exponent, without leading zeros.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl KeySet {
    /// Parses a set. Keys that cannot verify signatures are skipped, so that an issuer may have other keys as well.
    ///
    /// # Errors
    /// The reason, if the text is no set, or has more than 64 usable keys.
    pub(super) fn parse(json: &[u8]) -> Result<Self, &'static str> {
        let listed: Option<Vec<Box<RawValue>>> = Members::parse(json).and_then(|set| set.get("keys"));
        let listed = listed.ok_or("it is no JSON Web Key Set: an object with `keys`")?;
        let mut set = Self::default();
        for key in &listed {
            match Members::parse(key.get().as_bytes()).and_then(|key| VerificationKey::parse(&key)) {
                // The same key twice is no ambiguity.
                Some(key) if set.contains(&key.id) => {}
                Some(_) if set.keys.len() == MAX_KEYS => return Err("it has more than 64 keys"),
                Some(key) => set.keys.push(key),
                None => set.skipped += 1,
            }
        }
        Ok(set)
    }

    /// The set as JSON, without skipped keys and members that are not needed.
    pub(super) fn json(&self) -> String {
        json!({ "keys": self.keys.iter().map(VerificationKey::json).collect::<Vec<_>>() }).to_string()
    }

    /// The number of usable keys.
    pub(super) const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the set has the key with this digest.
    pub(super) fn contains(&self, id: &KeyId) -> bool {
        self.keys.iter().any(|key| key.id == *id)
    }

    /// Whether the set has a key with this `kid`.
    pub(super) fn has_kid(&self, kid: &str) -> bool {
        self.keys.iter().any(|key| key.kid.as_deref() == Some(kid))
    }

    /// The key of a token: the key with its `kid` and algorithm; without a `kid`, the only key that fits its algorithm.
    ///
    /// # Errors
    /// `Key` if there is none, or more than one; `Algorithm` if the key with this `kid` is of another type.
    pub(super) fn choose(&self, algorithm: Algorithm, kid: Option<&str>) -> Result<&VerificationKey, TokenRefusal> {
        let mut fit = self
            .keys
            .iter()
            .filter(|key| key.material.algorithm() == algorithm && kid.is_none_or(|kid| key.kid.as_deref() == Some(kid)));
        match (fit.next(), fit.next()) {
            (Some(key), None) => Ok(key),
            (None, _) if kid.is_some_and(|kid| self.has_kid(kid)) => Err(TokenRefusal::Algorithm),
            _ => Err(TokenRefusal::Key),
        }
    }
}

impl VerificationKey {
    /// Parses a key; `None` if the key is not usable here.
    fn parse(key: &Members) -> Option<Self> {
        let material = KeyMaterial::parse(key)?;
        let is_for_signatures = key.optional::<String>("use")?.is_none_or(|usage| usage == "sig");
        let verifies = key
            .optional::<Vec<String>>("key_ops")?
            .is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        let fits = key.optional::<String>("alg")?.is_none_or(|algorithm| algorithm == material.algorithm().name());
        let kid: Option<String> = key.optional("kid")?;
        if !is_for_signatures || !verifies || !fits || kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID) {
            return None;
        }
        Some(Self { id: material.id(kid.as_deref()), kid, material })
    }

    fn json(&self) -> Value {
        let mut json = match &self.material {
            KeyMaterial::Rsa { n, e } => json!({ "kty": "RSA", "n": encoding::encode(n), "e": encoding::encode(e) }),
            KeyMaterial::P256(point) => {
                let (x, y) = point[1..].split_at(COORDINATE);
                json!({ "kty": "EC", "crv": "P-256", "x": encoding::encode(x), "y": encoding::encode(y) })
            }
            KeyMaterial::Ed25519(x) => json!({ "kty": "OKP", "crv": "Ed25519", "x": encoding::encode(x) }),
        };
        if let Some(kid) = &self.kid {
            json["kid"] = json!(kid);
        }
        json
    }

    /// Verifies a signature.
    ///
    /// # Errors
    /// `Signature`.
    pub(super) fn verify(&self, signed: &str, signature: &[u8]) -> Result<(), TokenRefusal> {
        let signed = signed.as_bytes();
        let verified = match &self.material {
            KeyMaterial::Rsa { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(&signature::RSA_PKCS1_2048_8192_SHA256, signed, signature)
            }
            KeyMaterial::P256(point) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(signed, signature)
            }
            KeyMaterial::Ed25519(key) => UnparsedPublicKey::new(&signature::ED25519, key).verify(signed, signature),
        };
        verified.map_err(|_| TokenRefusal::Signature)
    }
}

impl KeyMaterial {
    fn parse(key: &Members) -> Option<Self> {
        let bytes = |name: &str| encoding::decode(&key.text(name)?);
        let coordinate = |name: &str| bytes(name).filter(|bytes| bytes.len() == COORDINATE);
        let curve = key.text("crv");
        match (key.text("kty")?.as_str(), curve.as_deref()) {
            ("RSA", _) => Self::rsa(bytes("n")?, bytes("e")?),
            ("EC", Some("P-256")) => Some(Self::P256([vec![UNCOMPRESSED], coordinate("x")?, coordinate("y")?].concat())),
            ("OKP", Some("Ed25519")) => Some(Self::Ed25519(coordinate("x")?)),
            _ => None,
        }
    }

    fn rsa(n: Vec<u8>, e: Vec<u8>) -> Option<Self> {
        let (n, e) = (without_leading_zeros(n), without_leading_zeros(e));
        let bits = (n.len() * 8).saturating_sub(n.first()?.leading_zeros() as usize);
        let is_odd = |number: &[u8]| number.last().is_some_and(|last| last % 2 == 1);
        let has_exponent = e.len() <= MAX_EXPONENT && e != [1] && is_odd(&e);
        (RSA_BITS.contains(&bits) && is_odd(&n) && has_exponent).then_some(Self::Rsa { n, e })
    }

    const fn algorithm(&self) -> Algorithm {
        match self {
            Self::Rsa { .. } => Algorithm::Rs256,
            Self::P256(_) => Algorithm::Es256,
            Self::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    fn id(&self, kid: Option<&str>) -> KeyId {
        let kid = kid.map_or_else(Vec::new, |kid| [b"kid", kid.as_bytes()].concat());
        let algorithm = self.algorithm().name().as_bytes();
        match self {
            Self::Rsa { n, e } => encoding::digest(&[algorithm, &kid, n, e]),
            Self::P256(key) | Self::Ed25519(key) => encoding::digest(&[algorithm, &kid, key]),
        }
    }
}

fn without_leading_zeros(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().skip_while(|byte| *byte == 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::rand::SystemRandom;
    use ring::rsa::KeyPair as RsaKeyPair;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256};

    fn set(keys: &[Value]) -> KeySet {
        KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).expect("a set")
    }

    fn rsa(bits: usize) -> Value {
        let mut n = vec![0xff; bits / 8];
        n.insert(0, 0);
        json!({ "kty": "RSA", "kid": "r", "n": encoding::encode(&n), "e": "AQAB" })
    }

    fn ed25519() -> (Ed25519KeyPair, Value) {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a key");
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "o", "x": encoding::encode(pair.public_key().as_ref()) });
        (pair, key)
    }

    fn p256() -> (EcdsaKeyPair, Value) {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("a key");
        let (x, y) = pair.public_key().as_ref()[1..].split_at(COORDINATE);
        let key = json!({ "kty": "EC", "crv": "P-256", "kid": "e", "x": encoding::encode(x), "y": encoding::encode(y) });
        (pair, key)
    }

    /// A key with other members.
    fn with(mut key: Value, members: Value) -> Value {
        for (name, value) in members.as_object().expect("an object") {
            key[name] = value.clone();
        }
        key
    }

    #[test]
    fn keys_that_cannot_verify_are_skipped() {
        let (_, ed) = ed25519();
        let (_, ec) = p256();
        for key in [
            rsa(2_048),
            rsa(8_192),
            ed.clone(),
            ec.clone(),
            with(ed.clone(), json!({ "use": "sig", "alg": "EdDSA", "key_ops": ["verify"], "x5c": ["x"] })),
            with(ec.clone(), json!({ "alg": "ES256" })),
        ] {
            assert_eq!((set(std::slice::from_ref(&key)).len(), set(std::slice::from_ref(&key)).skipped), (1, 0), "{key}");
        }
        for key in [
            rsa(2_040),
            rsa(1_024),
            rsa(8_200),
            with(rsa(2_048), json!({ "e": "AQ" })),
            with(rsa(2_048), json!({ "e": "Ag" })),
            with(rsa(2_048), json!({ "e": "" })),
            with(rsa(2_048), json!({ "n": "" })),
            with(rsa(2_048), json!({ "n": 1 })),
            with(rsa(2_048), json!({ "e": "AQAB==" })),
            with(rsa(2_048), json!({ "alg": "PS256" })),
            with(rsa(2_048), json!({ "alg": "HS256" })),
            with(rsa(2_048), json!({ "alg": "ES256" })),
            with(rsa(2_048), json!({ "use": "enc" })),
            with(rsa(2_048), json!({ "use": 1 })),
            with(rsa(2_048), json!({ "key_ops": ["encrypt"] })),
            with(rsa(2_048), json!({ "key_ops": "verify" })),
            with(rsa(2_048), json!({ "kid": 1 })),
            with(ed.clone(), json!({ "crv": "X25519" })),
            with(ed.clone(), json!({ "kty": "EC" })),
            with(ed, json!({ "x": "AAAA" })),
            with(ec.clone(), json!({ "crv": "P-384" })),
            with(ec, json!({ "y": "AAAA" })),
            json!({ "kty": "oct", "k": "AAAA" }),
            json!({ "kty": "AKP" }),
            json!("text"),
        ] {
            assert_eq!((set(std::slice::from_ref(&key)).len(), set(std::slice::from_ref(&key)).skipped), (0, 1), "{key}");
        }
    }

    #[test]
    fn a_set_is_an_object_with_a_bounded_list() {
        assert_eq!(KeySet::parse(br#"{"keys":[],"more":1}"#), Ok(KeySet::default()));
        for json in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":null}"#, r#"{"keys":[],"keys":[]}"#, "<html>"] {
            assert!(KeySet::parse(json.as_bytes()).is_err(), "{json}");
        }
        let (_, key) = ed25519();
        let many = |count: usize| json!({ "keys": (0..count).map(|at| with(key.clone(), json!({ "kid": at.to_string() }))).collect::<Vec<_>>() });
        assert_eq!(KeySet::parse(many(MAX_KEYS).to_string().as_bytes()).expect("a set").len(), MAX_KEYS);
        assert!(KeySet::parse(many(MAX_KEYS + 1).to_string().as_bytes()).is_err());
        assert_eq!(set(&[key.clone(), key]).len(), 1);
    }

    #[test]
    fn a_set_survives_its_json() {
        let (_, without_kid) = ed25519();
        let without_kid = with(without_kid, json!({ "kid": "x", "use": "sig" }));
        let set = set(&[rsa(2_048), ed25519().1, p256().1, without_kid]);
        assert_eq!(KeySet::parse(set.json().as_bytes()), Ok(set));
    }

    #[test]
    fn a_key_is_chosen_by_its_id_or_as_the_only_one() {
        let (_, ed) = ed25519();
        let (_, other) = ed25519();
        let other = with(other, json!({ "kid": "p" }));
        let two = set(&[rsa(2_048), ed.clone(), other.clone()]);
        let choose = |algorithm, kid| two.choose(algorithm, kid).map(|key| key.kid.as_deref());
        assert_eq!(choose(Algorithm::EdDsa, Some("o")), Ok(Some("o")));
        assert_eq!(choose(Algorithm::EdDsa, Some("p")), Ok(Some("p")));
        assert_eq!(choose(Algorithm::Rs256, None), Ok(Some("r")), "the only one of its type");
        assert_eq!(choose(Algorithm::EdDsa, None), Err(TokenRefusal::Key), "two keys");
        assert_eq!(choose(Algorithm::Es256, None), Err(TokenRefusal::Key), "no key");
        assert_eq!(choose(Algorithm::EdDsa, Some("q")), Err(TokenRefusal::Key), "an unknown id");
        assert_eq!(choose(Algorithm::EdDsa, Some("")), Err(TokenRefusal::Key));
        assert_eq!(choose(Algorithm::Rs256, Some("o")), Err(TokenRefusal::Algorithm));
        assert_eq!(choose(Algorithm::Es256, Some("r")), Err(TokenRefusal::Algorithm));
        let same = set(&[ed, with(other, json!({ "kid": "o" }))]);
        assert_eq!(same.choose(Algorithm::EdDsa, Some("o")).err(), Some(TokenRefusal::Key), "two keys of one id");
    }

    /// A signature by the key of the tests, and its public part.
    fn sign_by_rsa(text: &[u8]) -> (Vec<u8>, Value) {
        let pem = include_str!("../../../tests/it/fixtures/jwt/rsa-2048.pem");
        let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
        let der = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, body).expect("base64");
        let pair = RsaKeyPair::from_pkcs8(&der).expect("a key");
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text, &mut signature).expect("a signature");
        let public: RsaPublicKeyComponents<Vec<u8>> = pair.public().into();
        let (n, e) = (encoding::encode(&public.n), encoding::encode(&public.e));
        (signature, json!({ "kty": "RSA", "kid": "s", "alg": "RS256", "use": "sig", "n": n, "e": e }))
    }

    #[test]
    fn signatures_of_rsa_are_verified() {
        let (signature, key) = sign_by_rsa(b"a.b");
        let set = set(&[key]);
        let key = set.choose(Algorithm::Rs256, None).expect("a key");
        assert_eq!(key.verify("a.b", &signature), Ok(()));
        assert_eq!(key.verify("a.c", &signature), Err(TokenRefusal::Signature));
        assert_eq!(key.verify("a.b", &[&signature[..], &[0]].concat()), Err(TokenRefusal::Signature));
    }

    #[test]
    fn signatures_are_verified_by_the_key_of_their_type() {
        let ((ed, ed_key), (ec, ec_key)) = (ed25519(), p256());
        let set = set(&[ed_key, ec_key, rsa(2_048)]);
        let key = |kid: &str, algorithm| set.choose(algorithm, Some(kid)).expect("a key");
        let by_ed = ed.sign(b"a.b").as_ref().to_vec();
        let by_ec = ec.sign(&SystemRandom::new(), b"a.b").expect("a signature").as_ref().to_vec();
        assert_eq!(key("o", Algorithm::EdDsa).verify("a.b", &by_ed), Ok(()));
        assert_eq!(key("e", Algorithm::Es256).verify("a.b", &by_ec), Ok(()));
        let refused = Err(TokenRefusal::Signature);
        assert_eq!(key("o", Algorithm::EdDsa).verify("a.c", &by_ed), refused);
        assert_eq!(key("e", Algorithm::Es256).verify("a.c", &by_ec), refused);
        assert_eq!(key("o", Algorithm::EdDsa).verify("a.b", &by_ec), refused);
        assert_eq!(key("e", Algorithm::Es256).verify("a.b", &by_ed), refused);
        assert_eq!(key("e", Algorithm::Es256).verify("a.b", &[0; 64]), refused);
        assert_eq!(key("r", Algorithm::Rs256).verify("a.b", &[1; 256]), refused);
        assert_eq!(key("r", Algorithm::Rs256).verify("a.b", &[]), refused);
    }
}
