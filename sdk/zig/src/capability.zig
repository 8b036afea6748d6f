//! What a module may ask the host for, beyond its request: abi/SPEC.md, §2.12.
//!
//! The manifest must list each capability that is used, and the pipeline must grant it; otherwise the module does not load. Only
//! the functions that a module calls are imported. Natively there is no host, and nothing is known.

const std = @import("std");
const builtin = @import("builtin");
const codec = @import("codec.zig");
const messages = @import("messages.zig");
const Allocator = std.mem.Allocator;

const host = if (builtin.target.cpu.arch == .wasm32) struct {
    extern "shadowcourt" fn log(request: [*]const u8, length: usize, answer: [*]u8, capacity: usize) i32;
    extern "shadowcourt" fn recall(request: [*]const u8, length: usize, answer: [*]u8, capacity: usize) i32;
    extern "shadowcourt" fn correlate(request: [*]const u8, length: usize, answer: [*]u8, capacity: usize) i32;
    extern "shadowcourt" fn source(request: [*]const u8, length: usize, answer: [*]u8, capacity: usize) i32;
} else .{ .log = nothing, .recall = nothing, .correlate = nothing, .source = nothing };

fn nothing(_: [*]const u8, _: usize, _: [*]u8, _: usize) i32 {
    return 0;
}

/// An answer that can't be read is error.BadAnswer.
pub const Error = error{ BadAnswer, OutOfMemory };

/// Room for most answers.
const answer_bytes = 8 << 10;

/// Asks, and once more with the room that the host says the answer needs. An empty answer is the default.
fn ask(comptime T: type, arena: Allocator, comptime function: anytype, query: anytype) Error!T {
    const request = try codec.encode(arena, query);
    var answer = try arena.alloc(u8, answer_bytes);
    for (0..2) |_| {
        const n: usize = @as(u32, @bitCast(function(request.ptr, request.len, answer.ptr, answer.len)));
        if (n == 0) return .{};
        if (n <= answer.len) {
            var problem: codec.Problem = .{};
            return codec.decode(T, arena, answer[0..n], &problem) catch |err| switch (err) {
                error.OutOfMemory => error.OutOfMemory,
                error.Rejected => error.BadAnswer,
            };
        }
        answer = try arena.alloc(u8, n);
    }
    return error.BadAnswer;
}

/// Asks the casebook for cases that have the fingerprint of this one, or nearly; the most similar first.
pub fn recall(arena: Allocator, query: messages.RecallQuery) Error![]const messages.PriorCase {
    return (try ask(messages.PriorCases, arena, host.recall, query)).cases;
}

/// Searches the casebook by text; the most similar case first.
pub fn correlate(arena: Allocator, query: messages.CorrelateQuery) Error![]const messages.PriorCase {
    return (try ask(messages.PriorCases, arena, host.correlate, query)).cases;
}

/// Asks which files of the source a text names.
pub fn source(arena: Allocator, query: messages.SourceQuery) Error!messages.SourceAnswer {
    return ask(messages.SourceAnswer, arena, host.source, query);
}

/// Writes a line to the host's log. An empty one is none.
pub fn log(arena: Allocator, message: []const u8) error{OutOfMemory}!void {
    if (message.len == 0) return;
    const line = try codec.encode(arena, messages.LogLine{ .message = message });
    var none: [1]u8 = undefined;
    _ = host.log(line.ptr, line.len, &none, 0);
}
