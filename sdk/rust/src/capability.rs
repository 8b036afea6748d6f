//! What a module may ask the host for, beyond its request: `abi/SPEC.md`, §2.12.
//!
//! The manifest must list each capability that is used, and the pipeline must grant it; otherwise the module does not load. Only
//! the functions that a module calls are imported. Natively there is no host, and nothing is known.

use crate::codec::{decode, encode, Message};
use crate::messages::*;

#[cfg(target_arch = "wasm32")]
mod host {
    #[link(wasm_import_module = "shadowcourt")]
    extern "C" {
        pub fn log(request: *const u8, length: usize, answer: *mut u8, capacity: usize) -> i32;
        pub fn recall(request: *const u8, length: usize, answer: *mut u8, capacity: usize) -> i32;
        pub fn correlate(request: *const u8, length: usize, answer: *mut u8, capacity: usize) -> i32;
        pub fn source(request: *const u8, length: usize, answer: *mut u8, capacity: usize) -> i32;
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod host {
    pub unsafe fn log(_: *const u8, _: usize, _: *mut u8, _: usize) -> i32 {
        0
    }
    pub use log as recall;
    pub use log as correlate;
    pub use log as source;
}

/// Room for most answers.
const ANSWER_BYTES: usize = 8 << 10;

type Function = unsafe fn(*const u8, usize, *mut u8, usize) -> i32;

/// Asks, and once more with the room that the host says the answer needs. An empty answer is the default.
fn ask<T: Message>(function: Function, query: &impl Message) -> Result<T, Failure> {
    let request = encode(query);
    let mut answer = vec![0; ANSWER_BYTES];
    for _ in 0..2 {
        let n = unsafe { function(request.as_ptr(), request.len(), answer.as_mut_ptr(), answer.len()) } as usize;
        if n == 0 {
            return Ok(T::default());
        }
        if n <= answer.len() {
            return decode(&answer[..n]).map_err(|problem| Failure::new("bad_answer", &problem.to_string()));
        }
        answer = vec![0; n];
    }
    Err(Failure::new("bad_answer", "the answer's length changes from call to call"))
}

/// Asks the casebook for cases that have the fingerprint of this one, or nearly; the most similar first.
pub fn recall(query: &RecallQuery) -> Result<Vec<PriorCase>, Failure> {
    ask::<PriorCases>(|a, b, c, d| unsafe { host::recall(a, b, c, d) }, query).map(|answer| answer.cases)
}

/// Searches the casebook by text; the most similar case first.
pub fn correlate(query: &CorrelateQuery) -> Result<Vec<PriorCase>, Failure> {
    ask::<PriorCases>(|a, b, c, d| unsafe { host::correlate(a, b, c, d) }, query).map(|answer| answer.cases)
}

/// Asks which files of the source a text names.
pub fn source(query: &SourceQuery) -> Result<SourceAnswer, Failure> {
    ask(|a, b, c, d| unsafe { host::source(a, b, c, d) }, query)
}

/// Writes a line to the host's log. An empty one is none.
pub fn log(message: &str) {
    if !message.is_empty() {
        let line = encode(&LogLine { message: message.to_string() });
        unsafe { host::log(line.as_ptr(), line.len(), std::ptr::null_mut(), 0) };
    }
}
