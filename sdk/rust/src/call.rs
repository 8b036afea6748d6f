//! What stands around a call: the exports, and the failures that the SDK itself answers with.

use crate::codec::{decode, encode, Message};
use crate::messages::*;
use crate::prepared::Request;
use std::cell::UnsafeCell;

impl Failure {
    /// The failure with which a module says that it cannot answer; it ends the trial as a mistrial that carries both.
    /// `code` is the author's own, in snake_case.
    pub fn new(code: &str, message: &str) -> Self {
        Failure { code: code.to_string(), message: message.to_string() }
    }
}

impl Completion {
    /// Asks a model that the request offers for one answer, of `tokens` tokens at most, and no more than the model may give. Without a
    /// system message give `""`. The fields `schema`, `samples`, `temperature` and `seed` are yours to set.
    pub fn new(offer: &ModelOffer, tokens: i64, system: &str, user: &str) -> Self {
        let mut messages = Vec::new();
        for (role, content) in [(ChatRole::System, system), (ChatRole::User, user)] {
            if !content.is_empty() {
                messages.push(ChatMessage { role, content: content.to_string() });
            }
        }
        Completion { model: offer.model.clone(), messages, answer_tokens: tokens.min(offer.answer_tokens), samples: 1, ..Default::default() }
    }
}

impl CompletionResult {
    /// The first answer, or the failure that says why there is none: `model_failed`, `model_invalid` and so on. After it the persona's
    /// fallback plays, where the pipeline names one.
    pub fn answer(&self) -> Result<&str, Failure> {
        self.answers.first().map(String::as_str).ok_or_else(|| Failure::new(&format!("model_{}", self.outcome.as_str()), &self.detail))
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

impl Response<()> for PrepareResponse {
    fn of(answer: Result<(), Failure>) -> Self {
        PrepareResponse { failure: answer.err() }
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

/// Reads a request, completes it with what the module was prepared with, has it answered and writes the response. It is what the exports do,
/// and serves tests without a sandbox.
pub fn answer<Q: Request, T, R: Response<T>>(handler: fn(Q) -> Result<T, Failure>, request: &[u8]) -> Vec<u8> {
    let answer = match decode::<Q>(request) {
        Ok(mut request) => request.complete().and_then(|()| handler(request)),
        Err(problem) => Err(Failure::new("bad_request", &problem.to_string())),
    };
    encode(&R::of(answer))
}

/// Answers a node call with what `ask` wants a language model to be asked, and with what `handler` says where it wants nothing.
/// [`serve_node_models!`](crate::serve_node_models) does this; a handler of [`serve_node_response!`](crate::serve_node_response) may, too.
pub fn with_models<T>(
    ask: fn(&NodeRequest) -> Option<Completion>,
    handler: fn(NodeRequest) -> Result<T, Failure>,
    request: NodeRequest,
) -> Result<NodeResponse, Failure>
where
    NodeResponse: Response<T>,
{
    if !request.models.is_empty() {
        if let Some(completion) = ask(&request) {
            return Ok(NodeResponse { completion: Some(completion), ..Default::default() });
        }
    }
    Ok(NodeResponse::of(handler(request)))
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

/// Exports `shadowcourt_prepare`, which keeps what the host prepares the module with. The `serve_node` macros do it, too: write this only in
/// a module that serves contests and no nodes.
#[macro_export]
macro_rules! serve_prepare {
    () => {
        $crate::serve!(shadowcourt_prepare, $crate::prepared::prepare, $crate::PrepareRequest, (), $crate::PrepareResponse);
    };
}

/// Exports `fn(NodeRequest) -> Result<Artifact, Failure>`.
#[macro_export]
macro_rules! serve_node {
    ($handler:path) => {
        $crate::serve_prepare!();
        $crate::serve!(shadowcourt_node, $handler, $crate::NodeRequest, $crate::Artifact, $crate::NodeResponse);
    };
}

/// Exports `fn(NodeRequest) -> Result<NodeResponse, Failure>`, for a persona that may answer with one of the experiments that the
/// request offers, or with a completion, in place of the artifact.
#[macro_export]
macro_rules! serve_node_response {
    ($handler:path) => {
        $crate::serve_prepare!();
        $crate::serve!(shadowcourt_node, $handler, $crate::NodeRequest, $crate::NodeResponse, $crate::NodeResponse);
    };
}

/// Exports `fn(NodeRequest) -> Result<Artifact, Failure>` after `fn(&NodeRequest) -> Option<Completion>`, which says what a language model
/// is to be asked first. It is called only where the request offers models. The host then makes the call again, with the answer at the
/// end of `completions`.
#[macro_export]
macro_rules! serve_node_models {
    ($ask:path, $handler:path) => {
        fn shadowcourt_node_with_models(request: $crate::NodeRequest) -> Result<$crate::NodeResponse, $crate::Failure> {
            $crate::call::with_models($ask, $handler, request)
        }
        $crate::serve_node_response!(shadowcourt_node_with_models);
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
