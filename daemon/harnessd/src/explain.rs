//! Why a call would be let through, asked about or refused.

use harness_authorize::Why;
use harness_model::{Call, CallId, CallRequest, ExplainedRule, Explanation, Refusal, Timestamp};
use serde_json::{Map, Value};

use crate::harness::Harness;

impl Harness {
    /// The evaluation of a call that is not made. Its hooks are named and not run; the rater is asked as a call would
    /// have it asked.
    pub(crate) async fn explain(
        &self,
        tool: String,
        input: Map<String, Value>,
    ) -> Result<Explanation, Refusal> {
        let request = CallRequest {
            group: None,
            tool,
            input,
        };
        let entry = self.find(&request)?;
        let input = entry.validate(request.input)?;
        // What the tool would refuse by itself is explained as it came.
        let prepared = entry.group.prepare(&entry.tool.name, input.clone());
        let input = prepared.unwrap_or(input);
        let mut call = Call {
            id: CallId::generate(),
            group: entry.tool.group.clone(),
            tool: entry.tool.name.clone(),
            input,
            started_at: Timestamp::default(),
            allowance: None,
        };
        self.rate(&entry.tool).await;
        let evaluation = self.evaluate(&entry.tool, &call);
        call.allowance = evaluation.allowance;
        let sandbox = entry.group.sandbox(&call);
        let rules = evaluation.matched.into_iter().map(|rule| ExplainedRule {
            layer: rule.layer,
            rule: rule.rule,
            decision: rule.decision.to_string(),
            remedy: rule.remedy,
        });
        Ok(Explanation {
            decision: evaluation.decision.to_string(),
            why: evaluation.why.map(|why| Why::as_str(why).to_owned()),
            rules: rules.collect(),
            scope: evaluation.scope,
            hooks: self.explain_hooks(&entry.tool),
            sandbox: sandbox.filter(|rules| !rules.is_default()),
        })
    }
}
