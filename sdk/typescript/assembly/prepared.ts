// What the host prepares a module with, and the requests that leave it out: abi/SPEC.md, §2.19.

import { CaseView, ContestRequest, Failure, NodeRequest, Prepared, PrepareRequest, Profile, ProfileParts } from "./messages";

let digest: string = "", profile: Profile | null = null, view: CaseView | null = null;

/** Keeps what a request holds, for the requests that follow. */
export function prepare(request: PrepareRequest): void {
  digest = request.digest;
  if (request.profile !== null) profile = request.profile;
  if (request.case_ !== null) view = request.case_;
}

/** Adds what a node request leaves out. The failure says what the module was not prepared with. */
export function completeNode(request: NodeRequest): Failure | null {
  const prepared = request.prepared;
  if (prepared === null) return null;
  const failure = missing(prepared);
  if (failure !== null) return failure;
  if (prepared.case_ && view === null) return notPrepared("case");
  request.prepared = null;
  if (prepared.profile !== null) request.profile = parts(prepared.profile!);
  if (prepared.case_) add(request.case_, view!);
  return null;
}

/** Gives a view of a case what it lacks of the prepared one. */
function add(own: CaseView, prepared: CaseView): void {
  if (own.subject == "") own.subject = prepared.subject;
  if (own.labels.length == 0) own.labels = prepared.labels;
  if (own.light === null) own.light = prepared.light;
  if (own.evidence.length == 0) own.evidence = prepared.evidence;
  if (own.documents.length == 0) own.documents = prepared.documents;
  if (own.signals.length == 0) own.signals = prepared.signals;
}

/** Adds what a contest request leaves out, as completeNode does. */
export function completeContest(request: ContestRequest): Failure | null {
  const prepared = request.prepared;
  if (prepared === null) return null;
  const failure = missing(prepared);
  if (failure !== null) return failure;
  request.prepared = null;
  if (prepared.profile !== null) request.profile = parts(prepared.profile!);
  return null;
}

/** The failure of a request for which the module has another digest, or no such profile. */
function missing(prepared: Prepared): Failure | null {
  if (prepared.digest != digest) return notPrepared("digest");
  const some = prepared.profile;
  if (some === null) return null;
  const there = profile !== null && within(some.signals, profile!.signals.length) && within(some.sources, profile!.sources.length);
  return there ? null : notPrepared("profile");
}

/** Says whether all indexes are those of a list of so many elements. */
function within(indexes: i64[], count: i32): bool {
  for (let i = 0; i < indexes.length; i++) if (indexes[i] >= count) return false;
  return true;
}

/** The parts of the prepared profile that a request has, which share its texts and lists. */
function parts(some: ProfileParts): Profile {
  const whole = changetype<Profile>(__new(offsetof<Profile>(), idof<Profile>()));
  memory.copy(changetype<usize>(whole), changetype<usize>(profile!), offsetof<Profile>());
  if (!some.outcomes) whole.outcomes = null;
  if (some.all) return whole;
  whole.signals = elements(whole.signals, some.signals);
  whole.sources = elements(whole.sources, some.sources);
  return whole;
}

function elements<T>(list: T[], indexes: i64[]): T[] {
  const some = new Array<T>(indexes.length);
  for (let i = 0; i < indexes.length; i++) some[i] = list[<i32>indexes[i]];
  return some;
}

function notPrepared(field: string): Failure {
  const failure = new Failure();
  failure.code = "bad_request";
  failure.message = "prepared." + field + ": the module was prepared with something else";
  return failure;
}
