//! How alike two texts are, and where in a text another stands, nearly.

/// A text as words: runs of letters and digits in lower case, other characters on their own. White space and the shapes of
/// quotation marks and dashes don't count.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() && !is_shape(c) {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Punctuation that people and editors change when they quote.
fn is_shape(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '.' | ',' | ';' | '…' | '-' | '\u{2010}'..='\u{201f}' | '«' | '»')
}

/// The passage of `text` that is most like `quote`: how alike, from 0 to 1, and its first word.
///
/// It is 1 less the edit distance, in words, between the quote and the passage, as a share of the quote's words; words that
/// are nearly the same cost a part of one. Costs `quote.len() * text.len()` steps (Sellers' algorithm).
pub fn passage(quote: &[String], text: &[String]) -> (f64, usize) {
    if quote.is_empty() || text.is_empty() {
        return (0.0, 0);
    }
    // Column j of the table: the least cost of quote[..=i] against a passage that ends at text[j], and where it begins.
    let mut column: Vec<(f64, usize)> = (0..=quote.len()).map(|i| (i as f64, 0)).collect();
    let mut best = (quote.len() as f64, 0);
    for (j, word) in text.iter().enumerate() {
        let mut diagonal = column[0];
        column[0] = (0.0, j + 1);
        for (i, wanted) in quote.iter().enumerate() {
            let begin = if i == 0 { j } else { diagonal.1 };
            let replaced = (diagonal.0 + cost(wanted, word), begin);
            let skipped = (column[i + 1].0 + 1.0, column[i + 1].1);
            let left_out = (column[i].0 + 1.0, column[i].1);
            diagonal = column[i + 1];
            column[i + 1] = [skipped, left_out].into_iter().fold(replaced, |a, b| if b.0 < a.0 { b } else { a });
        }
        if column[quote.len()].0 < best.0 {
            best = column[quote.len()];
        }
    }
    ((1.0 - best.0 / quote.len() as f64).max(0.0), best.1)
}

/// What replacing a word costs: nothing for the same, a part for a misspelled one, 1 for another. Numbers are the same or not.
fn cost(a: &str, b: &str) -> f64 {
    if a == b {
        return 0.0;
    }
    let number = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
    let (longer, shorter) = (a.len().max(b.len()), a.len().min(b.len()));
    if number(a) || number(b) || shorter < 4 || longer - shorter > 2 {
        return 1.0;
    }
    let share = distance(a.as_bytes(), b.as_bytes()) as f64 / longer as f64;
    if share <= 0.34 {
        share
    } else {
        1.0
    }
}

/// Levenshtein's distance.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + (x != y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(quote: &str, text: &str) -> f64 {
        passage(&words(quote), &words(text)).0
    }

    #[test]
    fn a_quote_stands_however_it_is_wrapped() {
        let log = "12:00 ok\nwrite failed:\n\tno space   left on device\n12:01 retry";
        assert_eq!(alike("Write failed: no space left on device", log), 1.0);
        assert_eq!(passage(&words("no space"), &words(log)).1, 7);
    }

    #[test]
    fn what_was_changed_costs() {
        let log = "the server answered 503 Service Unavailable after 30 seconds";
        let misspelled = alike("the sever answered 503 Service Unavailable", log);
        let other_number = alike("the server answered 500 Service Unavailable", log);
        assert!(misspelled > 0.95 && misspelled < 1.0, "{}", misspelled);
        assert!(other_number < 0.9 && other_number > 0.7, "{}", other_number);
        assert!(alike("a disk was replaced by hand", log) < 0.3);
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert_eq!(passage(&[], &words("a")), (0.0, 0));
        assert_eq!(passage(&words("a"), &[]), (0.0, 0));
    }
}
