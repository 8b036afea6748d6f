// What breaches look like.

/** A way of addressing the reader that data has no business with. */
export class Pattern {
  /** Alternatives of one word each, in order; `*` stands for up to four words of any kind. */
  parts: string[][];

  constructor(public kind: string, public weight: f64, source: string) {
    this.parts = source.split(" ").map<string[]>((part) => part.split("|"));
  }

  /** Says where the pattern ends if it stands at the word of this index; -1 if it doesn't. */
  match(words: string[], at: i32, part: i32 = 0): i32 {
    for (let i = part; i < this.parts.length; i++) {
      if (this.parts[i].length == 1 && this.parts[i][0] == "*") {
        for (let skip = 0; skip <= 4; skip++) {
          const end = this.match(words, at + skip, i + 1);
          if (end >= 0) return end;
        }
        return -1;
      }
      if (at >= words.length || !this.parts[i].includes(words[at])) return -1;
      at++;
    }
    return at;
  }
}

export const OVERRIDE = "it sets instructions aside";
export const ROLE = "it hands out roles";
export const VERDICT = "it dictates an answer";
export const FORGERY = "it forges the marks of a conversation";
export const SECRETS = "it asks for what the reader was told";
export const HIDDEN = "it hides characters";

let cached: Pattern[] = [];

/** The patterns. A weight is about the probability that a text with it means to steer its reader. */
export function patterns(): Pattern[] {
  if (cached.length > 0) return cached;
  const out: Pattern[] = [];
  out.push(new Pattern(OVERRIDE, 0.9, "ignore|disregard|forget|override|bypass * previous|prior|above|earlier|preceding|your|system * instructions|instruction|rules|prompt|prompts|directions|guidelines|context"));
  out.push(new Pattern(OVERRIDE, 0.8, "do|must|should not follow|obey|apply * instructions|rules|rubric|guidelines"));
  out.push(new Pattern(OVERRIDE, 0.7, "new|updated|real instructions|instruction :"));
  out.push(new Pattern(ROLE, 0.7, "you are|re now"));
  out.push(new Pattern(ROLE, 0.6, "you are|re * judge|prosecutor|defender|evaluator|assistant|grader|auditor"));
  out.push(new Pattern(ROLE, 0.6, "act|behave|respond|answer|pretend as|like * judge|prosecutor|defender|admin|administrator|developer|evaluator|dan"));
  out.push(new Pattern(ROLE, 0.7, "developer|god|admin|debug|jailbreak mode enabled|on|activated"));
  out.push(new Pattern(VERDICT, 0.8, "you|judge|judges|court|evaluator|grader must|should|shall|will|have|need * affirm|acquit|amend|remand|score|rate|grade|approve|dismiss|accept"));
  out.push(new Pattern(VERDICT, 0.8, "give|assign|award|set|return|output|answer|respond * score|rating|grade|numeric_score|verdict|confidence * 5|five|100|1|10|maximum|highest|perfect|affirm|acquit|full"));
  out.push(new Pattern(VERDICT, 0.7, "security_violation_found|numeric_score|final_classification|motion_to_dismiss|plea_deal :|="));
  out.push(new Pattern(FORGERY, 0.9, "< | im_start|im_end|system|user|assistant|endoftext"));
  out.push(new Pattern(FORGERY, 0.8, "[ inst|system|assistant ]"));
  out.push(new Pattern(FORGERY, 0.7, "# # # instruction|instructions|system|response|assistant|human"));
  out.push(new Pattern(FORGERY, 0.7, "< / system|instructions|evidence|document|opinion|data|context >"));
  out.push(new Pattern(FORGERY, 0.6, "end|begin of|new * evidence|document|prompt|input|data|instructions * begin|system|instructions|end"));
  out.push(new Pattern(SECRETS, 0.8, "reveal|print|repeat|show|output|leak|tell * your|system|hidden|initial * prompt|instructions|rules|rubric"));
  // The parts are separated by | and so is this mark itself.
  out[10].parts[1] = ["|"];
  cached = out;
  return cached;
}
