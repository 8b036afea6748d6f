//! Sentences, and what is compared of them.

/// Characters of a quote.
const MAX_QUOTE: usize = 300;

/// Words that carry no meaning of their own.
const STOPWORDS: &str = "a an the this that these those it its he she they we you i his her their our your them him us me
is are was were be been being am do does did has have had can could will would shall should may might must
of in on at to from by for with as into onto over under about than then so and or but if when while which who whom whose what where
there here also both each all any some such more most very just only too up down out off through during between after before";
const NEGATIONS: &str = "not no never none neither nor without cannot";

/// A part of a document up to a full stop, a question or exclamation mark before white space, or the end of a line.
pub struct Sentence {
    pub document: String,
    pub text: String,
    words: Vec<String>,
    numbers: Vec<String>,
    negated: bool,
}

/// The sentences of a text that have a word or a number that carries meaning.
pub fn sentences(document: &str, text: &str) -> Vec<Sentence> {
    let mut list = Vec::new();
    for line in text.split('\n').map(unmarked) {
        let bytes = line.as_bytes();
        let mut start = 0;
        for i in 0..bytes.len() {
            let ends = i + 1 == bytes.len() || matches!(bytes[i], b'.' | b'!' | b'?') && matches!(bytes[i + 1], b' ' | b'\t' | b'\r');
            if ends {
                let s = Sentence::new(document, line[start..i + 1].trim_matches(|c| matches!(c, ' ' | '\t' | '\r')));
                if !s.words.is_empty() || !s.numbers.is_empty() {
                    list.push(s);
                }
                start = i + 1;
            }
        }
    }
    list
}

/// A line without the number that marks it in a list: "2. " or "2) ".
fn unmarked(line: &str) -> &str {
    let text = line.trim_start_matches(|c| matches!(c, ' ' | '\t'));
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.len() < text.len() && (rest.starts_with(". ") || rest.starts_with(") ")) {
        true => &rest[2..],
        false => line,
    }
}

impl Sentence {
    fn new(document: &str, text: &str) -> Sentence {
        let mut s =
            Sentence { document: document.to_string(), text: text.to_string(), words: Vec::new(), numbers: Vec::new(), negated: false };
        let mut previous = String::new();
        for w in split(text) {
            if NEGATIONS.split_whitespace().any(|n| n == w) || w == "t" && previous.ends_with('n') {
                s.negated = !s.negated; // isn't, can't
            } else if w.as_bytes()[0].is_ascii_digit() {
                once(&mut s.numbers, &w);
            } else if w.len() > 1 && !STOPWORDS.split_whitespace().any(|n| n == w) {
                once(&mut s.words, stem(&w));
            }
            previous = w;
        }
        s
    }

    /// The share of a claim's words that the sentence does not have; nothing where it is not near: it has all numbers of the claim, says
    /// "not" if the claim does, and has half of its words.
    pub fn lacks(&self, claim: &Sentence) -> Option<f64> {
        if self.negated != claim.negated || !claim.numbers.iter().all(|n| self.numbers.contains(n)) {
            return None;
        }
        match claim.words.iter().filter(|w| !self.words.contains(w)).count() {
            0 => Some(0.0),
            lacking if 2 * lacking <= claim.words.len() => Some(lacking as f64 / claim.words.len() as f64),
            _ => None,
        }
    }

    /// The sentence, cut to MAX_QUOTE characters.
    pub fn quote(&self) -> &str {
        self.text.char_indices().nth(MAX_QUOTE).map_or(&self.text, |(end, _)| &self.text[..end])
    }
}

fn once(list: &mut Vec<String>, word: &str) {
    if !list.iter().any(|w| w == word) {
        list.push(word.to_string());
    }
}

/// The words and numbers of a text in lower case. A letter beyond ASCII is of a word, but for spaces and punctuation. A number may have a
/// point within (3.5); commas within are left out (1,200).
fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut list = Vec::new();
    let mut word = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let digit = |i: usize| chars.get(i).map_or(false, char::is_ascii_digit);
        let within = i > 0 && digit(i - 1) && digit(i + 1) && word.starts_with(|c: char| c.is_ascii_digit());
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => word.push(c.to_ascii_lowercase()),
            '.' if within => word.push(c),
            ',' if within => {}
            '\u{80}'..='\u{9f}' | '\u{a1}'..='\u{1fff}' | '\u{2070}'..='\u{10ffff}' => word.push(c),
            _ if !word.is_empty() => list.push(std::mem::take(&mut word)),
            _ => {}
        }
    }
    if !word.is_empty() {
        list.push(word);
    }
    list
}

/// A word without the commonest endings of English.
fn stem(word: &str) -> &str {
    let ending = ["ing", "ed", "es", "s"].iter().find(|e| word.len() >= e.len() + 3 && word.ends_with(**e));
    let word = ending.map_or(word, |e| &word[..word.len() - e.len()]);
    if word.len() > 3 {
        return word.strip_suffix('e').unwrap_or(word);
    }
    word
}

/// A quote as one line of a question.
pub fn one_line(text: &str) -> String {
    text.replace(|c| matches!(c, '\r' | '\t' | '\u{2028}' | '\u{2029}'), " ")
}
