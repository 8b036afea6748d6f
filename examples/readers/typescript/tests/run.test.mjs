// Runs every exported function of the compiled tests.

import { readFile } from "node:fs/promises";
import test from "node:test";

const text = (memory, pointer) => {
  const words = new Uint32Array(memory.buffer);
  return String.fromCharCode(...new Uint16Array(memory.buffer, pointer, words[(pointer >>> 2) - 1] >>> 1));
};

let memory;
const abort = (message, file, line) => {
  throw new Error(`${text(memory, message)} (${text(memory, file)}:${line})`);
};
const wasm = await readFile(new URL("../build/test/test.wasm", import.meta.url));
const { instance } = await WebAssembly.instantiate(wasm, { env: { abort } });
memory = instance.exports.memory;
for (const [name, run] of Object.entries(instance.exports)) if (typeof run === "function") test(name, () => run());
