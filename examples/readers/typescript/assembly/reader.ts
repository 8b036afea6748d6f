// A persona that reads the documents with a language model: for each label of the case it asks which line speaks most for it, and quotes
// that line. The model answers with a number, so that whatever a document makes it say, all that it can do is choose a line.

import {
  Artifact, Completion, Discovery, fail, Family, Finding, ModelOffer, newCompletion, noAnswer, NodeRequest, NodeResponse,
} from "../../../../sdk/typescript/assembly";

const SCHEMA = '{"type":"object","additionalProperties":false,"required":["line"],"properties":{"line":{"type":"integer","minimum":0}}}';
const ANSWER_TOKENS: i64 = 50;

/** Asks about one label after the other, as long as there are answers. Every call starts anew: the results in the request say how far it is. */
export function ask(request: NodeRequest): Completion | null {
  const asked = request.completions.length, labels = request.case_.labels;
  if (request.family != Family.Discover || asked >= labels.length) return null;
  if (asked > 0 && request.completions[asked - 1].answers.length == 0) return null;
  const lines = numbered(request, request.models[0]);
  if (lines == "") return null;
  const user = lines + "\nWhich of these lines speaks most for the label \"" + labels[asked] + "\"? 0 if none does.";
  const completion = newCompletion(request.models[0], ANSWER_TOKENS, request.prompt, user);
  completion.schema = SCHEMA;
  return completion;
}

export function node(request: NodeRequest): NodeResponse {
  const response = new NodeResponse(), discovery = new Discovery(), labels = request.case_.labels;
  if (request.family != Family.Discover) {
    response.failure = fail("wrong_family", "this module plays discover");
    return response;
  }
  if (request.completions.length == 0) discovery.missing.push("no language model was asked");
  for (let i = 0; i < min(labels.length, request.completions.length); i++) {
    const result = request.completions[i];
    response.failure = noAnswer(result);
    if (response.failure !== null) return response;
    const finding = quoted(request, number(result.answers[0]));
    if (finding === null) {
      discovery.missing.push("the model names no line for " + labels[i]);
      continue;
    }
    finding.observation = "the model chose it for " + labels[i];
    finding.supports = labels[i];
    finding.source = "model:" + result.model;
    discovery.findings.push(finding);
  }
  const artifact = new Artifact();
  artifact.discovery = discovery;
  response.artifact = artifact;
  return response;
}

/** The end of the line that begins at a place. */
function endOf(text: string, begin: i32): i32 {
  const end = text.indexOf("\n", begin);
  return end < 0 ? text.length : end;
}

/** As many lines as the model has room for, with their numbers, which run through all documents. */
function numbered(request: NodeRequest, offer: ModelOffer): string {
  const rows: string[] = [], documents = request.case_.documents;
  let room = 3 * (offer.contextTokens - ANSWER_TOKENS) - String.UTF8.byteLength(request.prompt) - 1000;
  for (let d = 0; d < documents.length; d++) {
    const text = documents[d].text;
    for (let begin = 0, end = 0; begin < text.length; begin = end + 1) {
      end = endOf(text, begin);
      const row = (rows.length + 1).toString() + "| " + text.substring(begin, end) + "\n";
      room -= String.UTF8.byteLength(row);
      if (room < 0) return rows.join("");
      rows.push(row);
    }
  }
  return rows.join("");
}

/** Quotes the line of a number; null where there is none, and where nothing stands in it. */
function quoted(request: NodeRequest, n: i32): Finding | null {
  for (let d = 0; d < request.case_.documents.length; d++) {
    const document = request.case_.documents[d];
    for (let begin = 0, end = 0; begin < document.text.length; begin = end + 1) {
      end = endOf(document.text, begin);
      if (--n != 0) continue;
      const finding = new Finding();
      finding.document = document.name;
      finding.quote = document.text.substring(begin, end).trim();
      finding.strength = 0.6;
      return finding.quote == "" ? null : finding;
    }
  }
  return null;
}

/** The number in an answer. The schema lets no other stand there. */
function number(answer: string): i32 {
  let n: i32 = 0, i = 0;
  while (i < answer.length && !isDigit(answer.charCodeAt(i))) i++;
  for (; i < answer.length && isDigit(answer.charCodeAt(i)) && n < 100_000_000; i++) n = 10 * n + answer.charCodeAt(i) - 0x30;
  return n;
}

function isDigit(c: i32): bool { return c >= 0x30 && c <= 0x39; }
