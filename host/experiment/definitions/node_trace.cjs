"use strict";
// Loaded before everything else in each process of a test runner of Node.js. Appends a line to the file "loaded" beside this file for each
// file that is evaluated, and for each package of node_modules of which one is: {"name of its package": "path"}. Appends one to "missed" for each variable that
// is asked for and is not there: {"variable": "NAME", "by": "file of the code that asks"}, and where all or a folder are listed: {"listed": true or "folder": "path", "by": "file"}.
const fs = require("fs");
const Module = require("module");
const path = require("path");
const url = require("url");
const vm = require("vm");

const { appendFileSync, existsSync, readFileSync, realpathSync } = fs; // tests may replace them
const INSTALLED = path.sep + "node_modules" + path.sep;
const packages = new Map(); // by folder: [folder, name]
const seen = new Set();

/** The folder and name of the package that a folder belongs to. */
function packageOf(folder) {
  let found = packages.get(folder);
  if (!found) {
    const parent = path.dirname(folder);
    try {
      found = [folder, JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")).name];
    } catch {}
    if (!found || typeof found[1] !== "string") {
      found = parent === folder ? ["", ""] : packageOf(parent);
    }
    packages.set(folder, found);
  }
  return found;
}

/** Tells of a file that is evaluated, by its path or URL. */
function record(name) {
  try {
    name = String(name);
    if (name.startsWith("file:")) name = url.fileURLToPath(name.split(/[?#]/)[0]);
    if (!path.isAbsolute(name)) return;
    if (!existsSync(name)) name = name.split("?")[0];
    const file = realpathSync(name);
    const [folder, pack] = packageOf(path.dirname(file));
    const key = file.includes(INSTALLED) ? folder : file;
    if (seen.has(key)) return;
    seen.add(key);
    appendFileSync(path.join(__dirname, "loaded"), JSON.stringify({ [pack]: file }) + "\n");
  } catch {} // it is no file
}

/** Has told the name that a function or class gets at a place among its arguments, or in an object there. */
function watch(of, name, at, field, told = record) {
  const original = of[name];
  if (typeof original !== "function") return;
  const tell = (args) => told(typeof args[at] === "string" ? args[at] : args[at] && args[at][field]);
  of[name] = new Proxy(original, {
    apply(target, self, args) {
      tell(args);
      return Reflect.apply(target, self, args);
    },
    construct(target, args, made) {
      tell(args);
      return Reflect.construct(target, args, made);
    },
  });
}

exports.record = record;

/** Tells of what Node.js itself loads, and says whether it can. */
function watchNative() {
  if (!Module.registerHooks && !Module.register) return false;
  watch(Module.prototype, "_compile", 1, "");
  if (Module.registerHooks) {
    Module.registerHooks({
      resolve(name, context, next) {
        const found = next(name, context);
        record(found.url);
        return found;
      },
    });
  } else { // the hook runs in a thread of its own
    const hook = `import { createRequire } from "node:module";
      const { record } = createRequire("file:///")(${JSON.stringify(__filename)});
      export async function resolve(name, context, next) { const found = await next(name, context); record(found.url); return found; }`;
    Module.register("data:text/javascript," + encodeURIComponent(hook));
  }
  return true;
}

const asked = new Set();

/** Tells of a variable that is not there, or of what is listed, but to give it to a child. */
function miss(what) {
  if (asked.size > 10000) return;
  const { stackTraceLimit, prepareStackTrace } = Error;
  Object.assign(Error, { stackTraceLimit: 20, prepareStackTrace: undefined });
  const { stack } = new Error();
  const places = stack.matchAll(/\(?((?:file:\/\/)?\/[^()\n]+?):\d+:\d+\)?$/gm);
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  const by = [...places].map((m) => m[1].replace("file://", "")).find((file) => file !== __filename && !file.includes(INSTALLED + "jest-")); // whose tests read a copy
  const line = JSON.stringify({ ...what, by }) + "\n";
  if (asked.has(line) || (what.listed && /node:(?:child_process|internal\/worker)/.test(stack))) return;
  asked.add(line);
  try {
    appendFileSync(path.join(__dirname, "missed"), line);
  } catch {}
}

/** Has miss told what is looked for behind the variables that there are, and who lists them. Copies of jest keep what is behind them. */
function watchVariables() {
  const tell = (how) => (of, name, ...rest) => {
    if (typeof name !== "symbol") miss(name === undefined ? { listed: true } : { variable: name });
    return how(of, name, ...rest);
  };
  const behind = new Proxy(Object.getPrototypeOf(process.env), { get: tell(Reflect.get), has: tell(Reflect.has) });
  const lists = { ownKeys: tell(Reflect.ownKeys) };
  Object.setPrototypeOf(process.env, behind);
  process.env = new Proxy(process.env, { ...lists, set: (of, name, value) => ((of[name] = value), true) });
  if (existsSync(path.join(__dirname, "native"))) return;
  globalThis.Proxy = new Proxy(Proxy, {
    construct: (of, [copy, how], made) => Reflect.construct(of, [copy, Object.getPrototypeOf(copy) === behind ? { ...how, ...lists } : how], made),
  });
}

if (module.parent && module.parent.id === "internal/preload") {
  watchVariables();
  for (const of of [fs, fs.promises]) {
    for (const name of ["readdir", "readdirSync", "opendir", "opendirSync"]) watch(of, name, 0, "pathname", (folder) => miss({ folder: path.resolve(String(folder)) }));
  }
}
// Without the means to tell everything, nothing is told.
if (module.parent && module.parent.id === "internal/preload" && (!existsSync(path.join(__dirname, "native")) || watchNative())) {
  watch(vm, "Script", 1, "filename");
  watch(vm, "compileFunction", 2, "filename");
  watch(vm, "runInThisContext", 1, "filename");
  watch(vm, "runInContext", 2, "filename");
  watch(vm, "SourceTextModule", 1, "identifier");
  Module.syncBuiltinESMExports();
}
