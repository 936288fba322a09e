//! Who is let in, and how those are told who are not.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rutter_server::transport::http::{KeySource, Tokens};

use super::*;

#[tokio::test]
async fn only_health_is_public_whatever_the_spelling() {
    let site = Site::with_keys(json!({})).await;
    let answer = site.get("/health", "").await;
    assert_eq!(answer.status, 200);
    let health: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["modules"]["knowledge"]["status"], "ok");
    for path in [
        "/health/",
        "//health",
        "/HEALTH",
        "/%68ealth",
        "/health%2f",
        "/health/../metrics",
        "/./health",
        "/metrics",
        "/mcp",
        "/sse",
        "/messages",
        "/",
        "/search",
        "/nowhere",
        "/health;a",
        "/.well-known/oauth-protected-resource",
    ] {
        assert_eq!(site.get(path, "").await.status, 401, "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"] {
        assert_eq!(site.ask(method, "/health", "", "").await.status, 401, "{method}");
    }
    assert_eq!(site.get("/metrics", "X-API-Key: ada-key\r\n").await.status, 200);
    assert_eq!(site.get("/metrics", "Authorization: Bearer bob-key\r\n").await.status, 200);
}

#[tokio::test]
async fn wrong_credentials_are_slowed_and_right_ones_are_not() {
    let site = Site::with_keys(json!({})).await;
    let mut refused = 0;
    for guess in 0..50 {
        let answer = site.get("/metrics", &format!("X-API-Key: guess-{guess}\r\n")).await;
        match answer.status {
            401 => assert!(answer.header("www-authenticate").is_some()),
            429 => {
                assert!(answer.header("retry-after").is_some());
                refused += 1;
            }
            status => panic!("{status}"),
        }
    }
    assert!(refused > 20, "{refused} of 50 were slowed");
    assert_eq!(site.get("/metrics", "X-API-Key: ada-key\r\n").await.status, 200);
}

#[tokio::test]
async fn behind_a_proxy_each_caller_is_slowed_alone() {
    let site = Site::with_keys(json!({"failed_logins_per_minute": 60})).await;
    let guess = async |from: &str| {
        let headers = format!("X-API-Key: guess\r\nX-Forwarded-For: 203.0.113.9, {from}\r\n");
        site.get("/metrics", &headers).await.status
    };
    let mut answers = Vec::new();
    for _ in 0..20 {
        answers.push(guess("192.0.2.1").await);
    }
    assert_eq!(answers.first(), Some(&401), "{answers:?}");
    assert_eq!(answers.last(), Some(&429), "{answers:?}");
    assert_eq!(guess("192.0.2.2").await, 401);
}

#[tokio::test]
async fn a_password_that_is_right_after_many_wrong_ones_is_a_guess() {
    let credentials = Credentials::none().with_password("ada", "secret");
    let site = Site::with(credentials, HttpLimits::default()).await;
    let basic = |password: &str| {
        format!("Authorization: Basic {}\r\n", STANDARD.encode(format!("ada:{password}")))
    };
    for _ in 0..20 {
        site.get("/metrics", &basic("wrong")).await;
    }
    assert_eq!(site.get("/metrics", &basic("secret")).await.status, 429);
}

#[tokio::test]
async fn a_caller_that_asks_too_often_is_told_to_wait_and_others_are_served() {
    let site = Site::with_keys(json!({"requests_per_second": 3})).await;
    let mut statuses = Vec::new();
    for _ in 0..20 {
        statuses.push(site.get("/metrics", "X-API-Key: ada-key\r\n").await.status);
    }
    assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    assert_eq!(site.get("/metrics", "X-API-Key: bob-key\r\n").await.status, 200);
}

/// An Ed25519 key that was made for these tests.
const SIGNING_KEY: &str = "MC4CAQAwBQYDK2VwBCIEIDH915kBWv7t5e8z7Hq9dNg81dIyxK1eLNUCxvXycAYU";
const PUBLIC_KEY: &str = "8_BxgEfS4uVJTKJAparlRpe9aB5smmgznRFxtOfukd8";
const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "https://docs.example/mcp";

fn token(claims: &Value, kid: &str) -> String {
    let key = EncodingKey::from_ed_der(&STANDARD.decode(SIGNING_KEY).unwrap());
    let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) };
    encode(&header, claims, &key).unwrap()
}

async fn site_with_tokens() -> Site {
    let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": "one", "x": PUBLIC_KEY}]});
    let folder = Folder::with(&[("keys.json", &keys.to_string())]);
    let app = folder.setup().unwrap().app;
    let source = KeySource::File(folder.path().join("keys.json"));
    let tokens = Tokens::new(ISSUER.into(), AUDIENCE.into(), source, app).await.unwrap();
    let credentials = Credentials::none().with_tokens(tokens);
    Site::start(folder, credentials, HttpLimits::default(), None).await
}

#[tokio::test]
async fn tokens_are_what_their_issuer_signed_for_this_server() {
    let site = site_with_tokens().await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let good = json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now + 600});
    let ask = |token: String| {
        let headers = format!("Authorization: Bearer {token}\r\n");
        let site = &site;
        async move { site.get("/metrics", &headers).await.status }
    };
    assert_eq!(ask(token(&good, "one")).await, 200);
    let changed = |key: &str, value: Value| {
        let mut claims = good.clone();
        claims[key] = value;
        claims
    };
    for (what, claims) in [
        ("expired", changed("exp", json!(now - 600))),
        ("never expires", changed("exp", Value::Null)),
        ("not yet", changed("nbf", json!(now + 600))),
        ("not yet, as text", changed("nbf", json!("tomorrow"))),
        ("another issuer", changed("iss", json!("https://evil.example"))),
        ("for another server", changed("aud", json!("https://other.example"))),
        ("for nobody", changed("aud", Value::Null)),
        ("to nobody", changed("sub", Value::Null)),
    ] {
        assert_eq!(ask(token(&claims, "one")).await, 401, "{what}");
    }
}

#[tokio::test]
async fn tokens_that_nobody_signed_are_worth_nothing() {
    let site = site_with_tokens().await;
    let claims = json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": 4_000_000_000_u64});
    let good = token(&claims, "one");
    let parts: Vec<&str> = good.split('.').collect();
    let url = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let none = url.encode(json!({"alg": "none", "kid": "one"}).to_string());
    let mac = Header { kid: Some("one".into()), ..Header::new(Algorithm::HS256) };
    let with_public_key = EncodingKey::from_secret(&url.decode(PUBLIC_KEY).unwrap());
    for forged in [
        format!("{none}.{}.", parts[1]),
        format!("{none}.{}.{}", parts[1], parts[2]),
        format!("{}.{}.{}", parts[0], parts[1], "A".repeat(86)),
        format!("{}.{}", parts[0], parts[1]),
        encode(&mac, &claims, &with_public_key).unwrap(),
        "a.b.c".to_owned(),
        "x".repeat(20_000),
    ] {
        let answer = site.get("/metrics", &format!("Authorization: Bearer {forged}\r\n")).await;
        assert!(matches!(answer.status, 401 | 429), "{}: {forged}", answer.status);
    }
    let unknown = format!("Authorization: Bearer {}\r\n", token(&claims, "two"));
    assert_eq!(site.get("/metrics", &unknown).await.status, 401);
}

#[tokio::test]
async fn whoever_has_no_token_learns_where_to_get_one() {
    let site = site_with_tokens().await;
    let answer = site.post("", &initialize()).await;
    assert_eq!(answer.status, 401);
    let challenge = answer.header("www-authenticate").unwrap();
    let at = format!("http://{}/.well-known/oauth-protected-resource", site.address);
    assert!(challenge.contains(&format!("resource_metadata=\"{at}\"")), "{challenge}");
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let answer = site.get(path, "").await;
        let metadata: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(metadata["resource"], AUDIENCE);
        assert_eq!(metadata["authorization_servers"], json!([ISSUER]));
    }
    assert_eq!(site.get("/.well-known/oauth-protected-resource/x", "").await.status, 401);
}
