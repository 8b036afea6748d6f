//! A guest that reads any message of the contract and writes it again: the test vectors are put through it.
//!
//! The request is a byte with the length of a type's name, the name, and the message. The response begins with a 0 and goes
//! on with the canonical bytes, or with a 1 and goes on with the problem's path, a zero byte, and its code. A node request itself,
//! which begins with the head of a map, is answered with the offer that runs green tests, with a question to the first model, or with a
//! failure that repeats what the model said. At a node with the name repeat, and to a contest request, the answer is a failure that repeats
//! the request, in hexadecimal.

#[rustfmt::skip]
mod by_name;

use shadowcourt::codec::{encode, Message};
use shadowcourt::{Artifact, Challenge, Completion, ContestRequest, Failure, NodeRequest, NodeResponse, TreeRevision};

shadowcourt::manifest! {
    name: "vectors",
    version: "1.0.0",
    calls: ["node", "contest"],
    families: ["indict", "discover"],
    capabilities: ["log", "recall"],
    source: "https://github.com/shadowcourt/shadowcourt/tree/main/sdk/rust",
    licence: "Apache-2.0",
}

shadowcourt::serve_prepare!();

#[no_mangle]
extern "C" fn shadowcourt_node(pointer: *const u8, length: usize) -> u64 {
    let request = unsafe { shadowcourt::call::request(pointer, length) };
    if request[0] >= 0x80 {
        return shadowcourt::call::give(shadowcourt::call::answer::<_, NodeResponse, NodeResponse>(node, request));
    }
    let (name, message) = request[1..].split_at(request[0] as usize);
    shadowcourt::call::give(match by_name::rewrite(std::str::from_utf8(name).unwrap(), message) {
        Ok(canonical) => [&[0], canonical.as_slice()].concat(),
        Err(problem) => [&[1], problem.path().as_bytes(), &[0], problem.code.as_bytes()].concat(),
    })
}

fn repeat(request: &impl Message) -> Failure {
    Failure::new("repeat", &encode(request).iter().map(|b| format!("{:02x}", b)).collect::<String>())
}

fn node(request: NodeRequest) -> Result<NodeResponse, Failure> {
    if request.node == "repeat" {
        return Err(repeat(&request));
    }
    match request.offers.iter().find(|o| o.experiment.tests == TreeRevision::Base) {
        Some(offer) => Ok(NodeResponse { experiment: Some(offer.experiment.clone()), ..Default::default() }),
        None => shadowcourt::call::with_models(ask, refuse, request),
    }
}

fn ask(request: &NodeRequest) -> Option<Completion> {
    match request.completions.first() {
        Some(_) => None,
        None => Some(Completion::new(&request.models[0], 100, &request.prompt, &request.case.subject)),
    }
}

fn refuse(request: NodeRequest) -> Result<Artifact, Failure> {
    match request.completions.first() {
        Some(result) => Err(Failure::new("said", result.answer()?)),
        None => Err(Failure::new("no_offer", "nothing to run")),
    }
}

fn contest(request: ContestRequest) -> Result<Vec<Challenge>, Failure> {
    Err(repeat(&request))
}

/// Without a request: asks the casebook, logs how many cases there are, and answers with them.
#[no_mangle]
extern "C" fn shadowcourt_contest(pointer: *const u8, length: usize) -> u64 {
    if length > 0 {
        let request = unsafe { shadowcourt::call::request(pointer, length) };
        return shadowcourt::call::give(shadowcourt::call::answer::<_, _, shadowcourt::ContestResponse>(contest, request));
    }
    let cases = shadowcourt::capability::recall(&shadowcourt::RecallQuery { limit: 3 }).unwrap();
    shadowcourt::capability::log(&format!("{} cases", cases.len()));
    shadowcourt::call::give(shadowcourt::codec::encode(&shadowcourt::PriorCases { cases }))
}
