//! The guest SDK of Shadowcourt: modules in Rust.
//!
//! A module is one function for each kind of call that it serves, and a manifest:
//!
//! ```
//! use shadowcourt::*;
//!
//! manifest! {
//!     name: "my-judge",
//!     version: "0.1.0",
//!     calls: ["judge"],
//!     criteria: ["evidence"],
//! }
//!
//! serve_judge!(judge);
//!
//! fn judge(request: JudgeRequest) -> Result<Vec<CriterionOpinion>, Failure> {
//!     Err(Failure::new("no_opinion", "nothing to say yet"))
//! }
//! ```
//!
//! Build it as a `cdylib` for `wasm32-unknown-unknown`. The same crate builds natively too, so that its judgement can be
//! tested with `cargo test`.
//!
//! Every call begins in pristine memory: what a function leaves in a static is gone at the next call. Only what the host
//! prepares the module with stays, and functions see whole requests. A request that cannot be read never reaches the
//! function: the module answers it with a failure of code `bad_request`. A panic is a trap, and ends the trial as a mistrial.

pub mod call;
pub mod capability;
pub mod codec;
pub mod manifest;
#[rustfmt::skip]
pub mod messages;
pub mod prepared;

pub use call::{flag, number, text};
pub use messages::*;
