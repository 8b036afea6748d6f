// What stands around a call.

import { decode, encode, Message, Reader } from "./codec";
import {
  ChatMessage, ChatRole, Completion, CompletionResult, ContestRequest, ContestResponse, EdgeRequest, EdgeResponse, Experiment, Failure, JudgeRequest,
  JudgeResponse, ModelOffer, NodeRequest, NodeResponse, Param, PrepareRequest, PrepareResponse,
} from "./messages";
import { completeContest, completeNode, prepare } from "./prepared";

/** Gives the host room for a request. Every module exports it. */
export function shadowcourt_alloc(size: usize): usize { return heap.alloc(max(size, 1)); }

/** The failure with which a module says that it cannot answer. code is the author's own, in snake_case. */
export function fail(code: string, message: string): Failure {
  const f = new Failure();
  f.code = code;
  f.message = message;
  return f;
}

/** The parameter of a name, or null. */
export function param(params: Param[], name: string): Param | null {
  for (let i = 0; i < params.length; i++) if (params[i].name == name) return params[i];
  return null;
}

/** The number of a parameter, or what stands in for it. */
export function number(params: Param[], name: string, otherwise: f64): f64 {
  const p = param(params, name);
  return p !== null && p.hasNumber ? p.number : otherwise;
}

/** Gives a message to the host: pointer << 32 | length. */
export function give(value: Message): u64 {
  const w = encode(value);
  return (<u64>w.at << 32) | w.size;
}

function badRequest(r: Reader): Failure { return fail("bad_request", r.path + (r.path == "" ? "" : ": ") + r.code); }

/** Keeps what the host prepares the module with (SPEC.md §2.19). Every module that serves node or contest calls exports it. */
export function shadowcourt_prepare(pointer: usize, length: usize): u64 {
  const r = new Reader(pointer, length), request = new PrepareRequest(), response = new PrepareResponse();
  if (decode(r, request)) prepare(request);
  else response.failure = badRequest(r);
  return give(response);
}

export function serveNode(pointer: usize, length: usize, handler: (request: NodeRequest) => NodeResponse): u64 {
  return serveNodeAsking(pointer, length, null, null, handler);
}

/**
 * serveNode with a chooser: it gives one of the experiments that a request offers, for the host to run first, or null for none. The host
 * then makes the call again, with the result (SPEC.md §2.12). The chooser is asked only where there are offers.
 */
export function serveNodeOffers(
  pointer: usize, length: usize, choose: (request: NodeRequest) => Experiment | null, handler: (request: NodeRequest) => NodeResponse,
): u64 {
  return serveNodeAsking(pointer, length, choose, null, handler);
}

/**
 * serveNode with an asker: it says what a language model is to be asked first, or null for nothing. The host then makes the call again, with
 * the answer at the end of completions (SPEC.md §2.12). The asker is called only where there are models.
 */
export function serveNodeModels(
  pointer: usize, length: usize, ask: (request: NodeRequest) => Completion | null, handler: (request: NodeRequest) => NodeResponse,
): u64 {
  return serveNodeAsking(pointer, length, null, ask, handler);
}

/** serveNode with a chooser and an asker, each of which may be null. */
export function serveNodeAsking(
  pointer: usize, length: usize, choose: ((request: NodeRequest) => Experiment | null) | null,
  ask: ((request: NodeRequest) => Completion | null) | null, handler: (request: NodeRequest) => NodeResponse,
): u64 {
  const r = new Reader(pointer, length), request = new NodeRequest(), response = new NodeResponse();
  response.failure = decode(r, request) ? completeNode(request) : badRequest(r);
  if (response.failure !== null) return give(response);
  if (choose !== null && request.offers.length > 0) response.experiment = choose(request);
  if (response.experiment !== null) return give(response);
  if (ask !== null && request.models.length > 0) response.completion = ask(request);
  return give(response.completion !== null ? response : handler(request));
}

function message(role: string, content: string): ChatMessage {
  const m = new ChatMessage();
  m.role = role;
  m.content = content;
  return m;
}

/**
 * Asks a model that the request offers for one answer, of so many tokens at most, and no more than the model may give. An empty system message
 * is left out. The fields schema, samples, temperature and seed are yours to set.
 */
export function newCompletion(offer: ModelOffer, tokens: i64, system: string, user: string): Completion {
  const c = new Completion();
  c.model = offer.model;
  if (system != "") c.messages.push(message(ChatRole.System, system));
  if (user != "") c.messages.push(message(ChatRole.User, user));
  c.answerTokens = min(tokens, offer.answerTokens);
  c.samples = 1;
  return c;
}

/**
 * Null where a model gave an answer, and else the failure that says why not: model_failed, model_invalid and so on. After it the persona's
 * fallback plays, where the pipeline names one.
 */
export function noAnswer(result: CompletionResult): Failure | null {
  return result.answers.length > 0 ? null : fail("model_" + result.outcome, result.detail);
}

export function serveContest(pointer: usize, length: usize, handler: (request: ContestRequest) => ContestResponse): u64 {
  const r = new Reader(pointer, length), request = new ContestRequest(), response = new ContestResponse();
  response.failure = decode(r, request) ? completeContest(request) : badRequest(r);
  return give(response.failure !== null ? response : handler(request));
}

export function serveEdges(pointer: usize, length: usize, handler: (request: EdgeRequest) => EdgeResponse): u64 {
  const r = new Reader(pointer, length), request = new EdgeRequest();
  if (decode(r, request)) return give(handler(request));
  const response = new EdgeResponse();
  response.failure = badRequest(r);
  return give(response);
}

export function serveJudge(pointer: usize, length: usize, handler: (request: JudgeRequest) => JudgeResponse): u64 {
  const r = new Reader(pointer, length), request = new JudgeRequest();
  if (decode(r, request)) return give(handler(request));
  const response = new JudgeResponse();
  response.failure = badRequest(r);
  return give(response);
}
