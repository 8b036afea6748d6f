//! What stands around a call: the exports, and the failures that the SDK itself answers with.

use crate::codec::{decode, encode, Message};
use crate::messages::*;
use std::cell::UnsafeCell;

impl Failure {
    /// The failure with which a module says that it cannot answer; it ends the trial as a mistrial that carries both.
    /// `code` is the author's own, in snake_case.
    pub fn new(code: &str, message: &str) -> Self {
        Failure { code: code.to_string(), message: message.to_string() }
    }
}

/// The number of the parameter of a name, if it has one.
pub fn number(params: &[Param], name: &str) -> Option<f64> {
    params.iter().find(|p| p.name == name)?.number
}

/// The text of the parameter of a name, if it has one.
pub fn text<'a>(params: &'a [Param], name: &str) -> Option<&'a str> {
    params.iter().find(|p| p.name == name)?.text.as_deref()
}

/// The flag of the parameter of a name, if it has one.
pub fn flag(params: &[Param], name: &str) -> Option<bool> {
    params.iter().find(|p| p.name == name)?.flag
}

/// A response of the contract, made from what a handler gives.
pub trait Response<T>: Message {
    fn of(answer: Result<T, Failure>) -> Self;
}

impl Response<Artifact> for NodeResponse {
    fn of(answer: Result<Artifact, Failure>) -> Self {
        match answer {
            Ok(artifact) => NodeResponse { artifact: Some(artifact), ..Default::default() },
            Err(failure) => NodeResponse { failure: Some(failure), ..Default::default() },
        }
    }
}

impl Response<NodeResponse> for NodeResponse {
    fn of(answer: Result<NodeResponse, Failure>) -> Self {
        answer.unwrap_or_else(|failure| NodeResponse { failure: Some(failure), ..Default::default() })
    }
}

macro_rules! response_of_list {
    ($response:ident, $field:ident, $element:ident) => {
        impl Response<Vec<$element>> for $response {
            fn of(answer: Result<Vec<$element>, Failure>) -> Self {
                match answer {
                    Ok(list) => $response { $field: list, failure: None },
                    Err(failure) => $response { $field: Vec::new(), failure: Some(failure) },
                }
            }
        }
    };
}

response_of_list!(ContestResponse, challenges, Challenge);
response_of_list!(EdgeResponse, answers, EdgeAnswer);
response_of_list!(JudgeResponse, opinions, CriterionOpinion);

/// Reads a request, has it answered and writes the response. It is what the exports do, and serves tests without a sandbox.
pub fn answer<Q: Message, T, R: Response<T>>(handler: fn(Q) -> Result<T, Failure>, request: &[u8]) -> Vec<u8> {
    let answer = match decode(request) {
        Ok(request) => handler(request),
        Err(problem) => Err(Failure::new("bad_request", &problem.to_string())),
    };
    encode(&R::of(answer))
}

/// What stays where it is until the next call: nothing else could free it. A module has one thread.
struct Kept(UnsafeCell<Vec<u8>>);

unsafe impl Sync for Kept {}

impl Kept {
    /// Keeps bytes in the place of those of the call before, and says where they are.
    fn keep(&self, bytes: Vec<u8>) -> *mut u8 {
        let kept = unsafe { &mut *self.0.get() };
        *kept = bytes;
        kept.as_mut_ptr()
    }
}

static REQUEST: Kept = Kept(UnsafeCell::new(Vec::new()));
static RESPONSE: Kept = Kept(UnsafeCell::new(Vec::new()));

/// Gives a response to the host: `pointer << 32 | length`.
pub fn give(response: Vec<u8>) -> u64 {
    let length = response.len() as u64;
    (RESPONSE.keep(response) as usize as u64) << 32 | length
}

/// Gives the request that the host wrote.
///
/// # Safety
/// The host says where it wrote the request: `length` bytes in a region that [`alloc`] gave.
pub unsafe fn request<'a>(pointer: *const u8, length: usize) -> &'a [u8] {
    std::slice::from_raw_parts(pointer, length)
}

/// Gives the host room for a request; 0 where there is none.
pub fn alloc(size: usize) -> *mut u8 {
    let mut room = Vec::<u8>::new();
    match room.try_reserve_exact(size.max(1)) {
        Ok(()) => REQUEST.keep(room),
        Err(_) => std::ptr::null_mut(),
    }
}

#[cfg(target_arch = "wasm32")]
#[no_mangle]
extern "C" fn shadowcourt_alloc(size: usize) -> *mut u8 {
    alloc(size)
}

#[doc(hidden)]
#[macro_export]
macro_rules! serve {
    ($export:ident, $handler:path, $request:ty, $answer:ty, $response:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[no_mangle]
        extern "C" fn $export(pointer: *const u8, length: usize) -> u64 {
            let request = unsafe { $crate::call::request(pointer, length) };
            $crate::call::give($crate::call::answer::<$request, $answer, $response>($handler, request))
        }
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn($request) -> Result<$answer, $crate::Failure> = $handler;
    };
}

/// Exports `fn(NodeRequest) -> Result<Artifact, Failure>`.
#[macro_export]
macro_rules! serve_node {
    ($handler:path) => {
        $crate::serve!(shadowcourt_node, $handler, $crate::NodeRequest, $crate::Artifact, $crate::NodeResponse);
    };
}

/// Exports `fn(NodeRequest) -> Result<NodeResponse, Failure>`, for a persona that may answer with one of the experiments that the
/// request offers, in place of the artifact.
#[macro_export]
macro_rules! serve_node_response {
    ($handler:path) => {
        $crate::serve!(shadowcourt_node, $handler, $crate::NodeRequest, $crate::NodeResponse, $crate::NodeResponse);
    };
}

/// Exports `fn(ContestRequest) -> Result<Vec<Challenge>, Failure>`.
#[macro_export]
macro_rules! serve_contest {
    ($handler:path) => {
        $crate::serve!(shadowcourt_contest, $handler, $crate::ContestRequest, Vec<$crate::Challenge>, $crate::ContestResponse);
    };
}

/// Exports `fn(EdgeRequest) -> Result<Vec<EdgeAnswer>, Failure>`.
#[macro_export]
macro_rules! serve_edges {
    ($handler:path) => {
        $crate::serve!(shadowcourt_edges, $handler, $crate::EdgeRequest, Vec<$crate::EdgeAnswer>, $crate::EdgeResponse);
    };
}

/// Exports `fn(JudgeRequest) -> Result<Vec<CriterionOpinion>, Failure>`.
#[macro_export]
macro_rules! serve_judge {
    ($handler:path) => {
        $crate::serve!(shadowcourt_judge, $handler, $crate::JudgeRequest, Vec<$crate::CriterionOpinion>, $crate::JudgeResponse);
    };
}
