//! The persona on the bench: notes whether what the parties quoted in a round stands in the evidence.

use crate::judge::{look_up, STANDS};
use shadowcourt::*;

pub fn note(request: NodeRequest) -> Result<Artifact, Failure> {
    let turn = match (&request.family, &request.turn) {
        (Family::Hearing, Some(turn)) if turn.speaker == Side::Bench => turn,
        _ => return Err(Failure::new("wrong_family", "this module sits on the bench of a hearing")),
    };
    let stands = number(&request.params, "min_similarity").unwrap_or(STANDS);
    let prosecution = look_up(&turn.prosecution_argument, &request.case.evidence, stands);
    let defense = look_up(&turn.defense_rebuttal, &request.case.evidence, stands);
    let note = HearingTurn {
        argument: format!("Prosecution: {} Defense: {}", prosecution.argument, defense.argument),
        ..Default::default()
    };
    Ok(Artifact { hearing_turn: Some(note), ..Default::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parties_are_looked_up() {
        let mut request = NodeRequest { family: Family::Hearing, ..Default::default() };
        request.case.evidence = vec![Evidence { content: "quota exceeded for volume data-7".to_string(), ..Default::default() }];
        request.turn = Some(TurnRequest {
            speaker: Side::Bench,
            prosecution_argument: "\"quota exceeded for volume data-7\"".to_string(),
            defense_rebuttal: "\"a parity error of the controller\"".to_string(),
            ..Default::default()
        });
        let argument = note(request.clone()).unwrap().hearing_turn.unwrap().argument;
        assert!(argument.starts_with("Prosecution: Of 1 quotations 1 stand"), "{}", argument);
        assert!(argument.contains("Defense: Of 1 quotations 0 stand"), "{}", argument);
        request.turn = None;
        assert_eq!(note(request).unwrap_err().code, "wrong_family");
    }
}
