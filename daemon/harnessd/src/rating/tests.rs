//! The rater as a program, and tools that say nothing of themselves.

use std::{fmt::Write as _, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc};

use futures_util::{FutureExt as _, future::BoxFuture, future::join_all};
use harness_authorize::{Decision, Evaluation, Why};
use harness_execute::ToolGroup;
use harness_model::{
    Annotations, Call, CallContext, CallId, CallRequest, Delivery, ErrorCode, Front, Outcome,
    SessionId, Tool, ToolOutput,
};
use harness_record::Record;
use serde_json::{Map, Value, json};

use crate::{
    call::Resolved,
    catalogue::Catalogue,
    config::{AgentName, Config, Mode, Places, PlacesRequest, VariableMap, Variables},
    harness::Harness,
    keeper::{self, tests::Place},
};

/// A group whose one tool is made by the test.
struct Group(Tool);

impl ToolGroup for Group {
    fn name(&self) -> &'static str {
        "unlabeled"
    }

    fn tools(&self) -> Vec<Tool> {
        vec![self.0.clone()]
    }

    fn execute<'a>(&'a self, _: &'a Call, _: &'a CallContext) -> BoxFuture<'a, Outcome> {
        async { Ok(ToolOutput::new("it ran", json!({}))) }.boxed()
    }
}

/// A harness in this process, with a keeper and a rater of its own.
struct Desk {
    place: Place,
    /// More lines of the configuration.
    config: String,
}

impl Desk {
    /// `script` is what the rater does.
    fn new(script: &str) -> Self {
        let desk = Self {
            place: Place::new(),
            config: String::new(),
        };
        desk.write("rater", script);
        desk.configured("rater", "")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.directory.join(name)
    }

    /// A program that counts how often it is asked, and then does what it does.
    fn write(&self, name: &str, script: &str) {
        let path = self.path(name);
        let script = format!("#!/bin/sh\necho >> \"$0.asked\"; cat > \"$0.question\"\n{script}\n");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn configured(mut self, rater: &str, more: &str) -> Self {
        let workspace = self.place.directory.display();
        self.config = format!("workspace = \"{workspace}\"\n[approval]\nhold_sec = 0\n");
        if !rater.is_empty() {
            writeln!(self.config, "rater = [\"{workspace}/{rater}\", \"1\"]").unwrap();
        }
        self.config.push_str(more);
        self
    }

    fn asked(&self) -> usize {
        let text = std::fs::read_to_string(self.path("rater.asked"));
        text.unwrap_or_default().lines().count()
    }

    fn places(&self) -> Places {
        let request = PlacesRequest {
            agent: AgentName::default(),
            mode: Some(Mode::User),
            config: Some(self.path("a.toml")),
            state: Some(self.place.directory.clone()),
            runtime: Some(self.place.directory.clone()),
        };
        Places::resolve(request, &Variables::new(), 0).unwrap()
    }

    async fn harness(&self) -> Arc<Harness> {
        std::fs::write(self.path("a.toml"), &self.config).unwrap();
        let places = self.places();
        let mut loaded = Config::load(&places).unwrap();
        loaded.config.tool_groups.push("unlabeled".to_owned());
        let path = ("PATH".to_owned(), std::env::var("PATH").unwrap());
        let record = Record::open(&self.path("state.db")).unwrap();
        let (keeper, _) = keeper::connect(self.place.options()).await.unwrap();
        let variables = VariableMap::from([path]);
        let harness = Harness::new(places, loaded, variables, record, keeper);
        harness.await.unwrap()
    }

    /// As after a restart of the daemon.
    async fn restarted(&self, harness: Arc<Harness>) -> Arc<Harness> {
        harness.record().close().await;
        drop(harness);
        self.harness().await
    }
}

fn tool(description: &str, annotations: Annotations) -> Tool {
    Tool {
        group: "unlabeled".to_owned(),
        name: "act".to_owned(),
        title: None,
        description: description.to_owned(),
        input_schema: json!({"type": "object", "properties": {"b": {}, "a": {}}}),
        output_schema: None,
        annotations,
        direct: false,
    }
}

fn silent(description: &str) -> Tool {
    tool(description, Annotations::default())
}

fn resolved(tool: &Tool) -> Resolved {
    let catalogue = Catalogue::of(vec![Arc::new(Group(tool.clone()))]).unwrap();
    let request = CallRequest {
        group: None,
        tool: tool.name.clone(),
        input: Map::new(),
    };
    let call = Call {
        id: CallId::generate(),
        group: tool.group.clone(),
        tool: tool.name.clone(),
        input: Map::new(),
        started_at: harness_model::Timestamp::default(),
        allowance: None,
    };
    let entry = catalogue.resolve(&request).unwrap();
    Resolved { entry, call }
}

fn context() -> CallContext {
    CallContext {
        front: Front::Mcp,
        session: SessionId::generate(),
        uid: None,
        parent: None,
        call: None,
        progress: None,
        meta: None,
        delivery: Delivery::default(),
        elicit: None,
    }
}

/// Makes a call; what the rules said of it, and whether it ran.
async fn call(harness: &Arc<Harness>, tool: &Tool) -> (Evaluation, bool) {
    let mut resolved = resolved(tool);
    let outcome = harness.judge_and_execute(&mut resolved, &context()).await;
    let evaluation = harness.evaluate(tool, &resolved.call);
    if let Err(refusal) = &outcome {
        assert_eq!(refusal.code, ErrorCode::NeedsApproval, "{refusal}");
    }
    (evaluation, outcome.is_ok())
}

/// The rater's rule.
fn word(evaluation: &Evaluation) -> &str {
    let rule = evaluation.matched.last().unwrap();
    assert_eq!(rule.layer, "[approval] rater", "{evaluation:?}");
    assert!(
        rule.remedy.contains("[tool.unlabeled__act] mode"),
        "{rule:?}"
    );
    &rule.rule
}

const CHANGES: &str = r#"echo '{"changes": true, "reason": "it deletes rows"}'"#;
const READS: &str = r#"echo '{"changes": false}'"#;

#[tokio::test]
async fn a_tool_that_is_rated_as_changing_something_is_asked_about_and_another_runs() {
    let desk = Desk::new(CHANGES);
    let harness = desk.harness().await;
    let tool = silent("acts");
    let (evaluation, ran) = call(&harness, &tool).await;
    assert_eq!((evaluation.why, ran), (Some(Why::RatedChanges), false));
    assert_eq!(
        word(&evaluation),
        "rater rates the tool as changing something: it deletes rows"
    );
    let cards = harness.approvals().list(true, 10).await.unwrap();
    assert_eq!(cards[0].why, "rated_changes");
    assert!(cards[0].rule.contains("it deletes rows"), "{cards:?}");
    let question = std::fs::read_to_string(desk.path("rater.question")).unwrap();
    let question: Value = serde_json::from_str(&question).unwrap();
    assert_eq!(
        question,
        json!({
            "group": "unlabeled",
            "tool": "act",
            "description": "acts",
            "input_schema": tool.input_schema,
            "annotations": {},
        })
    );
    let desk = Desk::new(READS);
    let (evaluation, ran) = call(&desk.harness().await, &tool).await;
    assert_eq!((evaluation.decision, ran), (Decision::Allow, true));
    assert_eq!(
        word(&evaluation),
        "rater rates the tool as changing nothing"
    );
}

#[tokio::test]
async fn each_question_is_asked_once_restarts_included() {
    let mut desk = Desk::new(READS);
    let harness = desk.harness().await;
    for _ in 0..3 {
        assert!(call(&harness, &silent("acts")).await.1);
    }
    assert_eq!(desk.asked(), 1);
    let mut reordered = silent("acts");
    reordered.input_schema =
        serde_json::from_str(r#"{"properties": {"a": {}, "b": {}}, "type": "object"}"#).unwrap();
    call(&harness, &reordered).await;
    let harness = desk.restarted(harness).await;
    assert!(call(&harness, &silent("acts")).await.1);
    assert_eq!(desk.asked(), 1);
    // What the server says of the tool now is another question, and so is another rater.
    call(&harness, &silent("acts otherwise")).await;
    assert_eq!(desk.asked(), 2);
    desk.config = desk.config.replace("\"1\"", "\"2\"");
    let harness = desk.restarted(harness).await;
    call(&harness, &silent("acts otherwise")).await;
    assert_eq!(desk.asked(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_come_at_once_ask_once() {
    let desk = Desk::new(READS);
    let harness = desk.harness().await;
    let tool = silent("acts");
    let calls = (0..8).map(|_| call(&harness, &tool));
    let ran = join_all(calls).await;
    assert!(ran.iter().all(|(_, ran)| *ran));
    assert_eq!(desk.asked(), 1);
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_the_question_to_the_next() {
    let first_hangs =
        "[ $(wc -l < \"$0.asked\") -gt 1 ] || { echo > \"$0.here\"; exec sleep 1000; }";
    let desk = Desk::new(&format!("{first_hangs}\n{READS}"));
    let here = desk.path("rater.here");
    nix::unistd::mkfifo(&here, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let harness = desk.harness().await;
    let (first, second) = (harness.clone(), harness.clone());
    let first = tokio::spawn(async move { first.rate(&silent("acts")).await });
    let asked = tokio::task::spawn_blocking(|| std::fs::read_to_string(here));
    assert_eq!(asked.await.unwrap().unwrap(), "\n");
    let second = tokio::spawn(async move { call(&second, &silent("acts")).await });
    first.abort();
    first.await.unwrap_err();
    assert!(second.await.unwrap().1);
    assert_eq!(desk.asked(), 2);
}

#[tokio::test]
async fn without_a_word_of_the_rater_the_tool_counts_as_changing_something() {
    for (script, said) in [
        ("exit 3", "exit code 3"),
        ("echo no key >&2; exit 1", "no key"),
        ("true", "no JSON object"),
        ("echo false", "no JSON object"),
        (r#"echo '{"changes": "no"}'"#, "not understood"),
        (r#"echo '{"change": false}'"#, "not understood"),
        (
            r#"printf '{"changes": false, "reason": "\377"}'"#,
            "not UTF-8",
        ),
        ("rm \"$0\"; kill -9 $$", "SIGKILL"),
    ] {
        let desk = Desk::new(script);
        let harness = desk.harness().await;
        let tool = silent("acts");
        for _ in 0..2 {
            let (evaluation, ran) = call(&harness, &tool).await;
            assert_eq!(
                (evaluation.why, ran),
                (Some(Why::RatedChanges), false),
                "{script}"
            );
            let word = word(&evaluation);
            assert!(
                word.contains("gave no rating") && word.contains(said),
                "{script}: {word}"
            );
        }
        // It is not asked again at once, and nothing of it is kept.
        assert_eq!(desk.asked(), 1, "{script}");
        assert_eq!(harness.record().ratings().await.unwrap(), []);
        // A reload is a reason to ask again, and so is a restart.
        desk.write("rater", READS);
        let mut loaded = Config::load(&desk.places()).unwrap();
        loaded.config.tool_groups.push("unlabeled".to_owned());
        harness.configure(loaded);
        assert!(call(&harness, &tool).await.1, "{script}");
        assert_eq!(desk.asked(), 2, "{script}");
    }
}

#[tokio::test]
async fn without_a_rater_unlabeled_tools_are_asked_about_unless_they_need_no_rating() {
    let desk = Desk::new("").configured("", "");
    let (evaluation, ran) = call(&desk.harness().await, &silent("acts")).await;
    assert_eq!((evaluation.why, ran), (Some(Why::RatedChanges), false));
    assert!(word(&evaluation).contains("names nobody"), "{evaluation:?}");
    let remedy = &evaluation.deciding().unwrap().remedy;
    assert!(remedy.contains("rate_unlabeled = false"), "{remedy}");
    let desk = Desk::new(CHANGES).configured("rater", "rate_unlabeled = false\n");
    let (evaluation, ran) = call(&desk.harness().await, &silent("acts")).await;
    assert!(ran, "{evaluation:?}");
    assert_eq!((evaluation.matched.len(), desk.asked()), (1, 0));
}

#[tokio::test]
async fn the_rater_is_asked_only_where_its_word_matters() {
    let labelled = Annotations {
        idempotent_hint: Some(true),
        ..Annotations::default()
    };
    for (annotations, more) in [
        (labelled, ""),
        (Annotations::default(), "mode = \"protective\"\n"),
        (Annotations::default(), "mode = \"off\"\n"),
        (Annotations::default(), "[tool.\"*\"]\nmode = \"ask\"\n"),
    ] {
        let desk = Desk::new(CHANGES).configured("rater", more);
        let tool = tool("acts", annotations);
        let (evaluation, _) = call(&desk.harness().await, &tool).await;
        assert_ne!(evaluation.why, Some(Why::RatedChanges), "{more}");
        assert_eq!(desk.asked(), 0, "{more}");
    }
}
