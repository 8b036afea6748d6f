// A guest that reads any message of the contract and writes it again: the test vectors are put through it.
//
// The request is a byte with the length of a type's name, the name, and the message. The response begins with a 0 and goes
// on with the canonical bytes, or with a 1 and goes on with the problem's path, a zero byte, and its code. A node request itself,
// which begins with the head of a map, is answered with the offer that runs the tests of the base, with a question to the first model, or with a
// failure that repeats what the model said.

import { decode, encode, Reader } from "../../assembly/codec";
import {
  Completion, Experiment, fail, log, newCompletion, noAnswer, NodeRequest, NodeResponse, PriorCases, recall, RecallQuery, serveNodeAsking,
} from "../../assembly";
import { give } from "../../assembly/call";
import { byName } from "./byName";

export { shadowcourt_alloc } from "../../assembly";

function answer(verdict: u8, at: usize, size: usize): u64 {
  const out = heap.alloc(size + 1);
  store<u8>(out, verdict);
  memory.copy(out + 1, at, size);
  return (<u64>out << 32) | (size + 1);
}

function choose(request: NodeRequest): Experiment | null {
  for (let i = 0; i < request.offers.length; i++) {
    if (request.offers[i].experiment.tests == "base") return request.offers[i].experiment;
  }
  return null;
}

function refuse(request: NodeRequest): NodeResponse {
  const response = new NodeResponse();
  response.failure = fail("no_offer", "nothing to run");
  if (request.completions.length > 0) {
    const result = request.completions[0];
    response.failure = noAnswer(result);
    if (response.failure === null) response.failure = fail("said", result.answers[0]);
  }
  return response;
}

function ask(request: NodeRequest): Completion | null {
  return request.completions.length > 0 ? null : newCompletion(request.models[0], 100, request.prompt, request.case_.subject);
}

export function shadowcourt_node(pointer: usize, length: usize): u64 {
  if (load<u8>(pointer) >= 0x80) return serveNodeAsking(pointer, length, choose, ask, refuse);
  const n: usize = load<u8>(pointer);
  const value = byName(String.UTF8.decodeUnsafe(pointer + 1, n));
  if (value === null) return answer(2, 0, 0);
  const r = new Reader(pointer + 1 + n, length - 1 - n);
  if (decode(r, value)) {
    const w = encode(value);
    return answer(0, w.at, w.size);
  }
  const problem = String.UTF8.encode(r.path + "\0" + r.code);
  return answer(1, changetype<usize>(problem), problem.byteLength);
}

/** Asks the casebook, logs how many cases there are, and answers with them. */
export function shadowcourt_contest(pointer: usize, length: usize): u64 {
  const query = new RecallQuery();
  query.limit = 3;
  const answer = new PriorCases();
  answer.cases = recall(query);
  log(answer.cases.length.toString() + " cases");
  return give(answer);
}
