//! The one table of endpoints.

use axum::Router;

use super::{
    approvals, calls, events, harness, plugins,
    request::Api,
    route::{Operation, Route, get, post},
    tasks, tools, units, unknown, wakes,
};

const fn operation(id: &'static str, summary: &'static str) -> Operation {
    Operation { id, summary }
}

/// Every endpoint, in the order of the document.
pub(super) fn routes() -> Vec<Route> {
    let nouns = [
        of_harness(),
        of_tasks(),
        of_units(),
        of_tools(),
        of_plugins(),
        of_wakes(),
        of_approvals(),
        of_records(),
    ];
    nouns.into_iter().flatten().collect()
}

fn of_harness() -> Vec<Route> {
    let status = operation("status", "What the harness says of itself");
    let reload = operation(
        "reload",
        "Read the configuration anew; a bad one is refused and the old one runs on",
    );
    let document = operation("getDocument", "This document");
    vec![
        get("/v1/status", status, harness::status),
        post("/v1/reload", reload, harness::reload),
        get("/v1/openapi.json", document, harness::document),
    ]
}

fn of_tasks() -> Vec<Route> {
    let list = operation("listTasks", "Tasks, newest first");
    let run = operation(
        "runTask",
        "Start a task: the tool `run` of the group `bash`",
    );
    let status = operation("getTask", "A task, after waiting for its end if asked");
    let output = operation(
        "getTaskOutput",
        "A piece of a task's output, or all of it as it grows",
    );
    let stop = operation("stopTask", "Stop a task and its whole tree");
    let restart = operation("restartTask", "Start a task anew under its id");
    let signal = operation("signalTask", "Send a signal to a task");
    vec![
        get("/v1/tasks", list, tasks::list),
        post("/v1/tasks", run, tasks::run),
        get("/v1/tasks/{id}", status, tasks::status),
        get("/v1/tasks/{id}/output", output, tasks::output),
        post("/v1/tasks/{id}/stop", stop, tasks::stop),
        post("/v1/tasks/{id}/restart", restart, tasks::restart),
        post("/v1/tasks/{id}/signal", signal, tasks::signal),
    ]
}

fn of_units() -> Vec<Route> {
    let list = operation("listUnits", "Units of every kind, newest first");
    let status = operation("getUnit", "A unit");
    let invocations = operation("listInvocations", "The newest runs of a unit");
    vec![
        get("/v1/units", list, units::list),
        get("/v1/units/{id}", status, units::status),
        get(
            "/v1/units/{id}/invocations",
            invocations,
            units::invocations,
        ),
    ]
}

fn of_tools() -> Vec<Route> {
    let list = operation("listTools", "The tools of every group that is switched on");
    let show = operation("getTool", "A tool, with the schema of its input");
    let call = operation("callTool", "Call a tool through the gate");
    vec![
        get("/v1/tools", list, tools::list),
        get("/v1/tools/{name}", show, tools::show),
        post("/v1/tools/{name}/call", call, tools::call),
    ]
}

fn of_plugins() -> Vec<Route> {
    let list = operation("listPlugins", "MCP servers and plugins");
    let status = operation("getPlugin", "An MCP server or plugin");
    let start = operation("startPlugin", "Start one, whatever it was stopped for");
    let stop = operation("stopPlugin", "Stop one; no call starts it again");
    let restart = operation("restartPlugin", "Stop one and start it again");
    let logs = operation(
        "getPluginLogs",
        "The end of what one wrote to its standard error",
    );
    vec![
        get("/v1/plugins", list, plugins::list),
        get("/v1/plugins/{name}", status, plugins::status),
        get("/v1/plugins/{name}/logs", logs, plugins::logs),
        post("/v1/plugins/{name}/start", start, plugins::start),
        post("/v1/plugins/{name}/stop", stop, plugins::stop),
        post("/v1/plugins/{name}/restart", restart, plugins::restart),
    ]
}

fn of_wakes() -> Vec<Route> {
    let list = operation("listWakes", "Wakes that are due, oldest first");
    let receive = operation("receiveWakes", "Take delivery of the wakes that are due");
    let acknowledge = operation("acknowledgeWakes", "Acknowledge wakes");
    vec![
        get("/v1/wakes", list, wakes::list),
        post("/v1/wakes/recv", receive, wakes::receive),
        post("/v1/wakes/ack", acknowledge, wakes::acknowledge),
    ]
}

fn of_approvals() -> Vec<Route> {
    let list = operation("listApprovals", "Questions that wait for a person's answer");
    let answer = operation("answerApprovals", "Answer questions");
    let standing = operation("listStandingAnswers", "Answers that hold for calls to come");
    let revoke = operation("revokeStandingAnswer", "Take an answer for good back");
    let explain = operation(
        "explainCall",
        "Which rules decide about a call; runs nothing",
    );
    vec![
        get("/v1/approvals", list, approvals::list),
        post("/v1/approvals/answer", answer, approvals::answer),
        get("/v1/approvals/standing", standing, approvals::standing),
        post("/v1/approvals/revoke", revoke, approvals::revoke),
        post("/v1/explain", explain, approvals::explain),
    ]
}

fn of_records() -> Vec<Route> {
    let calls = operation("listCalls", "Calls of tools, newest first");
    let events = operation("followEvents", "Events as they happen (server-sent events)");
    vec![
        get("/v1/calls", calls, calls::list),
        get("/v1/events", events, events::follow),
    ]
}

/// The router of the table; unknown paths and wrong methods are answered in the same form.
pub(super) fn router(api: Api) -> Router {
    let start = Router::new();
    let router = routes().into_iter().fold(start, |router, route| {
        router.route(route.path, route.router)
    });
    router
        .fallback(unknown::path)
        .method_not_allowed_fallback(unknown::method)
        .with_state(api)
}
