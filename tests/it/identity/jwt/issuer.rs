//! An issuer of JWTs: keys, tokens, and a small HTTP server with a key set.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

pub(super) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key that signs tokens.
pub(super) struct SigningKey {
    pub(super) kid: String,
    pair: Pair,
}

enum Pair {
    Rsa(Box<RsaKeyPair>),
    P256(Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

impl SigningKey {
    /// One of the two RSA keys of the fixtures.
    pub(super) fn rsa(kid: &str, is_other: bool) -> Self {
        let pem = match is_other {
            false => include_str!("../../fixtures/jwt/rsa-2048.pem"),
            true => include_str!("../../fixtures/jwt/rsa-2048-other.pem"),
        };
        let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
        let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(body).expect("base64")).expect("a key");
        Self { kid: kid.into(), pair: Pair::Rsa(Box::new(pair)) }
    }

    pub(super) fn p256(kid: &str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("a key");
        Self { kid: kid.into(), pair: Pair::P256(Box::new(pair)) }
    }

    pub(super) fn ed25519(kid: &str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a key");
        Self { kid: kid.into(), pair: Pair::Ed25519(Box::new(pair)) }
    }

    pub(super) fn alg(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::P256(_) => "ES256",
            Pair::Ed25519(_) => "EdDSA",
        }
    }

    /// The public key as a JWK.
    pub(super) fn jwk(&self) -> Value {
        let mut jwk = match &self.pair {
            Pair::Rsa(pair) => {
                let public: PublicKeyComponents<Vec<u8>> = pair.public().into();
                json!({ "kty": "RSA", "n": encode(public.n), "e": encode(public.e) })
            }
            Pair::P256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y) })
            }
            Pair::Ed25519(pair) => json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key()) }),
        };
        jwk["kid"] = json!(self.kid);
        jwk["alg"] = json!(self.alg());
        jwk["use"] = json!("sig");
        jwk
    }

    /// A token with the usual header.
    pub(super) fn token(&self, claims: &Value) -> String {
        self.sign(&json!({ "alg": self.alg(), "typ": "JWT", "kid": self.kid }), claims)
    }

    /// A token with any header.
    pub(super) fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).expect("a signature");
                signature
            }
            Pair::P256(pair) => pair.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature").as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", encode(signature))
    }
}

/// A token that is signed with HS256 by this secret.
pub(super) fn hs256(secret: &[u8], kid: &str, claims: &Value) -> String {
    let header = json!({ "alg": "HS256", "typ": "JWT", "kid": kid });
    let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", encode(tag))
}

/// A key set over HTTP.
pub(super) struct KeyServer {
    pub(super) url: String,
    response: Arc<Mutex<String>>,
    fetches: Arc<AtomicUsize>,
    _running: AbortOnDropHandle<()>,
}

impl KeyServer {
    /// A server of these keys.
    pub(super) async fn start(keys: &[&SigningKey]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/jwks.json", listener.local_addr().expect("an address"));
        let (response, fetches) = (Arc::new(Mutex::new(String::new())), Arc::new(AtomicUsize::new(0)));
        let running = tokio::spawn({
            let (response, fetches) = (response.clone(), fetches.clone());
            async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") && stream.read_buf(&mut head).await.is_ok_and(|count| count > 0) {}
                    fetches.fetch_add(1, Ordering::SeqCst);
                    let response = response.lock().expect("no panic while held").clone();
                    let _ = stream.write_all(response.as_bytes()).await;
                    let _ = stream.shutdown().await;
                }
            }
        });
        let server = Self { url, response, fetches, _running: AbortOnDropHandle::new(running) };
        server.serve(keys);
        server
    }

    /// Serves these keys from now on.
    pub(super) fn serve(&self, keys: &[&SigningKey]) {
        self.respond("200 OK", "", &set_of(keys).to_string());
    }

    /// Sends this response from now on.
    pub(super) fn respond(&self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n");
        *self.response.lock().expect("no panic while held") = head + body;
    }

    /// The number of requests so far.
    pub(super) fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

/// The key set of these keys.
pub(super) fn set_of(keys: &[&SigningKey]) -> Value {
    json!({ "keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>() })
}
