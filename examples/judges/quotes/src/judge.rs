//! The judge: scores a text by whether what it quotes stands in the evidence.

use crate::{extract::quotations, similar};
use shadowcourt::*;

/// From here on a quotation stands; `min_similarity` changes it.
pub const STANDS: f64 = 0.9;
/// Below it a quotation is nowhere; between the two it was altered.
const ALTERED: f64 = 0.6;

struct Source<'a> {
    name: &'a str,
    words: Vec<String>,
}

/// A quotation, how alike the best passage is, and the source that has it.
struct Match<'a> {
    quote: String,
    alike: f64,
    source: Option<&'a str>,
}

pub fn judge(request: JudgeRequest) -> Result<Vec<CriterionOpinion>, Failure> {
    let stands = number(&request.params, "min_similarity").unwrap_or(STANDS);
    if !(ALTERED..=1.0).contains(&stands) {
        return Err(Failure::new("bad_parameter", "min_similarity is outside [0.6, 1]"));
    }
    let verdict = look_up(&request.opinion.text, &request.evidence, stands);
    Ok(request
        .criteria
        .iter()
        .map(|criterion| CriterionOpinion {
            judge: request.judge.clone(),
            criterion_id: criterion.criterion_id.clone(),
            numeric_score: verdict.score,
            argument: verdict.argument.clone(),
            cited_evidence: verdict.cited.clone(),
            relevance_confidence: verdict.confidence,
            security_violation_found: false,
        })
        .collect())
}

/// How many pairs of words are compared at most: some seconds of fuel.
const MOST_PAIRS: usize = 40_000_000;

/// Looks the quotations of a text up in the evidence. Those for which there is no time are left out.
pub fn look_up(text: &str, evidence: &[Evidence], stands: f64) -> Weighed {
    let sources: Vec<Source> = evidence.iter().map(|e| Source { name: &e.source_ref, words: similar::words(&e.content) }).collect();
    let size: usize = sources.iter().map(|s| s.words.len()).sum();
    let mut pairs = 0;
    let mut quotes = quotations(text);
    let all = quotes.len();
    quotes.retain(|quote| {
        pairs += size * similar::words(quote).len();
        pairs <= MOST_PAIRS
    });
    let left_out = all - quotes.len();
    let matches: Vec<Match> = quotes.into_iter().map(|quote| find(quote, &sources)).collect();
    let mut weighed = weigh(&matches, stands);
    if left_out > 0 {
        weighed.argument.push_str(&format!(" {} more were not looked up: the evidence is too long.", left_out));
    }
    weighed
}

fn find<'a>(quote: String, sources: &[Source<'a>]) -> Match<'a> {
    let wanted = similar::words(&quote);
    let mut found = Match { quote, alike: 0.0, source: None };
    for source in sources {
        let (alike, _) = similar::passage(&wanted, &source.words);
        if alike > found.alike {
            found.alike = alike;
            found.source = Some(source.name);
        }
    }
    found
}

pub struct Weighed {
    pub score: i64,
    pub argument: String,
    pub cited: Vec<String>,
    pub confidence: f64,
}

/// 5: all stand. 4: all stand or are altered a little. 3 and 2: some are altered, a minority is nowhere. 1: half or more is nowhere.
fn weigh(matches: &[Match], stands: f64) -> Weighed {
    let altered = matches.iter().filter(|m| m.alike < stands && m.alike >= ALTERED).count();
    let absent = matches.iter().filter(|m| m.alike < ALTERED).count();
    let all = matches.len();
    let score = match (absent, altered) {
        _ if all == 0 => 3,
        (0, 0) => 5,
        (0, altered) if 2 * altered < all => 4,
        (0, _) => 3,
        (absent, _) if 2 * absent < all => 2,
        _ => 1,
    };
    let mut argument = match all {
        0 => "The text quotes nothing, so there is nothing to look up.".to_string(),
        _ => format!("Of {} quotations {} stand in the evidence, {} were altered, {} stand nowhere.", all, all - altered - absent, altered, absent),
    };
    for m in matches.iter().filter(|m| m.alike < stands).take(5) {
        let what = if m.alike < ALTERED { "stands nowhere" } else { "was altered" };
        argument.push_str(&format!(" \"{}\" {}.", shortened(&m.quote), what));
    }
    let mut cited: Vec<String> = Vec::new();
    for name in matches.iter().filter(|m| m.alike >= ALTERED).filter_map(|m| m.source) {
        if !cited.iter().any(|known| known == name) {
            cited.push(name.to_string());
        }
    }
    // One quotation more or less tells little; the tenth changes nothing any more.
    Weighed { score, argument, cited, confidence: all as f64 / (all as f64 + 1.0) }
}

pub fn shortened(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match folded.char_indices().nth(80) {
        Some((end, _)) => folded[..end].to_string() + "...",
        None => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opinion(text: &str) -> CriterionOpinion {
        let evidence = |source_ref: &str, content: &str| Evidence {
            source_ref: source_ref.to_string(),
            content: content.to_string(),
            ..Default::default()
        };
        let request = JudgeRequest {
            judge: "clerk of quotes".to_string(),
            opinion: JudicialOpinion { text: text.to_string(), ..Default::default() },
            criteria: vec![Criterion { criterion_id: "quotations".to_string(), ..Default::default() }],
            evidence: vec![
                evidence("log:L2", "quota exceeded for volume data-7: 20 GiB of 20 GiB"),
                evidence("log:L9", "retrying in 30 seconds, attempt 4 of 5"),
            ],
            ..Default::default()
        };
        judge(request).unwrap().remove(0)
    }

    #[test]
    fn quotes_that_stand() {
        let o = opinion("The log says \"Quota exceeded for volume data-7\", and later \"attempt 4 of 5\".");
        assert_eq!((o.numeric_score, o.cited_evidence), (5, vec!["log:L2".to_string(), "log:L9".to_string()]));
        assert_eq!((o.judge.as_str(), o.criterion_id.as_str()), ("clerk of quotes", "quotations"));
    }

    #[test]
    fn a_quote_that_was_altered() {
        let o = opinion("The log says \"quota exceeded for volume data-9: 20 GiB\".");
        assert!(o.numeric_score == 3 && o.argument.contains("was altered"), "{:?}", o);
    }

    #[test]
    fn a_quote_that_was_made_up() {
        let o = opinion("The log says \"the disk controller reported a parity error\".");
        assert_eq!((o.numeric_score, o.cited_evidence.len()), (1, 0));
    }

    #[test]
    fn no_quote_is_no_proof() {
        let o = opinion("It was the quota.");
        assert_eq!((o.numeric_score, o.relevance_confidence), (3, 0.0));
    }
}
