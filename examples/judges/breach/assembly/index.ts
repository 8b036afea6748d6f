// A judge of breaches: does a text try to steer whoever reads it?

import { serveContest, serveJudge, serveNode } from "../../../../sdk/typescript/assembly";
import { contest, judge, note } from "./handlers";

export { shadowcourt_alloc, shadowcourt_prepare } from "../../../../sdk/typescript/assembly";

export function shadowcourt_node(pointer: usize, length: usize): u64 { return serveNode(pointer, length, note); }

export function shadowcourt_contest(pointer: usize, length: usize): u64 { return serveContest(pointer, length, contest); }

export function shadowcourt_judge(pointer: usize, length: usize): u64 { return serveJudge(pointer, length, judge); }
