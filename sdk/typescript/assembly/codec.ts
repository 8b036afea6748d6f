// The strict reader and the canonical writer: abi/SPEC.md, §3.

const MAX_DEPTH = 32;
const SHOWN: usize = 64;

/** A message of the contract. Implemented by the classes of messages.ts. */
export abstract class Message {
  /** The keys, in canonical order. */
  abstract keys(): StaticArray<string>;
  /** A bit for each key that must be there. */
  abstract required(): u64;
  /** Reads the value of a field. */
  abstract readField(r: Reader, field: i32): void;
  /** Writes the message canonically. */
  abstract write(w: Writer): void;
}

/** Reads one message strictly into value; says in r.code and r.path what is wrong with it, if anything. The rules across
 * fields (§9.1) are the host's to check. */
export function decode(r: Reader, value: Message): bool {
  r.fields(value);
  if (r.code == "" && r.at < r.end) r.fail("trailing_bytes");
  return r.code == "";
}

/** Writes the canonical bytes of a message. It is not checked: the host does that. */
export function encode(value: Message): Writer {
  const w = new Writer();
  value.write(w);
  return w;
}

enum Kind { Reserved, Nil, Bool, Int, Float, String, Binary, Extension, List, Map }

function kindOf(head: u8): Kind {
  if (head <= 0x7f || head >= 0xe0 || (head >= 0xcc && head <= 0xd3)) return Kind.Int;
  if (head <= 0x8f || head >= 0xde) return Kind.Map;
  if (head <= 0x9f || head >= 0xdc) return Kind.List;
  if (head <= 0xbf || head >= 0xd9) return Kind.String;
  if (head == 0xc0) return Kind.Nil;
  if (head == 0xc1) return Kind.Reserved;
  if (head <= 0xc3) return Kind.Bool;
  if (head <= 0xc6) return Kind.Binary;
  if (head == 0xca || head == 0xcb) return Kind.Float;
  return Kind.Extension;
}

/** A part of the message. */
class Bytes {
  constructor(public at: usize, public size: usize) {}

  text(): string { return String.UTF8.decodeUnsafe(this.at, this.size); }

  equals(text: string): bool {
    // The names of the contract are ASCII.
    if (<usize>text.length != this.size) return false;
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) != load<u8>(this.at + i)) return false;
    return true;
  }

  valid(): bool {
    let p = this.at;
    const end = p + this.size;
    while (p < end) {
      const c = load<u8>(p++);
      if (c < 0x80) continue;
      const more: usize = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
      if (c < 0xc2 || c > 0xf4 || end - p < more) return false;
      const low: u8 = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
      const high: u8 = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
      if (load<u8>(p) < low || load<u8>(p) > high) return false;
      for (let i: usize = 1; i < more; i++) if ((load<u8>(p + i) & 0xc0) != 0x80) return false;
      p += more;
    }
    return true;
  }

  isName(): bool {
    if (this.size == 0 || this.size > SHOWN) return false;
    for (let i: usize = 0; i < this.size; i++) {
      const c = load<u8>(this.at + i);
      if (c != 0x5f && (c < 0x61 || c > 0x7a) && (c < 0x30 || c > 0x39)) return false;
    }
    return true;
  }

  /** Quotes a key as §3.11 has it, but takes every character beyond ASCII for a printable one. */
  quoted(): string {
    let n = this.size;
    if (n > SHOWN) {
      n = SHOWN;
      while (n > 0 && (load<u8>(this.at + n) & 0xc0) == 0x80) n--;
    }
    const text = String.UTF8.decodeUnsafe(this.at, n);
    let out = '["';
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c == 0x22 || c == 0x5c) out += "\\" + text.charAt(i);
      else if (c >= 7 && c <= 13) out += "\\" + "abtnvfr".charAt(c - 7);
      else if (c < 0x20 || c == 0x7f) out += "\\x" + "0123456789abcdef".charAt(c >> 4) + "0123456789abcdef".charAt(c & 15);
      else out += text.charAt(i);
    }
    return out + (n < this.size ? "..." : "") + '"]';
  }
}

/** Reads values one after the other. After the first problem it gives nothing but empty values. */
export class Reader {
  end: usize;
  depth: i32 = 0;
  /** The code (§10) and the path (§3.11) of the first problem; empty while there is none. */
  code: string = "";
  path: string = "";

  constructor(public at: usize, size: usize) { this.end = at + size; }

  fail(code: string): void { if (this.code == "") this.code = code; }

  private within(step: string): void {
    const joined = this.path == "" || this.path.charCodeAt(0) == 0x5b;
    this.path = step + (joined ? "" : ".") + this.path;
  }

  /** Takes a head byte, of the kind that is wanted. */
  private expect(want: Kind): u8 {
    if (this.code != "") return 0;
    if (this.at == this.end) {
      this.fail("truncated");
      return 0;
    }
    const head = load<u8>(this.at);
    const got = kindOf(head);
    if (got == want || (want == Kind.Float && got == Kind.Int)) {
      this.at++;
      return head;
    }
    if (got == Kind.Nil) this.fail("nil_value");
    else if (got == Kind.Extension) this.fail("extension_type");
    else if (got == Kind.Reserved) this.fail("reserved_byte");
    else if (got == Kind.Binary && want == Kind.String) this.fail("bin_for_string");
    else this.fail("wrong_type");
    return 0;
  }

  /** Reads an unsigned number of n bytes, the most significant first. */
  private unsigned(n: usize): u64 {
    if (this.end - this.at < n) {
      this.fail("truncated");
      return 0;
    }
    let sum: u64 = 0;
    for (let i: usize = 0; i < n; i++) sum = (sum << 8) | load<u8>(this.at + i);
    this.at += n;
    return sum;
  }

  private stringAfter(head: u8): Bytes {
    const n: u64 = head >= 0xd9 ? this.unsigned(1 << (head - 0xd9)) : head & 0x1f;
    if (this.code == "" && n > this.end - this.at) this.fail("bad_length");
    if (this.code != "") return new Bytes(this.at, 0);
    const out = new Bytes(this.at, <usize>n);
    this.at += <usize>n;
    return out;
  }

  private string(): Bytes {
    const head = this.expect(Kind.String);
    return this.code == "" ? this.stringAfter(head) : new Bytes(this.at, 0);
  }

  private key(): Bytes {
    if (this.at == this.end) this.fail("truncated");
    else {
      const got = kindOf(load<u8>(this.at));
      if (got == Kind.Reserved) this.fail("reserved_byte");
      else if (got != Kind.String) this.fail("wrong_type");
    }
    if (this.code != "") return new Bytes(this.at, 0);
    const bytes = this.stringAfter(load<u8>(this.at++));
    if (this.code == "" && !bytes.valid()) this.fail("invalid_utf8");
    return bytes;
  }

  /** Begins a list or a map, of parts values for each element, and gives its count. */
  private enter(want: Kind, parts: u64): i32 {
    const head = this.expect(want);
    if (this.code != "") return 0;
    const n: u64 = head >= 0xdc ? this.unsigned(2 << (head & 1)) : head & 0x0f;
    if (this.code != "") return 0;
    if (n * parts > this.end - this.at) this.fail("bad_length");
    else if (this.depth == MAX_DEPTH) this.fail("too_deep");
    else this.depth++;
    return this.code == "" ? <i32>n : 0;
  }

  private counted(least: i32, most: u32, n: i32): i32 {
    if (this.code == "") {
      if (least < 0 && n == 0) this.fail("empty");
      else if (n < least || <u32>n > most) this.fail("bad_count");
    }
    return this.code == "" ? n : 0;
  }

  text(nonempty: bool): string {
    const bytes = this.string();
    if (this.code != "") return "";
    if (nonempty && bytes.size == 0) this.fail("empty");
    else if (!bytes.valid()) this.fail("invalid_utf8");
    return this.code == "" ? bytes.text() : "";
  }

  name(values: StaticArray<string>, optional: bool): string {
    const bytes = this.string();
    if (this.code != "" || (optional && bytes.size == 0)) return "";
    for (let i = 0; i < values.length; i++) if (bytes.equals(values[i])) return values[i];
    this.fail(bytes.valid() ? "invalid_value" : "invalid_utf8");
    return "";
  }

  boolean(): bool { return this.expect(Kind.Bool) == 0xc3; }

  /** Gives the number after a head; big says that it is beyond 63 bits. */
  private big: bool = false;
  private whole(head: u8): i64 {
    this.big = false;
    if (head <= 0x7f || head >= 0xe0) return <i64><i8>head;
    const width: usize = 1 << (head & 3);
    const n = this.unsigned(width);
    if (head <= 0xcf) {
      this.big = n > <u64>i64.MAX_VALUE;
      return <i64>n;
    }
    const shift = 64 - 8 * <i64>width;
    return (<i64>n << shift) >> shift;
  }

  integer(least: i64, most: i64): i64 {
    const head = this.expect(Kind.Int);
    if (this.code != "") return 0;
    const n = this.whole(head);
    if (this.code == "" && (this.big || n < least || n > most)) this.fail("out_of_range");
    return n;
  }

  float(least: f64, most: f64): f64 {
    const head = this.expect(Kind.Float);
    if (this.code != "") return 0;
    let f: f64;
    if (head == 0xca) f = reinterpret<f32>(<u32>this.unsigned(4));
    else if (head == 0xcb) f = reinterpret<f64>(this.unsigned(8));
    else {
      const n = this.whole(head);
      f = this.big ? <f64><u64>n : <f64>n;
    }
    if (this.code != "") return 0;
    if (!isFinite(f)) this.fail("not_finite");
    else if (f < least || f > most) this.fail("out_of_range");
    return f;
  }

  message<T extends Message>(): T {
    const value = instantiate<T>();
    this.fields(value);
    return value;
  }

  messages<T extends Message>(least: i32, most: u32): T[] {
    const out: T[] = [];
    const n = this.counted(least, most, this.enter(Kind.List, 1));
    for (let i = 0; i < n; i++) {
      out.push(this.message<T>());
      if (this.element(i)) break;
    }
    return this.left(out);
  }

  texts(least: i32, most: u32): string[] {
    const out: string[] = [];
    const n = this.counted(least, most, this.enter(Kind.List, 1));
    for (let i = 0; i < n; i++) {
      out.push(this.text(false));
      if (this.element(i)) break;
    }
    return this.left(out);
  }

  names(values: StaticArray<string>, least: i32, most: u32): string[] {
    const out: string[] = [];
    const n = this.counted(least, most, this.enter(Kind.List, 1));
    for (let i = 0; i < n; i++) {
      out.push(this.name(values, false));
      if (this.element(i)) break;
    }
    return this.left(out);
  }

  integers(low: i64, high: i64, least: i32, most: u32): i64[] {
    const out: i64[] = [];
    const n = this.counted(least, most, this.enter(Kind.List, 1));
    for (let i = 0; i < n; i++) {
      out.push(this.integer(low, high));
      if (this.element(i)) break;
    }
    return this.left(out);
  }

  /** After an element: says whether it had a problem, and puts its index before the path. */
  private element(i: i32): bool {
    if (this.code == "") return false;
    this.within("[" + i.toString() + "]");
    return true;
  }

  private left<T>(list: T): T {
    this.depth--;
    return list;
  }

  pairs(least: i32, most: u32): Map<string, string> {
    const out = new Map<string, string>();
    const n = this.counted(least, most, this.enter(Kind.Map, 2));
    for (let i = 0; i < n; i++) {
      const key = this.key();
      if (this.code != "") return out;
      const name = key.text();
      if (out.has(name)) this.fail("duplicate_key");
      else out.set(name, this.text(false));
      if (this.code != "") {
        this.within(key.quoted());
        return out;
      }
    }
    this.depth--;
    return out;
  }

  /** Reads a map with fixed keys. */
  fields(value: Message): void {
    const keys = value.keys();
    let seen: u64 = 0, next = 0;
    const n = this.enter(Kind.Map, 2);
    if (this.code != "") return;
    for (let i = 0; i < n; i++) {
      const key = this.key();
      if (this.code != "") return;
      let field = -1;
      for (let k = 0; k < keys.length; k++) {
        const at = (next + k) % keys.length;
        if (key.equals(keys[at])) {
          field = at;
          break;
        }
      }
      if (field < 0) this.fail("unknown_field");
      else if ((seen >> field) & 1) this.fail("duplicate_key");
      else {
        seen |= (<u64>1) << field;
        value.readField(this, field);
        next = field + 1;
      }
      if (this.code != "") return this.within(key.isName() ? key.text() : key.quoted());
    }
    const missing = value.required() & ~seen;
    if (missing) {
      this.fail("missing_field");
      return this.within(keys[<i32>ctz(missing)]);
    }
    this.depth--;
  }
}

/** Writes values one after the other, canonically. */
export class Writer {
  private room: ArrayBuffer = new ArrayBuffer(1024);
  size: i32 = 0;

  get at(): usize { return changetype<usize>(this.room); }

  private put(n: i32): usize {
    if (this.size + n > this.room.byteLength) {
      const room = new ArrayBuffer(2 * this.room.byteLength + n);
      memory.copy(changetype<usize>(room), this.at, this.size);
      this.room = room;
    }
    const at = this.at + this.size;
    this.size += n;
    return at;
  }

  /** Writes a head byte and the low n bytes of a number. */
  private head(head: u32, number: u64, n: i32): void {
    const at = this.put(n + 1);
    store<u8>(at, <u8>head);
    for (let i = n; i > 0; i--, number >>= 8) store<u8>(at + i, <u8>number);
  }

  map(n: i32): void { this.count(0x80, 0xde, n); }
  list(n: i32): void { this.count(0x90, 0xdc, n); }

  private count(fix: u32, wide: u32, n: i32): void {
    if (n < 16) this.head(fix | n, 0, 0);
    else if (n <= 0xffff) this.head(wide, n, 2);
    else this.head(wide + 1, n, 4);
  }

  text(text: string): void {
    // Half of a surrogate pair, left by cutting a text, becomes a replacement character.
    const bytes = String.UTF8.encode(text, false, String.UTF8.ErrorMode.REPLACE);
    const n = bytes.byteLength;
    if (n < 32) this.head(0xa0 | n, 0, 0);
    else if (n <= 0xff) this.head(0xd9, n, 1);
    else if (n <= 0xffff) this.head(0xda, n, 2);
    else this.head(0xdb, n, 4);
    memory.copy(this.put(n), changetype<usize>(bytes), n);
  }

  boolean(b: bool): void { this.head(b ? 0xc3 : 0xc2, 0, 0); }

  integer(n: i64): void {
    if (n >= -32 && n <= 127) this.head(<u32>n & 0xff, 0, 0);
    else if (n >= 0) {
      if (n <= 0xff) this.head(0xcc, n, 1);
      else if (n <= 0xffff) this.head(0xcd, n, 2);
      else if (n <= 0xffffffff) this.head(0xce, n, 4);
      else this.head(0xcf, n, 8);
    } else if (n >= i8.MIN_VALUE) this.head(0xd0, n, 1);
    else if (n >= i16.MIN_VALUE) this.head(0xd1, n, 2);
    else if (n >= i32.MIN_VALUE) this.head(0xd2, n, 4);
    else this.head(0xd3, n, 8);
  }

  float(f: f64): void {
    if (f == 0) f = 0; // not -0
    this.head(0xcb, reinterpret<u64>(f), 8);
  }

  pairs(pairs: Map<string, string>): void {
    const keys = pairs.keys();
    keys.sort((a, b) => compare(String.UTF8.encode(a), String.UTF8.encode(b)));
    this.map(keys.length);
    for (let i = 0; i < keys.length; i++) {
      this.text(keys[i]);
      this.text(pairs.get(keys[i]));
    }
  }
}

function compare(a: ArrayBuffer, b: ArrayBuffer): i32 {
  const n = min(a.byteLength, b.byteLength);
  const order = memory.compare(changetype<usize>(a), changetype<usize>(b), n);
  return order != 0 ? order : a.byteLength - b.byteLength;
}
