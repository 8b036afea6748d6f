// Finding breaches in a text.

import { HIDDEN, patterns } from "./patterns";
import { read } from "./text";

/** What of one text is read, and what of all texts of a call: some seconds of fuel. */
const MOST_CHARACTERS = 200000;
let left = 1000000;

/** What was found in a text. */
export class Finding {
  /** How probable it is that the text means to steer its reader. */
  probability: f64 = 0;
  /** The kinds of what was found, each once. */
  kinds: string[] = [];
  /** The words of what weighs most; "" where nothing was found. */
  passage: string = "";
}

/** Reads a text for breaches. Kinds are taken for independent: 1 - (1-p)(1-q)...; of a kind the heaviest counts. */
export function detect(text: string): Finding {
  const reading = read(text, min(left, MOST_CHARACTERS));
  left -= min(left, text.length);
  const all = patterns();
  const found = new Finding();
  const weights: f64[] = [];
  let most: f64 = 0;
  for (let at = 0; at < reading.words.length; at++) {
    for (let i = 0; i < all.length; i++) {
      const end = all[i].match(reading.words, at);
      if (end < 0) continue;
      note(found.kinds, weights, all[i].kind, all[i].weight);
      if (all[i].weight > most) {
        most = all[i].weight;
        found.passage = reading.words.slice(at, end).join(" ");
      }
    }
  }
  // A few hidden characters are a slip of an editor; many are a message.
  if (reading.hidden >= 3) note(found.kinds, weights, HIDDEN, reading.hidden >= 16 ? 0.7 : 0.4);
  let innocent: f64 = 1;
  for (let i = 0; i < weights.length; i++) innocent *= 1 - weights[i];
  found.probability = 1 - innocent;
  return found;
}

function note(kinds: string[], weights: f64[], kind: string, weight: f64): void {
  const at = kinds.indexOf(kind);
  if (at >= 0) {
    weights[at] = max(weights[at], weight);
    return;
  }
  kinds.push(kind);
  weights.push(weight);
}
