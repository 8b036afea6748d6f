//! A judge of stack frames: does what a text says of them stand, and do they agree with each other?

const std = @import("std");
const sc = @import("shadowcourt");
const frames = @import("frames.zig");
const contradictions = @import("contradictions.zig");
const Allocator = std.mem.Allocator;

comptime {
    sc.serve(.judge, judge);
    sc.serve(.edges, edges);
    asm (sc.manifest(.{
            .name = "frames",
            .version = "1.0.0",
            .calls = &.{ .edges, .judge },
            .edges = &.{"fast-track-agreed"},
            .criteria = &.{"frames"},
            .source = "https://github.com/shadowcourt/shadowcourt/tree/main/examples/judges/frames",
            .licence = "Apache-2.0",
        }));
}

pub fn judge(arena: Allocator, request: sc.JudgeRequest) !sc.JudgeResponse {
    var all: std.ArrayList(frames.Frame) = .empty;
    for (request.evidence, 0..) |e, i| try frames.find(arena, &all, e.content, i);
    const among = try contradictions.between(arena, all.items);
    const claimed = try contradictions.claims(arena, request.opinion.text, all.items);

    var argument: std.ArrayList(u8) = .empty;
    var cited: std.ArrayList([]const u8) = .empty;
    try argument.print(arena, "The evidence has {d} frames; the text names {d} of their places rightly and {d} wrongly.", .{
        all.items.len, claimed.borne_out, claimed.contradicted.len,
    });
    for ([_][]const contradictions.Contradiction{ claimed.contradicted, among }) |list| for (list) |c| {
        try argument.print(arena, " {s}.", .{c.what});
        try cite(arena, &cited, request.evidence[c.first].source_ref);
        if (c.second) |second| try cite(arena, &cited, request.evidence[second].source_ref);
    };
    const looked_at = claimed.borne_out + claimed.contradicted.len;
    const opinions = try arena.alloc(sc.CriterionOpinion, request.criteria.len);
    for (opinions, request.criteria) |*o, criterion| o.* = .{
        .judge = request.judge,
        .criterion_id = criterion.criterion_id,
        .numeric_score = score(claimed.borne_out, claimed.contradicted.len, among.len),
        .argument = argument.items,
        .cited_evidence = cited.items,
        .relevance_confidence = if (all.items.len == 0) 0 else 0.5 + 0.5 * @as(f64, @floatFromInt(looked_at)) / @as(f64, @floatFromInt(looked_at + 1)),
    };
    return .{ .opinions = opinions };
}

/// 5: places are named, all rightly, and the frames agree. 4: the frames disagree among themselves. 3: no place is named.
/// 2: some are wrong. 1: half or more.
fn score(right: usize, wrong: usize, among: usize) i64 {
    if (wrong > 0) return if (wrong >= right) 1 else 2;
    if (right == 0) return 3;
    return if (among > 0) 4 else 5;
}

fn cite(arena: Allocator, list: *std.ArrayList([]const u8), source_ref: []const u8) !void {
    for (list.items) |known| if (std.mem.eql(u8, known, source_ref)) return;
    try list.append(arena, source_ref);
}

/// The edge rule fast-track-agreed: HD1, but not while items of the indictment contradict each other.
pub fn edges(arena: Allocator, request: sc.EdgeRequest) !sc.EdgeResponse {
    const answers = try arena.alloc(sc.EdgeAnswer, request.questions.len);
    for (answers, request.questions) |*a, question| {
        if (!std.mem.eql(u8, question.evaluator, "fast-track-agreed")) return error.UnknownEvaluator;
        a.* = if (question.any)
            .{ .why = "the rule needs an indictment, and an edge from _any is decided from limits alone" }
        else
            try fastTrack(arena, request, question.params);
        a.id = question.id;
    }
    return .{ .answers = answers };
}

fn fastTrack(arena: Allocator, request: sc.EdgeRequest, params: []const sc.Param) !sc.EdgeAnswer {
    const least = if (sc.param(params, "min_confidence")) |p| p.number orelse return error.BadParameter else 0.95;
    const artifact = request.artifact orelse return .{ .why = "there is no artifact" };
    const indictment = artifact.indictment orelse return .{ .why = "there is no indictment" };
    if (indictment.confidence < least) return .{ .why = try std.fmt.allocPrint(arena, "{d:.3} < {d:.3}", .{ indictment.confidence, least }) };
    var all: std.ArrayList(frames.Frame) = .empty;
    for (indictment.evidence, 0..) |item, i| try frames.find(arena, &all, item.content, i);
    const among = try contradictions.between(arena, all.items);
    if (among.len > 0) return .{ .why = among[0].what };
    return .{ .fires = true, .why = try std.fmt.allocPrint(arena, "{d:.3} >= {d:.3}, and no frames contradict each other", .{ indictment.confidence, least }) };
}

test {
    _ = frames;
}

fn opinionOn(arena: Allocator, text: []const u8) !sc.CriterionOpinion {
    const response = try judge(arena, .{
        .judge = "j",
        .opinion = .{ .text = text },
        .criteria = &.{.{ .criterion_id = "frames" }},
        .evidence = &.{
            .{ .source_ref = "log:L1", .content = "pkg.(*T).Load(0x1)\n\t/src/pkg/store.go:80 +0x5" },
            .{ .source_ref = "log:L9", .content = "pkg.(*T).Save(0x1)\n\t/src/pkg/store.go:80 +0x5" },
        },
    });
    return response.opinions[0];
}

test "what a text says of frames" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const wrong = try opinionOn(arena.allocator(), "It panics at store.go:84.");
    try std.testing.expectEqual(1, wrong.numeric_score);
    try std.testing.expectEqualDeep(@as([]const []const u8, &.{ "log:L1", "log:L9" }), wrong.cited_evidence);
    const right = try opinionOn(arena.allocator(), "It panics at pkg/store.go:80, in Load.");
    try std.testing.expectEqual(4, right.numeric_score); // Load and Save cannot both be at line 80
    try std.testing.expectEqual(3, (try opinionOn(arena.allocator(), "It panics.")).numeric_score);
}

test "the edge waits for items that agree" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var request: sc.EdgeRequest = .{
        .questions = &.{.{ .id = "E", .evaluator = "fast-track-agreed" }},
        .artifact = .{ .indictment = .{ .confidence = 0.97, .evidence = &.{
            .{ .content = "a.F()\n\t/x.go:1 +0x1" },
            .{ .content = "a.G()\n\t/x.go:1 +0x1" },
        } } },
    };
    try std.testing.expect(!(try edges(arena.allocator(), request)).answers[0].fires);
    request.artifact.?.indictment.?.evidence = request.artifact.?.indictment.?.evidence[0..1];
    try std.testing.expect((try edges(arena.allocator(), request)).answers[0].fires);
    request.artifact.?.indictment.?.confidence = 0.9;
    try std.testing.expect(!(try edges(arena.allocator(), request)).answers[0].fires);
    request.questions = &.{.{ .id = "E", .evaluator = "other" }};
    try std.testing.expectError(error.UnknownEvaluator, edges(arena.allocator(), request));
}
