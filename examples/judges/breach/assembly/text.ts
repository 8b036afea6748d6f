// A text as the detector reads it.

/** A text in words, and what of it no reader would see. */
export class Reading {
  /** Words in lower case; every other visible character is a word of its own, `?` where it is beyond ASCII. */
  words: string[] = [];
  /** How many characters have no width, turn the direction of writing, or are tags. */
  hidden: i32 = 0;
}

/** Characters by which words are hidden from people, or from detectors. */
function isHidden(c: i32): bool {
  return (
    (c >= 0x200b && c <= 0x200f && c != 0x200d) || // zero width; the joiner stands in many scripts and emoji
    (c >= 0x202a && c <= 0x202e) || // direction
    (c >= 0x2060 && c <= 0x2069) ||
    c == 0xfeff ||
    (c >= 0xe0000 && c <= 0xe007f) // tags
  );
}

/** Letters of other scripts that look like Latin ones, and wide forms. */
function folded(c: i32): i32 {
  if (c >= 0xff01 && c <= 0xff5e) c -= 0xfee0;
  if (c >= 0x41 && c <= 0x5a) return c + 32;
  if (c < 0x300) return c;
  const from = "аеорсухіѕԁкмтвнАЕОРСУХІЅКМТВНοαερ";
  const to = "aeopcyxisdkmtbhaeopcyxiskmtbhoaep";
  for (let i = 0; i < from.length; i++) if (from.charCodeAt(i) == c) return to.charCodeAt(i);
  return c;
}

function isLetter(c: i32): bool { return (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c == 0x5f || (c >= 0xc0 && c != 0x2026 && (c < 0x2000 || c > 0x206f)); }

/** What is longer is cut; no pattern has such words. */
const WORD = 32;
/** Stands for a character beyond ASCII that is no letter. */
const OTHER = "?";

/** Reads at most so many characters. */
export function read(text: string, most: i32): Reading {
  const out = new Reading();
  // Nothing is freed during a call: a word is gathered here, not by joining strings.
  const word = new StaticArray<u16>(WORD);
  let size = 0;
  for (let i = 0; i < min(text.length, most); i++) {
    let c = text.codePointAt(i);
    if (c > 0xffff) i++;
    if (isHidden(c)) {
      if (i > 0) out.hidden++; // the first may be a mark of the byte order
      continue;
    }
    c = folded(c);
    if (isLetter(c)) {
      if (size < WORD) word[size++] = c > 0xffff ? 0x3f : <u16>c;
      continue;
    }
    if (size > 0) out.words.push(String.UTF16.decodeUnsafe(changetype<usize>(word), 2 * size));
    size = 0;
    if (c > 0x20) out.words.push(c < 0x80 ? String.fromCharCode(c) : OTHER);
  }
  if (size > 0) out.words.push(String.UTF16.decodeUnsafe(changetype<usize>(word), 2 * size));
  return out;
}
