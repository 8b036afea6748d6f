//! What the host prepares a module with, and the requests that leave it out: `abi/SPEC.md`, §2.19.

use crate::codec::Message;
use crate::messages::*;
use std::cell::RefCell;
use std::mem;

thread_local! {
    static PREPARED: RefCell<PrepareRequest> = const { RefCell::new(PrepareRequest { digest: String::new(), profile: None, case: None }) };
}

/// Keeps what a request holds, for the requests that follow. [`serve_prepare!`](crate::serve_prepare) exports it.
pub fn prepare(request: PrepareRequest) -> Result<(), Failure> {
    PREPARED.with(|prepared| {
        let mut prepared = prepared.borrow_mut();
        prepared.digest = request.digest;
        if request.profile.is_some() {
            prepared.profile = request.profile;
        }
        if request.case.is_some() {
            prepared.case = request.case;
        }
    });
    Ok(())
}

/// A request of the contract.
pub trait Request: Message {
    /// Adds what the request leaves out, since the module was prepared with it. The failure says what the module was not prepared with.
    fn complete(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl Request for EdgeRequest {}
impl Request for JudgeRequest {}
impl Request for PrepareRequest {}

impl Request for ContestRequest {
    fn complete(&mut self) -> Result<(), Failure> {
        match self.prepared.take() {
            Some(with) => with.profile(&mut self.profile),
            None => Ok(()),
        }
    }
}

impl Request for NodeRequest {
    fn complete(&mut self) -> Result<(), Failure> {
        let with = match self.prepared.take() {
            Some(with) => with,
            None => return Ok(()),
        };
        with.profile(&mut self.profile)?;
        if with.case {
            let view = PREPARED.with(|prepared| give(&mut prepared.borrow_mut().case)).ok_or_else(|| not_prepared("case"))?;
            self.case.add(view);
        }
        Ok(())
    }
}

impl CaseView {
    /// Adds what the view lacks of the prepared one.
    fn add(&mut self, prepared: CaseView) {
        let CaseView { subject, labels, light, evidence, documents, experiments, signals } = prepared;
        fill(&mut self.subject, subject);
        fill(&mut self.labels, labels);
        fill(&mut self.light, light);
        fill(&mut self.evidence, evidence);
        fill(&mut self.documents, documents);
        fill(&mut self.experiments, experiments);
        fill(&mut self.signals, signals);
    }
}

/// Gives a field that is absent or empty the prepared value.
fn fill<T: Default + PartialEq>(own: &mut T, prepared: T) {
    if *own == T::default() {
        *own = prepared;
    } else {
        leave(prepared);
    }
}

impl Prepared {
    /// Sets the profile of a request to the parts that it has of the prepared one.
    fn profile(&self, profile: &mut Option<Profile>) -> Result<(), Failure> {
        PREPARED.with(|prepared| {
            let mut prepared = prepared.borrow_mut();
            if self.digest != prepared.digest {
                return Err(not_prepared("digest"));
            }
            if let Some(parts) = &self.profile {
                let whole = give(&mut prepared.profile).and_then(|whole| parts.of(whole));
                *profile = Some(whole.ok_or_else(|| not_prepared("profile"))?);
            }
            Ok(())
        })
    }
}

impl ProfileParts {
    fn of(&self, mut whole: Profile) -> Option<Profile> {
        if !self.outcomes {
            leave(whole.outcomes.take());
        }
        if !self.all {
            select(&mut whole.signals, &self.signals)?;
            select(&mut whole.sources, &self.sources)?;
        }
        Some(whole)
    }
}

/// Reduces a list to the elements at some indexes; `None` where one is beyond it.
fn select<T: Default>(list: &mut Vec<T>, indexes: &[i64]) -> Option<()> {
    let mut some = Vec::with_capacity(indexes.len());
    for &at in indexes {
        some.push(mem::take(list.get_mut(usize::try_from(at).ok()?)?));
    }
    leave(mem::replace(list, some));
    Some(())
}

/// Gives what was prepared to a call, without copying it: the host goes back to the memory before the call. Natively nobody does, and it is
/// copied.
fn give<T: Clone + Default>(prepared: &mut T) -> T {
    if cfg!(target_arch = "wasm32") {
        mem::take(prepared)
    } else {
        prepared.clone()
    }
}

/// Drops what a request does not have of what was prepared. In a call nothing is freed for it.
fn leave<T>(rest: T) {
    if cfg!(target_arch = "wasm32") {
        mem::forget(rest);
    }
}

fn not_prepared(field: &str) -> Failure {
    Failure::new("bad_request", &format!("prepared.{}: the module was prepared with something else", field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::answer;
    use crate::codec::{decode, encode};

    fn known() -> Profile {
        let signal = |phrase: &str| Signal { phrase: phrase.to_string(), ..Default::default() };
        let source = |source: &str| SourceReliability { source: source.to_string(), ..Default::default() };
        Profile {
            name: "known".to_string(),
            signals: vec![signal("one"), signal("two"), signal("three")],
            sources: vec![source("log"), source("repo")],
            signal_cap: 3.0,
            outcomes: Some(OutcomeModel::default()),
            ..Default::default()
        }
    }

    fn view() -> CaseView {
        let documents = vec![Document { name: "log".to_string(), text: "one two".to_string() }];
        CaseView { subject: "a test".to_string(), labels: vec!["a".to_string(), "b".to_string()], documents, ..Default::default() }
    }

    fn put(message: &[u8]) -> Option<Failure> {
        decode::<PrepareResponse>(&answer::<_, _, PrepareResponse>(prepare, message)).unwrap().failure
    }

    fn put_both() {
        for (digest, profile, case) in [("first", Some(known()), None), ("second", None, Some(view()))] {
            assert_eq!(put(&encode(&PrepareRequest { digest: digest.to_string(), profile, case })), None);
        }
    }

    fn with(digest: &str, profile: Option<ProfileParts>, case: bool) -> Option<Prepared> {
        Some(Prepared { digest: digest.to_string(), profile, case })
    }

    fn own(prepared: Option<Prepared>) -> NodeRequest {
        let (labels, experiments) = (vec!["own".to_string()], vec![ExperimentResult::default()]);
        NodeRequest { case: CaseView { labels, experiments, ..Default::default() }, prepared, ..Default::default() }
    }

    fn all() -> Option<ProfileParts> {
        Some(ProfileParts { all: true, outcomes: true, ..Default::default() })
    }

    #[test]
    fn requests_are_completed() {
        put_both();
        let parts = ProfileParts { signals: vec![0, 2], sources: vec![1], ..Default::default() };
        let mut some = own(with("second", Some(parts), true));
        assert_eq!(some.complete(), Ok(()));
        let mut profile = Profile { outcomes: None, ..known() };
        profile.signals.remove(1);
        profile.sources.remove(0);
        let case = CaseView { subject: view().subject, documents: view().documents, ..own(None).case };
        assert_eq!(some, NodeRequest { profile: Some(profile), case, ..own(None) });

        let mut whole = ContestRequest { prepared: with("second", all(), false), ..Default::default() };
        assert_eq!(whole.complete(), Ok(()));
        assert_eq!(whole, ContestRequest { profile: Some(known()), ..Default::default() });

        let mut nothing = own(with("second", None, false));
        assert_eq!(nothing.complete(), Ok(()));
        assert_eq!(nothing, own(None));
    }

    #[test]
    fn what_is_not_there_is_a_bad_request() {
        let rejects = |prepared| own(prepared).complete().unwrap_err().code == "bad_request";
        assert!(rejects(with("first", None, false)));
        assert_eq!(put(&encode(&PrepareRequest { digest: "first".to_string(), ..Default::default() })), None);
        assert!(rejects(with("first", all(), false)));
        assert!(rejects(with("first", None, true)));
        put_both();
        assert_eq!(put(b"\x81\xa3fog\x01").unwrap().code, "bad_request");
        assert!(rejects(with("first", None, true)));
        assert!(rejects(with("second", Some(ProfileParts { signals: vec![3], ..Default::default() }), false)));
        assert!(rejects(with("second", Some(ProfileParts { sources: vec![-1], ..Default::default() }), false)));
        assert_eq!(own(with("second", all(), true)).complete(), Ok(()));
    }

    #[test]
    fn handlers_see_whole_requests() {
        fn node(request: NodeRequest) -> Result<Artifact, Failure> {
            Err(Failure::new(&request.profile.unwrap().name, &request.case.subject))
        }
        put_both();
        let ask = |prepared| {
            let mut request = NodeRequest { node: "verdict".to_string(), prepared, ..Default::default() };
            for text in [&mut request.persona.name, &mut request.persona.role, &mut request.persona.alignment] {
                text.push('x');
            }
            decode::<NodeResponse>(&answer::<_, _, NodeResponse>(node, &encode(&request))).unwrap().failure.unwrap()
        };
        assert_eq!(ask(with("second", all(), true)), Failure::new("known", "a test"));
        assert_eq!(ask(with("first", all(), true)).code, "bad_request");
    }
}
