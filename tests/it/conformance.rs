//! Behavior of the GraphQL library on which the server depends, tested on a small schema: two releases of the library broke it.

use async_graphql::{EmptyMutation, EmptySubscription, Object, Schema};
use serde_json::{Value, json};

struct Query;

struct Child;

#[Object]
impl Query {
    /// Completes long after its sibling.
    async fn slow(&self) -> i32 {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        1
    }

    async fn quick(&self) -> i32 {
        2
    }

    async fn child(&self) -> Option<Child> {
        Some(Child)
    }

    async fn nullable(&self) -> Option<async_graphql::Result<Child>> {
        Some(Err("refused".into()))
    }

    async fn children(&self) -> Vec<Option<Child>> {
        vec![Some(Child), Some(Child)]
    }
}

#[Object]
impl Child {
    async fn fine(&self) -> i32 {
        3
    }

    async fn broken(&self) -> async_graphql::Result<i32> {
        Err("broken".into())
    }
}

async fn run(query: &str) -> Value {
    let schema = Schema::new(Query, EmptyMutation, EmptySubscription);
    serde_json::to_value(schema.execute(query).await).expect("JSON")
}

#[tokio::test]
async fn response_keys_come_in_the_order_of_the_document() {
    let schema = Schema::new(Query, EmptyMutation, EmptySubscription);
    let response = serde_json::to_string(&schema.execute("{ slow quick again: slow }").await.data).expect("JSON");
    assert_eq!(response, r#"{"slow":1,"quick":2,"again":1}"#);
}

#[tokio::test]
async fn a_failing_non_null_field_nulls_only_its_parent() {
    let response = run("{ child { fine broken } quick }").await;
    assert_eq!(response["data"], json!({ "child": null, "quick": 2 }));
    assert_eq!(response["errors"][0]["path"], json!(["child", "broken"]));
    let response = run("{ children { broken } quick }").await;
    assert_eq!(response["data"], json!({ "children": [null, null], "quick": 2 }));
}

#[tokio::test]
async fn a_failing_nullable_field_does_not_affect_its_siblings() {
    let response = run("{ nullable { fine } quick }").await;
    assert_eq!(response["data"], json!({ "nullable": null, "quick": 2 }));
    assert_eq!(response["errors"][0]["path"], json!(["nullable"]));
}
