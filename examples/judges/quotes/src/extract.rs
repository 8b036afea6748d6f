//! Finding what a text quotes.

/// Shorter ones are names and scare quotes.
const LEAST_WORDS: usize = 3;
/// What is longer is cut: a longer quote proves no more.
const MOST_BYTES: usize = 1000;
const MOST_QUOTES: usize = 64;

/// The quotations of a text: what stands between double, typographic or angle quotation marks, between backticks, or in
/// lines that begin with `>`. An ellipsis parts a quotation in two.
pub fn quotations(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in text.split("\n\n") {
        for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('`', '`')] {
            between(paragraph, open, close, &mut found);
        }
    }
    let block: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix('>')).collect();
    add(&block.join("\n"), &mut found);
    found.truncate(MOST_QUOTES);
    found
}

fn between(text: &str, open: char, close: char, found: &mut Vec<String>) {
    let mut rest = text;
    while let Some(begin) = rest.find(open) {
        rest = &rest[begin + open.len_utf8()..];
        match rest.find(close) {
            Some(end) => {
                add(&rest[..end], found);
                rest = &rest[end + close.len_utf8()..];
            }
            None => return,
        }
    }
}

fn add(quotation: &str, found: &mut Vec<String>) {
    for part in quotation.split("...").flat_map(|part| part.split('…')) {
        let part = part.trim();
        let cut = (0..=part.len().min(MOST_BYTES)).rev().find(|&i| part.is_char_boundary(i)).unwrap_or(0);
        let part = &part[..cut];
        if part.split_whitespace().count() >= LEAST_WORDS && !found.iter().any(|known| known == part) {
            found.push(part.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::quotations;

    #[test]
    fn every_way_of_quoting() {
        let text = "It says \"no space left on device\" and “quota exceeded for data-7”.\n\nAlso `dial tcp: connection refused`, \"a word\".\n> the block\n> goes on";
        assert_eq!(
            quotations(text),
            ["no space left on device", "quota exceeded for data-7", "dial tcp: connection refused", "the block\n goes on"]
        );
    }

    #[test]
    fn an_ellipsis_parts_and_an_open_mark_is_none() {
        assert_eq!(quotations("\"write failed on disk ... no space left here\""), ["write failed on disk", "no space left here"]);
        assert!(quotations("a 5\" disk of the third kind").is_empty());
    }
}
