//! The guest SDK of Shadowcourt: modules in Zig.
//!
//! A module is one function for each kind of call that it serves, and a manifest:
//!
//!     const sc = @import("shadowcourt");
//!
//!     comptime {
//!         sc.serve(.judge, judge);
//!         asm (sc.manifest(.{ .name = "my-judge", .version = "0.1.0", .calls = &.{.judge}, .criteria = &.{"evidence"} }));
//!     }
//!
//!     fn judge(arena: std.mem.Allocator, request: sc.JudgeRequest) !sc.JudgeResponse { ... }
//!
//! Everything is allocated from one arena that ends with the call: nothing is freed, and nothing is kept, since every call
//! begins in pristine memory. A request that cannot be read never reaches the function: the module answers it with a failure
//! of code bad_request. An error of the function is a failure of its name; a panic is a trap.

const std = @import("std");
const builtin = @import("builtin");
const Allocator = std.mem.Allocator;

pub const capability = @import("capability.zig");
pub const codec = @import("codec.zig");
pub const messages = @import("messages.zig");
const manifests = @import("manifest.zig");

pub const manifest = manifests.manifest;
pub const Pair = codec.Pair;

// What a module most often names.
pub const NodeRequest = messages.NodeRequest;
pub const NodeResponse = messages.NodeResponse;
pub const ContestRequest = messages.ContestRequest;
pub const ContestResponse = messages.ContestResponse;
pub const EdgeRequest = messages.EdgeRequest;
pub const EdgeResponse = messages.EdgeResponse;
pub const JudgeRequest = messages.JudgeRequest;
pub const JudgeResponse = messages.JudgeResponse;
pub const Artifact = messages.Artifact;
pub const Challenge = messages.Challenge;
pub const Completion = messages.Completion;
pub const CompletionResult = messages.CompletionResult;
pub const CriterionOpinion = messages.CriterionOpinion;
pub const EdgeAnswer = messages.EdgeAnswer;
pub const Evidence = messages.Evidence;
pub const Experiment = messages.Experiment;
pub const Failure = messages.Failure;
pub const Finding = messages.Finding;
pub const ModelOffer = messages.ModelOffer;
pub const Param = messages.Param;

const is_wasm = builtin.target.cpu.arch == .wasm32;

/// The kinds of call.
pub const Call = messages.Call;

fn Request(comptime call: Call) type {
    return switch (call) {
        .node => NodeRequest,
        .contest => ContestRequest,
        .edges => EdgeRequest,
        .judge => JudgeRequest,
    };
}

fn Response(comptime call: Call) type {
    return switch (call) {
        .node => NodeResponse,
        .contest => ContestResponse,
        .edges => EdgeResponse,
        .judge => JudgeResponse,
    };
}

/// Exports a call of a handler `fn (Allocator, REQUEST) !RESPONSE`. Use it in a comptime block.
pub fn serve(comptime call: Call, comptime handler: anytype) void {
    const S = struct {
        fn run(pointer: [*]const u8, length: usize) callconv(.c) u64 {
            const response = answer(call, handler, heap(), pointer[0..length]) catch @panic("out of memory");
            return give(response);
        }
    };
    if (is_wasm) @export(&S.run, .{ .name = "shadowcourt_" ++ @tagName(call) });
}

/// A handler of node calls that first asks a chooser for one of the experiments that a request offers, for the host to run, or null for
/// none. The host then makes the call again, with the result (SPEC.md §2.12). The chooser is asked only where there are offers.
///
///     sc.serve(.node, sc.withOffers(choose, node));
///     fn choose(request: sc.NodeRequest) ?sc.Experiment { ... }
pub fn withOffers(comptime choose: fn (NodeRequest) ?Experiment, comptime handler: anytype) fn (Allocator, NodeRequest) anyerror!NodeResponse {
    return struct {
        fn node(arena: Allocator, request: NodeRequest) anyerror!NodeResponse {
            if (request.offers.len > 0) {
                if (choose(request)) |e| return .{ .experiment = e };
            }
            return handler(arena, request);
        }
    }.node;
}

/// A handler of node calls that first asks an asker what a language model is to be asked, or null for nothing. The host then makes the call
/// again, with the answer at the end of completions (SPEC.md §2.12). The asker is called only where there are models. Both kinds of handler
/// can be had: withOffers(choose, withModels(ask, node)).
///
///     sc.serve(.node, sc.withModels(ask, node));
///     fn ask(arena: std.mem.Allocator, request: sc.NodeRequest) !?sc.Completion { ... }
pub fn withModels(comptime ask: anytype, comptime handler: anytype) fn (Allocator, NodeRequest) anyerror!NodeResponse {
    return struct {
        fn node(arena: Allocator, request: NodeRequest) anyerror!NodeResponse {
            if (request.models.len > 0) {
                if (try ask(arena, request)) |c| return .{ .completion = c };
            }
            return handler(arena, request);
        }
    }.node;
}

/// Asks a model that the request offers for one answer, of so many tokens at most, and no more than the model may give. An empty system
/// message is left out. The fields schema, samples, temperature and seed are yours to set.
pub fn newCompletion(arena: Allocator, offer: ModelOffer, tokens: i64, system: []const u8, user: []const u8) error{OutOfMemory}!Completion {
    var list: std.ArrayList(messages.ChatMessage) = .empty;
    if (system.len > 0) try list.append(arena, .{ .role = .system, .content = system });
    if (user.len > 0) try list.append(arena, .{ .role = .user, .content = user });
    return .{ .model = offer.model, .messages = list.items, .answer_tokens = @min(tokens, offer.answer_tokens), .samples = 1 };
}

/// Null where a model gave an answer, and else the failure that says why not: model_failed, model_invalid and so on. After it the persona's
/// fallback plays, where the pipeline names one.
pub fn noAnswer(arena: Allocator, result: CompletionResult) error{OutOfMemory}!?Failure {
    if (result.answers.len > 0) return null;
    return .{ .code = try std.mem.concat(arena, u8, &.{ "model_", @tagName(result.outcome) }), .message = result.detail };
}

/// Reads a request, has it answered and writes the response. It is what the exports do, and serves tests without a sandbox.
pub fn answer(comptime call: Call, comptime handler: anytype, arena: Allocator, request: []const u8) error{OutOfMemory}![]const u8 {
    var problem: codec.Problem = .{};
    const response: Response(call) = if (codec.decode(Request(call), arena, request, &problem)) |r|
        handler(arena, r) catch |err| .{ .failure = .{ .code = try snake(arena, @errorName(err)), .message = "the module failed" } }
    else |err| switch (err) {
        error.OutOfMemory => return error.OutOfMemory,
        error.Rejected => .{ .failure = .{
            .code = "bad_request",
            .message = try std.mem.concat(arena, u8, &.{ problem.path, if (problem.path.len > 0) ": " else "", problem.code }),
        } },
    };
    return codec.encode(arena, response);
}

/// Writes the name of an error as a code: UnknownEvaluator is unknown_evaluator.
fn snake(arena: Allocator, name: []const u8) error{OutOfMemory}![]const u8 {
    var out: std.ArrayList(u8) = .empty;
    for (name, 0..) |c, i| {
        if (std.ascii.isUpper(c) and i > 0) try out.append(arena, '_');
        try out.append(arena, std.ascii.toLower(c));
    }
    return out.items;
}

/// Gives a response to the host.
pub fn give(response: []const u8) u64 {
    return @as(u64, @intFromPtr(response.ptr)) << 32 | response.len;
}

/// The parameter of a name, or null.
pub fn param(params: []const Param, name: []const u8) ?Param {
    for (params) |p| if (std.mem.eql(u8, p.name, name)) return p;
    return null;
}

var arena_of_call: std.heap.ArenaAllocator = .init(if (is_wasm) std.heap.wasm_allocator else std.heap.page_allocator);

/// The arena of the call.
pub fn heap() Allocator {
    return arena_of_call.allocator();
}

/// The host asks for the room of a request: a call begins. The arena begins anew, for measurements that call an instance again
/// and again; otherwise it is at its beginning anyway.
fn alloc(size: usize) callconv(.c) ?[*]u8 {
    _ = arena_of_call.reset(.retain_capacity);
    const room = heap().alignedAlloc(u8, .@"16", @max(size, 1)) catch return null;
    return room.ptr;
}

comptime {
    if (is_wasm) @export(&alloc, .{ .name = "shadowcourt_alloc" });
}
