// A transform of asc that writes manifest.json into the module's custom section (abi/SPEC.md, §1.4).

const lists = ["calls", "families", "edges", "criteria", "capabilities"];
const optional = ["source", "licence"];

function text(out, value) {
  const bytes = new TextEncoder().encode(value);
  if (bytes.length > 255) throw new Error("manifest.json: a text has 255 bytes at most");
  if (bytes.length < 32) out.push(0xa0 | bytes.length);
  else out.push(0xd9, bytes.length);
  out.push(...bytes);
}

/** The canonical message of a manifest. Lists that are left out are empty. */
export function encode(manifest) {
  const unknown = Object.keys(manifest).filter((key) => !["name", "version", "abi", ...lists, ...optional].includes(key));
  if (unknown.length > 0) throw new Error(`manifest.json: unknown ${unknown.join(", ")}`);
  const given = optional.filter((key) => manifest[key]);
  const out = [0x80 | (8 + given.length)];
  for (const key of ["name", "version", "abi"]) {
    if (typeof manifest[key] !== "string" || manifest[key] === "") throw new Error(`manifest.json: ${key} is missing`);
    text(out, key);
    text(out, manifest[key]);
  }
  for (const key of lists) {
    const words = manifest[key] ?? [];
    text(out, key);
    if (words.length < 16) out.push(0x90 | words.length);
    else out.push(0xdc, words.length >> 8, words.length & 0xff);
    for (const word of words) text(out, word);
  }
  for (const key of given) {
    text(out, key);
    text(out, manifest[key]);
  }
  return Uint8Array.from(out);
}

export default class Manifest {
  async afterCompile(module) {
    const json = await this.readFile("manifest.json", this.baseDir);
    if (json === null) throw new Error("there is no manifest.json");
    module.addCustomSection("shadowcourt.manifest", encode(JSON.parse(json)));
  }
}
