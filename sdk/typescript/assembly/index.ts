// The guest SDK of Shadowcourt: modules in AssemblyScript.
//
//   import { fail, JudgeRequest, JudgeResponse, serveJudge } from "./shadowcourt/assembly";
//
//   export { shadowcourt_alloc } from "./shadowcourt/assembly";
//
//   export function shadowcourt_judge(pointer: usize, length: usize): u64 { return serveJudge(pointer, length, judge); }
//
//   function judge(request: JudgeRequest): JudgeResponse { ... }
//
// A module that serves node or contest calls exports shadowcourt_prepare beside shadowcourt_alloc.
//
// The manifest stands in manifest.json, and is written into the module by the transform manifest.mjs beside this folder.
//
// Compile with --runtime stub and --use abort= (see asconfig.json of a module): nothing is freed, and nothing is kept but
// what the host prepares the module with, since every call begins in pristine memory. A request that cannot be read never
// reaches the function: the module answers it with a failure of code bad_request. An abort is a trap, and ends the trial as a
// mistrial.

export * from "./call";
export * from "./capability";
export * from "./messages";
