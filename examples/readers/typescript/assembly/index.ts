// What the module exports.

import { serveNodeModels } from "../../../../sdk/typescript/assembly";
import { ask, node } from "./reader";

export { shadowcourt_alloc, shadowcourt_prepare } from "../../../../sdk/typescript/assembly";

export function shadowcourt_node(pointer: usize, length: usize): u64 { return serveNodeModels(pointer, length, ask, node); }
