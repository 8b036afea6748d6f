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
        complete(self.prepared.take(), &mut self.profile, None)
    }
}

impl Request for NodeRequest {
    fn complete(&mut self) -> Result<(), Failure> {
        complete(self.prepared.take(), &mut self.profile, Some(&mut self.case))
    }
}

fn complete(with: Option<Prepared>, profile: &mut Option<Profile>, case: Option<&mut CaseView>) -> Result<(), Failure> {
    let with = match with {
        Some(with) => with,
        None => return Ok(()),
    };
    PREPARED.with(|prepared| {
        let mut prepared = prepared.borrow_mut();
        if with.digest != prepared.digest {
            return Err(not_prepared("digest"));
        }
        if let Some(parts) = with.profile {
            let whole = give(&mut prepared.profile).and_then(|whole| parts.of(whole));
            *profile = Some(whole.ok_or_else(|| not_prepared("profile"))?);
        }
        if let (true, Some(own)) = (with.case, case) {
            own.add(prepared.case.as_mut().ok_or_else(|| not_prepared("case"))?);
        }
        Ok(())
    })
}

impl CaseView {
    /// Adds what the view lacks of the prepared one.
    fn add(&mut self, prepared: &mut CaseView) {
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
fn fill<T: Clone + Default + PartialEq>(own: &mut T, prepared: &mut T) {
    if *own == T::default() {
        *own = give(prepared);
    }
}

impl ProfileParts {
    /// The parts of a profile; `None` where it lacks an element.
    fn of(&self, mut whole: Profile) -> Option<Profile> {
        if !self.outcomes {
            whole.outcomes = None;
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
    // The rest is not freed: that would cost fuel, and the memory ends with the call.
    mem::forget(mem::replace(list, some));
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

fn not_prepared(field: &str) -> Failure {
    Failure::new("bad_request", &format!("prepared.{}: the module was prepared with something else", field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natively_a_second_request_is_completed_too() {
        let profile = Profile { name: "known".to_string(), sources: vec![SourceReliability::default()], ..Default::default() };
        let case = CaseView { subject: "a test".to_string(), ..Default::default() };
        prepare(PrepareRequest { digest: "first".to_string(), profile: Some(profile.clone()), case: Some(case.clone()) }).unwrap();
        for _ in 0..2 {
            let parts = ProfileParts { sources: vec![0], ..Default::default() };
            let mut request = NodeRequest {
                prepared: Some(Prepared { digest: "first".to_string(), profile: Some(parts), case: true }),
                ..Default::default()
            };
            assert_eq!(request.complete(), Ok(()));
            assert_eq!(request, NodeRequest { profile: Some(profile.clone()), case: case.clone(), ..Default::default() });
        }
    }
}
