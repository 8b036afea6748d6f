//! A guest that reads any message of the contract and writes it again: the test vectors are put through it.
//!
//! The request is a byte with the length of a type's name, the name, and the message. The response begins with a 0 and goes
//! on with the canonical bytes, or with a 1 and goes on with the problem's path, a zero byte, and its code. A node request itself,
//! which begins with the head of a map, is answered with the offer that runs green tests, with a question to the first model, or with a
//! failure that repeats what the model said.

const std = @import("std");
const sc = @import("shadowcourt");
const by_name = @import("by_name.zig");

comptime {
    asm (sc.manifest(.{
            .name = "vectors",
            .version = "1.0.0",
            .calls = &.{ .node, .contest },
            .families = &.{ .indict, .discover },
            .capabilities = &.{ .log, .recall },
            .source = "https://github.com/shadowcourt/shadowcourt/tree/main/sdk/zig",
            .licence = "Apache-2.0",
        }));
}

export fn shadowcourt_node(pointer: [*]const u8, length: usize) u64 {
    const request = pointer[0..length];
    if (request[0] >= 0x80) return sc.give(sc.answer(.node, sc.withOffers(choose, sc.withModels(ask, refuse)), sc.heap(), request) catch @panic("out of memory"));
    const end = 1 + @as(usize, request[0]);
    return sc.give(rewrite(sc.heap(), request[1..end], request[end..]) catch @panic("out of memory"));
}

fn choose(request: sc.NodeRequest) ?sc.Experiment {
    for (request.offers) |offer| if (offer.experiment.tests == .green) return offer.experiment;
    return null;
}

fn ask(arena: std.mem.Allocator, request: sc.NodeRequest) !?sc.Completion {
    if (request.completions.len > 0) return null;
    return try sc.newCompletion(arena, request.models[0], 100, request.prompt, request.case.subject);
}

fn refuse(arena: std.mem.Allocator, request: sc.NodeRequest) !sc.NodeResponse {
    for (request.completions) |result| {
        return .{ .failure = try sc.noAnswer(arena, result) orelse .{ .code = "said", .message = result.answers[0] } };
    }
    return .{ .failure = .{ .code = "no_offer", .message = "nothing to run" } };
}

fn rewrite(arena: std.mem.Allocator, name: []const u8, message: []const u8) error{OutOfMemory}![]const u8 {
    inline for (by_name.all) |T| {
        if (std.mem.eql(u8, name, T.wire_name)) {
            var problem: sc.codec.Problem = .{};
            if (sc.codec.decode(T, arena, message, &problem)) |value| {
                return std.mem.concat(arena, u8, &.{ "\x00", try sc.codec.encode(arena, value) });
            } else |err| switch (err) {
                error.OutOfMemory => return error.OutOfMemory,
                error.Rejected => return std.mem.concat(arena, u8, &.{ "\x01", problem.path, "\x00", problem.code }),
            }
        }
    }
    return "\x02";
}

/// Asks the casebook, logs how many cases there are, and answers with them.
export fn shadowcourt_contest(_: [*]const u8, _: usize) u64 {
    return sc.give(recalled(sc.heap()) catch @panic("no answer"));
}

fn recalled(arena: std.mem.Allocator) ![]const u8 {
    const cases = try sc.capability.recall(arena, .{ .limit = 3 });
    try sc.capability.log(arena, try std.fmt.allocPrint(arena, "{d} cases", .{cases.len}));
    return sc.codec.encode(arena, sc.messages.PriorCases{ .cases = cases });
}
