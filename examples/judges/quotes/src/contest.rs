//! The persona: contests items of an indictment that nobody wrote, and items that only repeat another.

use crate::judge::shortened;
use crate::similar;
use shadowcourt::*;

/// Two items are the same observation from here on; `min_similarity` changes it.
const SAME: f64 = 0.8;
/// Of an item's content, what is compared.
const MOST_WORDS: usize = 200;
/// With how many earlier items an item is compared.
const LOOK_BACK: usize = 64;

pub fn contest(request: ContestRequest) -> Result<Vec<Challenge>, Failure> {
    let same = number(&request.params, "min_similarity").unwrap_or(SAME);
    let words: Vec<Vec<String>> = request
        .items
        .iter()
        .map(|i| similar::words(&i.item.content).into_iter().take(MOST_WORDS).collect())
        .collect();
    let mut challenges = Vec::new();
    for (i, item) in request.items.iter().enumerate() {
        let repeated = (i.saturating_sub(LOOK_BACK)..i).find(|&j| {
            let (short, long) = if words[i].len() < words[j].len() { (&words[i], &words[j]) } else { (&words[j], &words[i]) };
            short.len() >= 3 && short.len() * 2 >= long.len() && similar::passage(short, long).0 >= same
        });
        let (severity, challenge) = match (item.exhibit.quote, repeated) {
            (QuoteStatus::Absent, _) => {
                (Severity::Fatal, format!("{} does not have what the item says it has: \"{}\"", item.exhibit.document, shortened(&item.item.content)))
            }
            (_, Some(j)) => {
                (Severity::Weakening, format!("says what item {} says, in nearly the same words", request.items[j].evidence_index))
            }
            _ => continue,
        };
        challenges.push(Challenge { evidence_index: item.evidence_index, challenge, severity, by: String::new() });
    }
    Ok(challenges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(index: i64, content: &str, quote: QuoteStatus) -> ContestItem {
        ContestItem {
            evidence_index: index,
            item: IndictmentItem { source_ref: "log".to_string(), content: content.to_string(), ..Default::default() },
            exhibit: Exhibit { evidence_index: index, quote, document: "log".to_string(), ..Default::default() },
        }
    }

    #[test]
    fn only_what_is_wrong() {
        let request = ContestRequest {
            items: vec![
                item(0, "quota exceeded for volume data-7", QuoteStatus::Stands),
                item(3, "Quota exceeded for volume  data-7!", QuoteStatus::Unclaimed),
                item(4, "the controller reported a parity error", QuoteStatus::Absent),
                item(5, "attempt 4 of 5 failed", QuoteStatus::Stands),
            ],
            ..Default::default()
        };
        let got: Vec<_> = contest(request).unwrap().into_iter().map(|c| (c.evidence_index, c.severity)).collect();
        assert_eq!(got, [(3, Severity::Weakening), (4, Severity::Fatal)]);
    }
}
