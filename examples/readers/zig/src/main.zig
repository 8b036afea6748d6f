//! A persona that reads the documents with a language model: for each label of the case it asks which line speaks most for it, and quotes
//! that line. The model answers with a number, so that whatever a document makes it say, all that it can do is choose a line.

const std = @import("std");
const sc = @import("shadowcourt");
const Allocator = std.mem.Allocator;

comptime {
    sc.serve(.node, sc.withModels(ask, node));
    asm (sc.manifest(.{
            .name = "line-reader",
            .version = "1.0.0",
            .calls = &.{.node},
            .families = &.{.discover},
            .source = "https://github.com/shadowcourt/shadowcourt/tree/main/examples/readers/zig",
            .licence = "Apache-2.0",
        }));
}

const schema =
    \\{"type":"object","additionalProperties":false,"required":["line"],"properties":{"line":{"type":"integer","minimum":0}}}
;
const answer_tokens = 50;

/// Asks about one label after the other, as long as there are answers. Every call starts anew: the results in the request say how far it is.
fn ask(arena: Allocator, request: sc.NodeRequest) !?sc.Completion {
    const asked = request.completions.len;
    if (request.family != .discover or asked >= request.case.labels.len) return null;
    if (asked > 0 and request.completions[asked - 1].answers.len == 0) return null;
    const lines = try numbered(arena, request, request.models[0]);
    if (lines.len == 0) return null;
    const user = try std.mem.concat(arena, u8, &.{
        lines, "\nWhich of these lines speaks most for the label \"", request.case.labels[asked], "\"? 0 if none does.",
    });
    var completion = try sc.newCompletion(arena, request.models[0], answer_tokens, request.prompt, user);
    completion.schema = schema;
    return completion;
}

fn node(arena: Allocator, request: sc.NodeRequest) !sc.NodeResponse {
    if (request.family != .discover) return error.WrongFamily; // a failure with the code wrong_family
    var findings: std.ArrayList(sc.Finding) = .empty;
    var missing: std.ArrayList([]const u8) = .empty;
    if (request.completions.len == 0) try missing.append(arena, "no language model was asked");
    const asked = @min(request.case.labels.len, request.completions.len);
    for (request.case.labels[0..asked], request.completions[0..asked]) |label, result| {
        if (try sc.noAnswer(arena, result)) |failure| return .{ .failure = failure };
        if (lineOf(request, number(result.answers[0]))) |line| {
            try findings.append(arena, .{
                .document = line.document,
                .observation = try std.mem.concat(arena, u8, &.{ "the model chose it for ", label }),
                .quote = line.text,
                .supports = label,
                .strength = 0.6,
                .source = try std.mem.concat(arena, u8, &.{ "model:", result.model }),
            });
        } else try missing.append(arena, try std.mem.concat(arena, u8, &.{ "the model names no line for ", label }));
    }
    return .{ .artifact = .{ .discovery = .{ .findings = findings.items, .missing = missing.items } } };
}

/// As many lines as the model has room for, with their numbers, which run through all documents.
fn numbered(arena: Allocator, request: sc.NodeRequest, offer: sc.ModelOffer) ![]const u8 {
    const room = 3 * (offer.context_tokens - answer_tokens) - @as(i64, @intCast(request.prompt.len)) - 1000;
    var out: std.ArrayList(u8) = .empty;
    var n: usize = 0;
    for (request.case.documents) |document| {
        var lines = std.mem.splitScalar(u8, document.text, '\n');
        while (lines.next()) |line| {
            n += 1;
            const row = try std.fmt.allocPrint(arena, "{d}| {s}\n", .{ n, line });
            if (out.items.len + row.len > room) return out.items;
            try out.appendSlice(arena, row);
        }
    }
    return out.items;
}

const Line = struct { document: []const u8, text: []const u8 };

/// The line of a number; null where there is none, and where nothing stands in it.
fn lineOf(request: sc.NodeRequest, n: usize) ?Line {
    var at: usize = 0;
    for (request.case.documents) |document| {
        var lines = std.mem.splitScalar(u8, document.text, '\n');
        while (lines.next()) |line| {
            at += 1;
            const text = std.mem.trim(u8, line, " \t\r");
            if (at == n) return if (text.len > 0) .{ .document = document.name, .text = text } else null;
        }
    }
    return null;
}

/// The number in an answer. The schema lets no other stand there.
fn number(answer: []const u8) usize {
    const begin = std.mem.indexOfAny(u8, answer, "0123456789") orelse return 0;
    const end = std.mem.indexOfNonePos(u8, answer, begin, "0123456789") orelse answer.len;
    return std.fmt.parseInt(usize, answer[begin..end], 10) catch 0;
}

fn requestWith(completions: []const sc.CompletionResult) sc.NodeRequest {
    return .{
        .family = .discover,
        .case = .{ .labels = &.{ "quota", "leak" }, .documents = &.{.{ .name = "log", .text = "ok\n  quota exceeded\n" }} },
        .prompt = "Read.",
        .models = &.{.{ .model = "small", .context_tokens = 4000, .answer_tokens = 500 }},
        .completions = completions,
    };
}

test "each label is asked about" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const first = (try ask(arena.allocator(), requestWith(&.{}))).?;
    try std.testing.expectEqual(50, first.answer_tokens);
    try std.testing.expect(std.mem.startsWith(u8, first.messages[1].content, "1| ok\n2|   quota exceeded\n"));
    const answered: sc.CompletionResult = .{ .model = "small", .answers = &.{"{}"} };
    const second = (try ask(arena.allocator(), requestWith(&.{answered}))).?;
    try std.testing.expect(std.mem.indexOf(u8, second.messages[1].content, "the label \"leak\"") != null);
    try std.testing.expectEqual(null, try ask(arena.allocator(), requestWith(&.{ answered, answered })));
}

test "what the model chooses is quoted" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const response = try node(arena.allocator(), requestWith(&.{
        .{ .model = "small", .answers = &.{"{\"line\": 2}"} }, .{ .model = "small", .answers = &.{"{\"line\":0}"} },
    }));
    const discovery = response.artifact.?.discovery.?;
    try std.testing.expectEqual(1, discovery.findings.len);
    try std.testing.expectEqualStrings("quota exceeded", discovery.findings[0].quote);
    try std.testing.expectEqualStrings("model:small", discovery.findings[0].source);
    try std.testing.expectEqual(1, discovery.missing.len);
}

test "without an answer it fails" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const response = try node(arena.allocator(), requestWith(&.{.{ .model = "small", .outcome = .failed, .detail = "down" }}));
    try std.testing.expectEqualStrings("model_failed", response.failure.?.code);
    try std.testing.expectEqualStrings("down", response.failure.?.message);
}
