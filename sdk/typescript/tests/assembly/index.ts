// A guest that reads any message of the contract and writes it again: the test vectors are put through it.
//
// The request is a byte with the length of a type's name, the name, and the message. The response begins with a 0 and goes
// on with the canonical bytes, or with a 1 and goes on with the problem's path, a zero byte, and its code. A node request itself,
// which begins with the head of a map, is answered with the offer that runs the tests of the base, with a question to the first model, or with a
// failure that repeats what the model said. At a node with the name repeat, and to a contest request, the answer is a failure that repeats the
// request, in hexadecimal.

import { decode, encode, Message, Reader } from "../../assembly/codec";
import {
  Completion, ContestRequest, ContestResponse, Experiment, fail, Failure, log, newCompletion, noAnswer, NodeRequest, NodeResponse, PriorCases, recall,
  RecallQuery, serveContest, serveNodeAsking,
} from "../../assembly";
import { give } from "../../assembly/call";
import { byName } from "./byName";

export { shadowcourt_alloc, shadowcourt_prepare } from "../../assembly";

function answer(verdict: u8, at: usize, size: usize): u64 {
  const out = heap.alloc(size + 1);
  store<u8>(out, verdict);
  memory.copy(out + 1, at, size);
  return (<u64>out << 32) | (size + 1);
}

function repeat(request: Message): Failure {
  const w = encode(request), n: usize = 2 * w.size, hex = heap.alloc(n);
  for (let i: usize = 0; i < n; i++) {
    store<u8>(hex + i, "0123456789abcdef".charCodeAt((load<u8>(w.at + i / 2) >> (i % 2 == 0 ? 4 : 0)) & 15));
  }
  return fail("repeat", String.UTF8.decodeUnsafe(hex, n));
}

function repeated(request: ContestRequest): ContestResponse {
  const response = new ContestResponse();
  response.failure = repeat(request);
  return response;
}

function choose(request: NodeRequest): Experiment | null {
  for (let i = 0; i < request.offers.length; i++) {
    if (request.offers[i].experiment.tests == "base") return request.offers[i].experiment;
  }
  return null;
}

function refuse(request: NodeRequest): NodeResponse {
  const response = new NodeResponse();
  response.failure = request.node == "repeat" ? repeat(request) : fail("no_offer", "nothing to run");
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

/** Without a request: asks the casebook, logs how many cases there are, and answers with them. */
export function shadowcourt_contest(pointer: usize, length: usize): u64 {
  if (length > 0) return serveContest(pointer, length, repeated);
  const query = new RecallQuery();
  query.limit = 3;
  const answer = new PriorCases();
  answer.cases = recall(query);
  log(answer.cases.length.toString() + " cases");
  return give(answer);
}
