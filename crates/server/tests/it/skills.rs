//! Skills over the protocol.

use std::collections::BTreeSet;

use rutter_server::profiles::Profile;
use rutter_server::skills;
use serde_json::{Value, json};

use crate::server::{Client, Folder};

const EXTENSION: &str = "io.modelcontextprotocol/skills";
const COMPANION: &str = "skill://rutter-workflow/SKILL.md";

fn page(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\n# {name}\n")
}

/// A folder with a skill of its own.
fn own() -> Folder {
    Folder::with(&[
        ("rutter.yaml", "skills: {path: kept}\n"),
        ("kept/ours/SKILL.md", &page("ours")),
    ])
}

async fn skill_uris(client: &mut Client) -> Vec<String> {
    let result = client.result("skills/list", json!({})).await;
    let of = |skill: &Value| skill["uri"].as_str().unwrap().to_owned();
    result["skills"].as_array().unwrap().iter().map(of).collect()
}

async fn resource_uris(client: &mut Client) -> Vec<String> {
    let result = client.result("resources/list", json!({})).await;
    let of = |resource: &Value| resource["uri"].as_str().unwrap().to_owned();
    result["resources"].as_array().unwrap().iter().map(of).collect()
}

#[tokio::test]
async fn what_is_listed_is_what_is_read() {
    let mut client = own().connect().await;
    assert_eq!(skill_uris(&mut client).await, ["skill://ours/SKILL.md", COMPANION]);
    let list = client.result("skills/list", json!({})).await;
    assert_eq!(
        list.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["skills"],
        "of the older era"
    );
    for skill in list["skills"].as_array().unwrap() {
        let got = client.result("skills/get", json!({"uri": skill["uri"]})).await;
        assert_eq!(got, json!({"skill": skill}));
        for file in skill["resources"].as_array().unwrap() {
            let read = client.result("resources/read", json!({"uri": file["uri"]})).await;
            let text = read["contents"][0]["text"].as_str().unwrap();
            assert_eq!(file["digest"], skills::digest(text.as_bytes()));
            assert_eq!(file["size"], text.len());
        }
    }
    let listed = client.result("resources/list", json!({})).await;
    let listed = listed["resources"].as_array().unwrap();
    let ours = listed.iter().find(|resource| resource["uri"] == "skill://ours/SKILL.md").unwrap();
    assert_eq!((&ours["name"], &ours["description"]), (&json!("ours"), &json!("About ours.")));
    assert_eq!(ours["mimeType"], "text/markdown");
}

#[tokio::test]
async fn the_newer_era_says_how_long_an_entry_is_good() {
    for (folder, ttl) in [(Folder::empty(), 60_000), (own(), 0)] {
        let mut client = folder.connect_modern();
        let found = client.result("server/discover", json!({})).await;
        assert_eq!(found["capabilities"]["extensions"][EXTENSION], json!({"directoryRead": true}));
        assert!(found["capabilities"]["resources"].is_object());
        let list = client.result("skills/list", json!({})).await;
        let got = client.result("skills/get", json!({"uri": COMPANION})).await;
        for result in [&list, &got] {
            assert_eq!(result["resultType"], "complete");
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(ttl), &json!("private")));
        }
        let directory = json!({"uri": "skill://rutter-workflow"});
        let children = client.result("resources/directory/read", directory).await;
        assert_eq!(children["resultType"], "complete");
        assert_eq!(
            children["resources"][1],
            json!({"uri": "skill://rutter-workflow/references", "name": "references", "mimeType": "inode/directory"})
        );
    }
}

#[tokio::test]
async fn bad_questions_get_an_answer() {
    let mut client = Folder::empty().connect().await;
    for uri in [
        "skill://nowhere/SKILL.md",
        "skill://rutter-workflow",
        "",
        "acdc://rutter/guides/configure",
    ] {
        let error = client.error("skills/get", json!({"uri": uri})).await;
        assert_eq!(
            error,
            (-32602, "there is no skill at that URI; list the skills to see what there is".into())
        );
    }
    for uri in [COMPANION, "skill://nowhere", "skill://rutter-workflow/"] {
        let error = client.error("resources/directory/read", json!({"uri": uri})).await;
        assert_eq!(error.0, -32602, "{uri}");
    }
    for (method, params) in [
        ("skills/get", json!({})),
        ("skills/get", json!({"uri": 1})),
        ("skills/list", json!({"cursor": 1})),
        ("resources/directory/read", json!({"uri": []})),
    ] {
        let message = format!("the parameters of `{method}` are missing or of the wrong type");
        assert_eq!(client.error(method, params).await, (-32602, message));
    }
    assert_eq!(client.error("skills/list", json!({"cursor": "bogus"})).await.0, -32602);
    assert_eq!(client.error("skills/put", json!({})).await.0, -32601);
    for uri in ["skill://rutter-workflow/../SKILL.md", "skill://rutter-workflow/nothing.md"] {
        let error = client.error("resources/read", json!({"uri": uri})).await;
        assert_eq!(error, (-32002, "resource not found".into()));
    }
}

#[tokio::test]
async fn skills_are_there_without_a_profile_and_in_the_one_they_accompany() {
    let surface = |profile: Option<Profile>| async move {
        let folder = match profile {
            Some(profile) => Folder::empty().profile(profile),
            None => Folder::empty(),
        };
        let mut client = folder.connect_modern();
        let found = client.result("server/discover", json!({})).await;
        let declared = found["capabilities"]["extensions"][EXTENSION].is_object();
        let listed = resource_uris(&mut client).await.iter().any(|uri| uri.starts_with("skill:"));
        let method = client.call("skills/list", json!({})).await["error"]["code"] != -32601;
        let read = client.call("resources/read", json!({"uri": COMPANION})).await;
        (declared, method, read["result"].is_object(), listed)
    };
    assert_eq!(surface(None).await, (true, true, true, true));
    // The spec's surface has no resources: the skill is read without being listed among them.
    assert_eq!(surface(Some(Profile::Acm)).await, (true, true, true, false));
    for profile in [Profile::Acdc, Profile::Architecture, Profile::Prompts, Profile::Ralph] {
        assert_eq!(surface(Some(profile)).await, (false, false, false, false), "{profile:?}");
    }
}

#[tokio::test]
async fn a_changed_skill_is_served_and_announced() {
    let mut client = own().connect().await;
    let uri = "skill://ours/SKILL.md";
    client.result("resources/subscribe", json!({"uri": uri})).await;
    let before = client.result("skills/get", json!({"uri": uri})).await;
    client.folder.write("kept/ours/SKILL.md", page("ours") + "More.\n");
    let after = client.result("skills/get", json!({"uri": uri})).await;
    assert_ne!(before["skill"]["resources"][0]["digest"], after["skill"]["resources"][0]["digest"]);
    let updated = client.notification("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], uri);

    client.folder.write("kept/new/SKILL.md", page("new"));
    assert_eq!(skill_uris(&mut client).await[0], "skill://new/SKILL.md");
    client.notification("notifications/resources/list_changed").await;
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = Folder::with(&[("rutter.yaml", "skills: {path: nowhere}\n")]);
    assert_eq!(
        folder.setup().unwrap_err(),
        "rutter.yaml:1: `skills.path`: there is no folder `nowhere`"
    );
}

/// The thirteen tools of the process, and the others that the guide has a section on.
#[tokio::test]
async fn the_guide_has_every_tool() {
    let guide = include_str!("../../../../skills/rutter-workflow/references/tool-guide.md");
    let part = |from: &str| {
        guide.split(&format!("\n## {from}\n")).nth(1).unwrap().split("\n## ").next().unwrap()
    };
    let headed = |part: &str| {
        let headings =
            part.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
        headings.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let process = headed(part("Process"));
    assert_eq!(process.len(), 13, "{process:?}");
    for section in part("Process").split("\n### ").skip(1) {
        assert!(section.contains("**Use it**") && section.contains("**Not**"), "{section}");
    }
    let tools = |profile: Profile| async move {
        let setup = Folder::with(&[(".ralph/.keep", "")]).profile(profile).setup().unwrap();
        let names =
            setup.app.tools(setup.app.scope()).into_iter().map(|tool| tool.name().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    let acm = tools(Profile::Acm).await;
    assert!(acm.is_subset(&process), "not in the guide: {:?}", acm.difference(&process));
    let documents = headed(part("Documents"));
    assert_eq!(tools(Profile::Acdc).await, documents);
    for tool in tools(Profile::Ralph).await {
        assert!(part("Board").contains(&format!("`{tool}`")), "{tool} is not in the guide");
    }
    let skill = include_str!("../../../../skills/rutter-workflow/SKILL.md");
    for tool in &process {
        assert!(skill.contains(&format!("`{tool}`")), "{tool} is not in the skill");
    }
}
