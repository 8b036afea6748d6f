// What stands around a call.

import { decode, encode, Message, Reader } from "./codec";
import {
  ContestRequest, ContestResponse, EdgeRequest, EdgeResponse, Experiment, Failure, JudgeRequest, JudgeResponse, NodeRequest, NodeResponse, Param,
} from "./messages";

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

export function serveNode(pointer: usize, length: usize, handler: (request: NodeRequest) => NodeResponse): u64 {
  const r = new Reader(pointer, length), request = new NodeRequest();
  if (decode(r, request)) return give(handler(request));
  const response = new NodeResponse();
  response.failure = badRequest(r);
  return give(response);
}

/**
 * serveNode with a chooser: it gives one of the experiments that a request offers, for the host to run first, or null for none. The host
 * then makes the call again, with the result (SPEC.md §2.12). The chooser is asked only where there are offers.
 */
export function serveNodeOffers(
  pointer: usize, length: usize, choose: (request: NodeRequest) => Experiment | null, handler: (request: NodeRequest) => NodeResponse,
): u64 {
  const r = new Reader(pointer, length), request = new NodeRequest(), response = new NodeResponse();
  if (!decode(r, request)) {
    response.failure = badRequest(r);
    return give(response);
  }
  if (request.offers.length > 0) response.experiment = choose(request);
  return give(response.experiment !== null ? response : handler(request));
}

export function serveContest(pointer: usize, length: usize, handler: (request: ContestRequest) => ContestResponse): u64 {
  const r = new Reader(pointer, length), request = new ContestRequest();
  if (decode(r, request)) return give(handler(request));
  const response = new ContestResponse();
  response.failure = badRequest(r);
  return give(response);
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
