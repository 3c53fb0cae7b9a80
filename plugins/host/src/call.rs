//! One `tools/call`.

use std::{sync::Arc, thread};

use serde_json::{Map, Value, json};

use crate::{
    calls::{RUNNING_MAX, Refused},
    error::Error,
    lent::Lent,
    log,
    message::{Fault, PARAMETERS, Request},
    result, schema,
    server::{Server, whole},
};

impl Server {
    /// Begins a call, or answers at once what is no call.
    pub(crate) fn call(self: &Arc<Self>, mut request: Request) {
        let input = request.params.remove("arguments");
        let input = input.unwrap_or_else(|| json!({}));
        let answer = match self.checked(&request.params, &input) {
            Err(fault) => Err(fault),
            Ok(Err(message)) => Ok(result::failed(&message)),
            Ok(Ok(tool)) => {
                let token = request
                    .params
                    .get("_meta")
                    .and_then(|meta| meta.get("progressToken"));
                let lent = Arc::new(Lent::new(token.cloned(), &self.writer));
                match self.begin(&request, tool, &input, &lent) {
                    Ok(()) => return,
                    Err(message) => Ok(result::failed(&message)),
                }
            }
        };
        let answer = answer.map(|result| whole(result, request.stateless));
        self.answer(&request.id, answer);
    }

    /// The tool's name. The inner error is for the model (SEP-1303), the outer one for the client.
    fn checked(
        &self,
        params: &Map<String, Value>,
        input: &Value,
    ) -> Result<Result<String, String>, Fault> {
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| Fault::new(PARAMETERS, "name is missing: name a tool"))?;
        let Some(validator) = self.plugin.tools.input(name) else {
            return Err(Fault::new(PARAMETERS, format!("there is no tool {name:?}")));
        };
        if !input.is_object() {
            return Ok(Err("arguments must be a JSON object".to_owned()));
        }
        let faults = schema::faults(validator, input);
        Ok(if faults.is_empty() {
            Ok(name.to_owned())
        } else {
            Err(format!(
                "the input of {name} is not right: {}",
                faults.join("; ")
            ))
        })
    }

    /// Runs the call on a thread; the error says why not.
    fn begin(
        self: &Arc<Self>,
        request: &Request,
        tool: String,
        input: &Value,
        lent: &Arc<Lent>,
    ) -> Result<(), String> {
        self.calls.begin(&request.id, lent).map_err(|refused| match refused {
            Refused::Full => format!(
                "{RUNNING_MAX} calls of this plugin run already: try again when one of them has ended"
            ),
            Refused::InUse => format!("a call with the id {} runs already", request.id),
        })?;
        let (server, lent, input) = (Arc::clone(self), Arc::clone(lent), input.to_string());
        let (id, stateless) = (request.id.clone(), request.stateless);
        let spawned = thread::Builder::new().name(tool.clone()).spawn(move || {
            let result = match server.plugin.state.call(&tool, &input, &lent) {
                Ok(text) => result::read(&text),
                Err(error) => failed(&tool, &error),
            };
            // From here on the id is free, and a cancellation comes too late.
            server.calls.ended(&id);
            // Nobody waits for the answer to a request that was cancelled.
            if !lent.is_cancelled() {
                server.answer(&id, Ok(whole(result, stateless)));
            }
            server.calls.answered();
        });
        spawned.map(drop).map_err(|error| {
            self.calls.ended(&request.id);
            self.calls.answered();
            format!("the call cannot be run: {error}")
        })
    }
}

/// The model learns what happened, and so does the log.
fn failed(tool: &str, error: &Error) -> Value {
    log(&format!("{tool}: {error}"));
    result::failed(&error.to_string())
}
