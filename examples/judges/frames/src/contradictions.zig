//! Frames that cannot both be true.

const std = @import("std");
const frames = @import("frames.zig");
const Allocator = std.mem.Allocator;
const Frame = frames.Frame;

pub const Contradiction = struct {
    /// What cannot be, for people.
    what: []const u8,
    /// The texts that disagree; the second is null where the first disagrees with what is claimed.
    first: usize,
    second: ?usize,
};

/// More are not told of.
const most = 32;
/// More are not looked at: each is compared with every frame.
const most_claims = 500;

/// One line of a file belongs to one function: two frames that give it to two contradict each other. A function of one
/// name may well stand in many files, so that says nothing.
pub fn between(arena: Allocator, all: []const Frame) ![]const Contradiction {
    var found: std.ArrayList(Contradiction) = .empty;
    // The first frame of each place; the rest are compared with it.
    var places: std.StringHashMapUnmanaged(Frame) = .empty;
    for (all) |f| {
        if (f.function.len == 0 or found.items.len == most) continue;
        const place = try std.fmt.allocPrint(arena, "{s}:{d}", .{ f.file, f.line });
        const entry = try places.getOrPutValue(arena, place, f);
        const known = entry.value_ptr.*;
        if (known.source == f.source or std.mem.eql(u8, known.function, f.function)) continue;
        try found.append(arena, .{
            .what = try std.fmt.allocPrint(arena, "{s} is in {s} here and in {s} there", .{ place, known.function, f.function }),
            .first = known.source,
            .second = f.source,
        });
    }
    return found.items;
}

/// Places that a text claims, `file.go:80`, compared with the frames: a line of a file that has frames, and none there.
pub const Claims = struct { borne_out: usize = 0, contradicted: []const Contradiction = &.{} };

pub fn claims(arena: Allocator, text: []const u8, all: []const Frame) !Claims {
    var out: Claims = .{};
    var found: std.ArrayList(Contradiction) = .empty;
    var left: usize = most_claims;
    var words = std.mem.tokenizeAny(u8, text, " \t\r\n()[]\"'`,;");
    while (words.next()) |word| {
        const claim = frames.Place.atStart(std.mem.trimRight(u8, word, ".!?:")) orelse continue;
        if (left == 0) break;
        left -= 1;
        var nearest: ?Frame = null;
        for (all) |f| {
            if (!frames.same(f.file, claim.file)) continue;
            if (nearest == null or distance(f, claim) < distance(nearest.?, claim)) nearest = f;
        }
        const f = nearest orelse continue;
        if (f.line == claim.line) {
            out.borne_out += 1;
        } else if (found.items.len < most) try found.append(arena, .{
            .what = try std.fmt.allocPrint(arena, "no frame stands at {s}:{d}, the nearest is line {d}", .{ claim.file, claim.line, f.line }),
            .first = f.source,
            .second = null,
        });
    }
    out.contradicted = found.items;
    return out;
}

fn distance(f: Frame, claim: frames.Place) u32 {
    return if (f.line > claim.line) f.line - claim.line else claim.line - f.line;
}
