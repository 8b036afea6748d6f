// Tests: each exported function is one, run by run.test.mjs.

import { ask, node } from "../assembly/reader";
import { CompletionOutcome, CompletionResult, Document, Family, ModelOffer, NodeRequest } from "../../../../sdk/typescript/assembly";

function request(answers: string[]): NodeRequest {
  const r = new NodeRequest(), document = new Document(), offer = new ModelOffer();
  r.family = Family.Discover;
  r.prompt = "Read.";
  r.case_.labels = ["quota", "leak"];
  document.name = "log";
  document.text = "ok\n  quota exceeded\n";
  r.case_.documents.push(document);
  offer.model = "small";
  offer.contextTokens = 4000;
  offer.answerTokens = 500;
  r.models.push(offer);
  for (let i = 0; i < answers.length; i++) {
    const result = new CompletionResult();
    result.model = "small";
    result.outcome = CompletionOutcome.Answered;
    result.answers = [answers[i]];
    r.completions.push(result);
  }
  return r;
}

export function eachLabelIsAskedAbout(): void {
  const first = ask(request([]))!;
  assert(first.answerTokens == 50 && first.samples == 1 && first.messages.length == 2);
  assert(first.messages[1].content.startsWith("1| ok\n2|   quota exceeded\n"));
  assert(ask(request(["{}"]))!.messages[1].content.includes("the label \"leak\""));
  assert(ask(request(["{}", "{}"])) === null);
}

export function whatTheModelChoosesIsQuoted(): void {
  const discovery = node(request(['{"line": 2}', '{"line":0}'])).artifact!.discovery!;
  assert(discovery.findings.length == 1 && discovery.missing.length == 1);
  assert(discovery.findings[0].quote == "quota exceeded" && discovery.findings[0].source == "model:small");
}

export function withoutAnAnswerItFails(): void {
  const r = request([""]);
  r.completions[0].answers = [];
  r.completions[0].outcome = CompletionOutcome.Failed;
  r.completions[0].detail = "down";
  const failure = node(r).failure!;
  assert(failure.code == "model_failed" && failure.message == "down");
}
