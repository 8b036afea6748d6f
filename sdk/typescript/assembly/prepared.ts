// What the host prepares a module with, and the requests that leave it out: abi/SPEC.md, §2.19.

import { fail } from "./call";
import { CaseView, ContestRequest, Failure, NodeRequest, Prepared, PrepareRequest, Profile } from "./messages";

let digest: string = "", profile: Profile | null = null, view: CaseView | null = null;

/** Keeps what a request holds, for the requests that follow. */
export function prepare(request: PrepareRequest): void {
  digest = request.digest;
  if (request.profile !== null) profile = request.profile;
  if (request.case_ !== null) view = request.case_;
}

/** Adds what a node request leaves out. The failure says what the module was not prepared with. */
export function completeNode(request: NodeRequest): Failure | null {
  const prepared = request.prepared, own = request.case_;
  request.prepared = null;
  if (prepared === null) return null;
  const failure = complete(prepared);
  if (prepared.profile !== null) request.profile = profile;
  if (failure !== null || !prepared.case_) return failure;
  const whole = view;
  if (whole === null) return notPrepared("case");
  if (own.subject == "") own.subject = whole.subject;
  if (own.labels.length == 0) own.labels = whole.labels;
  if (own.light === null) own.light = whole.light;
  if (own.evidence.length == 0) own.evidence = whole.evidence;
  if (own.documents.length == 0) own.documents = whole.documents;
  if (own.signals.length == 0) own.signals = whole.signals;
  return null;
}

/** Adds what a contest request leaves out, as completeNode does. */
export function completeContest(request: ContestRequest): Failure | null {
  const prepared = request.prepared;
  request.prepared = null;
  if (prepared === null) return null;
  const failure = complete(prepared);
  if (prepared.profile !== null) request.profile = profile;
  return failure;
}

/** Reduces the prepared profile to the parts that a request has. The next call begins in the memory from before, so it is whole there. */
function complete(prepared: Prepared): Failure | null {
  if (prepared.digest != digest) return notPrepared("digest");
  const parts = prepared.profile, whole = profile;
  if (parts === null) return null;
  if (whole === null) return notPrepared("profile");
  if (!parts.outcomes) whole.outcomes = null;
  if (parts.all) return null;
  if (!within(parts.signals, whole.signals.length) || !within(parts.sources, whole.sources.length)) return notPrepared("profile");
  whole.signals = elements(whole.signals, parts.signals);
  whole.sources = elements(whole.sources, parts.sources);
  return null;
}

/** Says whether all indexes are those of a list of so many elements. */
function within(indexes: i64[], count: i32): bool {
  for (let i = 0; i < indexes.length; i++) if (indexes[i] >= count) return false;
  return true;
}

function elements<T>(list: T[], indexes: i64[]): T[] {
  const some = new Array<T>(indexes.length);
  for (let i = 0; i < indexes.length; i++) some[i] = list[<i32>indexes[i]];
  return some;
}

function notPrepared(field: string): Failure {
  return fail("bad_request", "prepared." + field + ": the module was prepared with something else");
}
