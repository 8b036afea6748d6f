// What a module may ask the host for, beyond its request: abi/SPEC.md, §2.12.
//
// The manifest must list each capability that is used, and the pipeline must grant it; otherwise the module does not load. Only
// the functions that a module calls are imported. An answer that can't be read, or of a length that changes, is a trap.

import { decode, encode, Message, Reader } from "./codec";
import { CorrelateQuery, LogLine, PriorCase, PriorCases, RecallQuery, SourceAnswer, SourceQuery } from "./messages";

// @ts-ignore: decorator
@external("shadowcourt", "log")
declare function hostLog(request: usize, length: usize, answer: usize, capacity: usize): i32;
// @ts-ignore: decorator
@external("shadowcourt", "recall")
declare function hostRecall(request: usize, length: usize, answer: usize, capacity: usize): i32;
// @ts-ignore: decorator
@external("shadowcourt", "correlate")
declare function hostCorrelate(request: usize, length: usize, answer: usize, capacity: usize): i32;
// @ts-ignore: decorator
@external("shadowcourt", "source")
declare function hostSource(request: usize, length: usize, answer: usize, capacity: usize): i32;

/** Room for most answers. */
const ANSWER_BYTES: usize = 8 << 10;

/** A question: the request, and the room for its answer. */
class Question {
  request: usize;
  length: usize;
  answer: usize = heap.alloc(ANSWER_BYTES);
  capacity: usize = ANSWER_BYTES;

  constructor(query: Message) {
    const w = encode(query);
    this.request = w.at;
    this.length = w.size;
  }

  /** Says whether the host needs to be asked again, with more room. */
  short(n: i32): bool {
    if (<u32>n <= this.capacity) return false;
    this.answer = heap.alloc(<u32>n);
    this.capacity = <u32>n;
    return true;
  }

  /** Reads an answer; an empty one leaves the value as it is. */
  read(n: i32, into: Message): void {
    assert(<u32>n <= this.capacity);
    if (n != 0) assert(decode(new Reader(this.answer, <u32>n), into));
  }
}

/** Asks the casebook for cases that have the fingerprint of this one, or nearly; the most similar first. */
export function recall(query: RecallQuery): PriorCase[] {
  const q = new Question(query), answer = new PriorCases();
  let n = hostRecall(q.request, q.length, q.answer, q.capacity);
  if (q.short(n)) n = hostRecall(q.request, q.length, q.answer, q.capacity);
  q.read(n, answer);
  return answer.cases;
}

/** Searches the casebook by text; the most similar case first. */
export function correlate(query: CorrelateQuery): PriorCase[] {
  const q = new Question(query), answer = new PriorCases();
  let n = hostCorrelate(q.request, q.length, q.answer, q.capacity);
  if (q.short(n)) n = hostCorrelate(q.request, q.length, q.answer, q.capacity);
  q.read(n, answer);
  return answer.cases;
}

/** Asks which files of the source a text names. */
export function source(query: SourceQuery): SourceAnswer {
  const q = new Question(query), answer = new SourceAnswer();
  let n = hostSource(q.request, q.length, q.answer, q.capacity);
  if (q.short(n)) n = hostSource(q.request, q.length, q.answer, q.capacity);
  q.read(n, answer);
  return answer;
}

/** Writes a line to the host's log. An empty one is none. */
export function log(message: string): void {
  if (message == "") return;
  const line = new LogLine();
  line.message = message;
  const w = encode(line);
  hostLog(w.at, w.size, 0, 0);
}
