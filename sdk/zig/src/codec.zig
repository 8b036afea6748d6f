//! The strict reader and the canonical writer: abi/SPEC.md, §3. They read the types of messages.zig at compile time.

const std = @import("std");
const Allocator = std.mem.Allocator;

const max_depth = 32;
const shown = 64;

/// An entry of a map of strings.
pub const Pair = struct { key: []const u8, value: []const u8 };

/// What the type of a field does not say.
pub const Rules = struct {
    /// Absent when null or empty.
    optional: bool = false,
    has_default: bool = false,
    nonempty: bool = false,
    min_count: usize = 0,
    max_count: usize = std.math.maxInt(usize),
    /// Bounds of a number, or of each number of a list.
    least: ?f64 = null,
    most: ?f64 = null,

    fn holds(comptime rules: Rules, n: f64) bool {
        if (rules.least) |least| if (n < least) return false;
        if (rules.most) |most| if (n > most) return false;
        return true;
    }

    fn ofElement(comptime rules: Rules) Rules {
        return .{ .least = rules.least, .most = rules.most };
    }
};

pub const Error = error{ Rejected, OutOfMemory };

/// What was wrong with a message: the first problem, its code (§10) and its path (§3.11).
pub const Problem = struct { code: []const u8 = "", path: []const u8 = "" };

/// Reads one message strictly. Texts of the value are parts of the message. A message that is rejected gives
/// error.Rejected, and the first problem. The rules across fields (§9.1) are the host's to check.
pub fn decode(comptime T: type, arena: Allocator, message: []const u8, problem: *Problem) Error!T {
    var r: Reader = .{ .arena = arena, .left = message };
    if (r.value(T, .{})) |v| {
        if (r.left.len == 0) return v;
        r.code = "trailing_bytes";
    } else |err| if (err == error.OutOfMemory) return err;
    problem.* = .{ .code = r.code, .path = try r.path() };
    return error.Rejected;
}

/// The canonical bytes of a value. It is not checked: the host does that.
pub fn encode(arena: Allocator, v: anytype) error{OutOfMemory}![]const u8 {
    var w: Writer = .{ .arena = arena };
    try w.value(@TypeOf(v), v);
    return w.out.items;
}

fn rulesOf(comptime T: type, comptime field: []const u8) Rules {
    return if (@hasDecl(T.rules, field)) @field(T.rules, field) else .{};
}

const Kind = enum { reserved, nil, boolean, int, float, string, binary, extension, list, map };

fn kindOf(head: u8) Kind {
    return switch (head) {
        0x00...0x7f, 0xcc...0xd3, 0xe0...0xff => .int,
        0x80...0x8f, 0xde...0xdf => .map,
        0x90...0x9f, 0xdc...0xdd => .list,
        0xa0...0xbf, 0xd9...0xdb => .string,
        0xc0 => .nil,
        0xc1 => .reserved,
        0xc2...0xc3 => .boolean,
        0xc4...0xc6 => .binary,
        0xc7...0xc9, 0xd4...0xd8 => .extension,
        0xca...0xcb => .float,
    };
}

const Step = union(enum) { field: []const u8, key: []const u8, index: usize };

const Reader = struct {
    arena: Allocator,
    left: []const u8,
    depth: usize = 0,
    code: []const u8 = "",
    steps: [max_depth + 2]Step = undefined,
    count: usize = 0,

    fn fail(r: *Reader, code: []const u8) error{Rejected} {
        r.code = code;
        return error.Rejected;
    }

    fn push(r: *Reader, step: Step) void {
        r.steps[r.count] = step;
        r.count += 1;
    }

    fn path(r: *const Reader) error{OutOfMemory}![]const u8 {
        var out: std.ArrayList(u8) = .empty;
        for (r.steps[0..r.count], 0..) |step, i| switch (step) {
            .field => |name| {
                if (i > 0) try out.append(r.arena, '.');
                try out.appendSlice(r.arena, name);
            },
            .index => |n| {
                var digits: [24]u8 = undefined;
                try out.appendSlice(r.arena, std.fmt.bufPrint(&digits, "[{d}]", .{n}) catch unreachable);
            },
            .key => |k| try quote(r.arena, &out, k),
        };
        return out.items;
    }

    /// Takes a head byte, of the kind that is wanted.
    fn expect(r: *Reader, want: Kind) Error!u8 {
        if (r.left.len == 0) return r.fail("truncated");
        const head = r.left[0];
        const got = kindOf(head);
        if (got == want or (want == .float and got == .int)) {
            r.left = r.left[1..];
            return head;
        }
        return r.fail(switch (got) {
            .nil => "nil_value",
            .extension => "extension_type",
            .reserved => "reserved_byte",
            .binary => if (want == .string) "bin_for_string" else "wrong_type",
            else => "wrong_type",
        });
    }

    fn take(r: *Reader, n: usize) []const u8 {
        defer r.left = r.left[n..];
        return r.left[0..n];
    }

    /// Reads a number, the most significant byte first.
    fn number(r: *Reader, comptime T: type) Error!T {
        if (r.left.len < @sizeOf(T)) return r.fail("truncated");
        return std.mem.readInt(T, r.take(@sizeOf(T))[0..@sizeOf(T)], .big);
    }

    fn stringAfter(r: *Reader, head: u8) Error![]const u8 {
        const n: u64 = switch (head) {
            0xd9 => try r.number(u8),
            0xda => try r.number(u16),
            0xdb => try r.number(u32),
            else => head & 0x1f,
        };
        if (n > r.left.len) return r.fail("bad_length");
        return r.take(@intCast(n));
    }

    /// Begins a list or a map, of parts values for each element, and gives its count.
    fn enter(r: *Reader, want: Kind, parts: u64) Error!usize {
        const head = try r.expect(want);
        const n: u64 = switch (head) {
            0xdc, 0xde => try r.number(u16),
            0xdd, 0xdf => try r.number(u32),
            else => head & 0x0f,
        };
        if (n * parts > r.left.len) return r.fail("bad_length");
        if (r.depth == max_depth) return r.fail("too_deep");
        r.depth += 1;
        return @intCast(n);
    }

    fn counted(r: *Reader, comptime rules: Rules, n: usize) Error!void {
        if (rules.nonempty and n == 0) return r.fail("empty");
        if (n < rules.min_count or n > rules.max_count) return r.fail("bad_count");
    }

    fn key(r: *Reader) Error![]const u8 {
        if (r.left.len == 0) return r.fail("truncated");
        switch (kindOf(r.left[0])) {
            .string => {},
            .reserved => return r.fail("reserved_byte"),
            else => return r.fail("wrong_type"),
        }
        const bytes = try r.stringAfter(r.take(1)[0]);
        return if (std.unicode.utf8ValidateSlice(bytes)) bytes else r.fail("invalid_utf8");
    }

    fn text(r: *Reader, comptime rules: Rules) Error![]const u8 {
        const bytes = try r.stringAfter(try r.expect(.string));
        if (rules.nonempty and bytes.len == 0) return r.fail("empty");
        return if (std.unicode.utf8ValidateSlice(bytes)) bytes else r.fail("invalid_utf8");
    }

    fn oneOf(r: *Reader, comptime T: type, comptime optional: bool) Error!(if (optional) ?T else T) {
        const bytes = try r.stringAfter(try r.expect(.string));
        if (optional and bytes.len == 0) return null;
        if (std.meta.stringToEnum(T, bytes)) |v| return v;
        return r.fail(if (std.unicode.utf8ValidateSlice(bytes)) "invalid_value" else "invalid_utf8");
    }

    /// Gives a number in 65 bits.
    fn whole(r: *Reader, head: u8) Error!i65 {
        return switch (head) {
            0xcc => try r.number(u8),
            0xcd => try r.number(u16),
            0xce => try r.number(u32),
            0xcf => try r.number(u64),
            0xd0 => try r.number(i8),
            0xd1 => try r.number(i16),
            0xd2 => try r.number(i32),
            0xd3 => try r.number(i64),
            else => @as(i8, @bitCast(head)),
        };
    }

    fn integer(r: *Reader, comptime rules: Rules) Error!i64 {
        const n = try r.whole(try r.expect(.int));
        const v = std.math.cast(i64, n) orelse return r.fail("out_of_range");
        return if (rules.holds(@floatFromInt(v))) v else r.fail("out_of_range");
    }

    fn float(r: *Reader, comptime rules: Rules) Error!f64 {
        const head = try r.expect(.float);
        const f: f64 = switch (head) {
            0xca => @as(f32, @bitCast(try r.number(u32))),
            0xcb => @bitCast(try r.number(u64)),
            else => big: {
                const n = try r.whole(head);
                break :big if (n > std.math.maxInt(i64)) @floatFromInt(@as(u64, @intCast(n))) else @floatFromInt(@as(i64, @intCast(n)));
            },
        };
        if (!std.math.isFinite(f)) return r.fail("not_finite");
        return if (rules.holds(f)) f else r.fail("out_of_range");
    }

    fn list(r: *Reader, comptime T: type, comptime rules: Rules) Error![]const T {
        const n = try r.enter(.list, 1);
        try r.counted(rules, n);
        const out = try r.arena.alloc(T, n);
        for (out, 0..) |*v, i| {
            r.push(.{ .index = i });
            v.* = try r.value(T, rules.ofElement());
            r.count -= 1;
        }
        r.depth -= 1;
        return out;
    }

    fn pairs(r: *Reader, comptime rules: Rules) Error![]const Pair {
        const n = try r.enter(.map, 2);
        try r.counted(rules, n);
        const out = try r.arena.alloc(Pair, n);
        for (out, 0..) |*pair, i| {
            pair.key = try r.key();
            r.push(.{ .key = pair.key });
            for (out[0..i]) |before| if (std.mem.eql(u8, before.key, pair.key)) return r.fail("duplicate_key");
            pair.value = try r.text(.{});
            r.count -= 1;
        }
        r.depth -= 1;
        return out;
    }

    fn message(r: *Reader, comptime T: type) Error!T {
        const fields = @typeInfo(T).@"struct".fields;
        var out: T = .{};
        var seen: u64 = 0;
        for (0..try r.enter(.map, 2)) |_| {
            const k = try r.key();
            r.push(.{ .field = k });
            inline for (fields, 0..) |f, i| {
                if (std.mem.eql(u8, k, f.name)) {
                    if (seen >> i & 1 == 1) return r.fail("duplicate_key");
                    seen |= 1 << i;
                    @field(out, f.name) = try r.value(f.type, comptime rulesOf(T, f.name));
                    break;
                }
            } else {
                if (!isName(k)) r.steps[r.count - 1] = .{ .key = k };
                return r.fail("unknown_field");
            }
            r.count -= 1;
        }
        inline for (fields, 0..) |f, i| {
            const rules = comptime rulesOf(T, f.name);
            if (!rules.optional and !rules.has_default and seen >> i & 1 == 0) {
                r.push(.{ .field = f.name });
                return r.fail("missing_field");
            }
        }
        r.depth -= 1;
        return out;
    }

    fn value(r: *Reader, comptime T: type, comptime rules: Rules) Error!T {
        switch (T) {
            []const u8 => return r.text(rules),
            []const Pair => return r.pairs(rules),
            bool => return try r.expect(.boolean) == 0xc3,
            i64 => return r.integer(rules),
            f64 => return r.float(rules),
            else => {},
        }
        return switch (@typeInfo(T)) {
            .optional => |o| if (@typeInfo(o.child) == .@"enum") try r.oneOf(o.child, true) else try r.value(o.child, rules),
            .@"enum" => r.oneOf(T, false),
            .pointer => |p| r.list(p.child, rules),
            .@"struct" => r.message(T),
            else => @compileError("no message holds a " ++ @typeName(T)),
        };
    }
};

fn isName(key: []const u8) bool {
    if (key.len == 0 or key.len > shown) return false;
    for (key) |c| switch (c) {
        'a'...'z', '0'...'9', '_' => {},
        else => return false,
    };
    return true;
}

/// Quotes a key as §3.11 has it, but takes every character beyond ASCII for a printable one.
fn quote(arena: Allocator, out: *std.ArrayList(u8), key: []const u8) error{OutOfMemory}!void {
    var n = key.len;
    if (n > shown) {
        n = shown;
        while (n > 0 and key[n] & 0xc0 == 0x80) n -= 1;
    }
    try out.appendSlice(arena, "[\"");
    for (key[0..n]) |c| switch (c) {
        '"', '\\' => try out.appendSlice(arena, &.{ '\\', c }),
        7...13 => try out.appendSlice(arena, &.{ '\\', "abtnvfr"[c - 7] }),
        0...6, 14...0x1f, 0x7f => try out.appendSlice(arena, &.{ '\\', 'x', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15] }),
        else => try out.append(arena, c),
    };
    if (n < key.len) try out.appendSlice(arena, "...");
    try out.appendSlice(arena, "\"]");
}

const Writer = struct {
    arena: Allocator,
    out: std.ArrayList(u8) = .empty,

    /// Writes a head byte and a number behind it.
    fn head(w: *Writer, code: u8, comptime T: type, n: T) error{OutOfMemory}!void {
        try w.out.append(w.arena, code);
        var bytes: [@sizeOf(T)]u8 = undefined;
        std.mem.writeInt(T, &bytes, n, .big);
        try w.out.appendSlice(w.arena, &bytes);
    }

    fn count(w: *Writer, fix: u8, wide: u8, n: usize) error{OutOfMemory}!void {
        if (n < 16) return w.out.append(w.arena, fix | @as(u8, @intCast(n)));
        if (n <= 0xffff) return w.head(wide, u16, @intCast(n));
        return w.head(wide + 1, u32, @intCast(n));
    }

    fn text(w: *Writer, t: []const u8) error{OutOfMemory}!void {
        switch (t.len) {
            0...31 => try w.out.append(w.arena, 0xa0 | @as(u8, @intCast(t.len))),
            32...0xff => try w.head(0xd9, u8, @intCast(t.len)),
            0x100...0xffff => try w.head(0xda, u16, @intCast(t.len)),
            else => try w.head(0xdb, u32, @intCast(t.len)),
        }
        try w.out.appendSlice(w.arena, t);
    }

    fn integer(w: *Writer, n: i64) error{OutOfMemory}!void {
        if (n >= -32 and n <= 127) return w.out.append(w.arena, @bitCast(@as(i8, @intCast(n))));
        inline for (.{ .{ 0xcc, u8 }, .{ 0xcd, u16 }, .{ 0xce, u32 }, .{ 0xcf, u64 } }) |width|
            if (std.math.cast(width[1], n)) |v| return w.head(width[0], width[1], v);
        inline for (.{ .{ 0xd0, i8 }, .{ 0xd1, i16 }, .{ 0xd2, i32 }, .{ 0xd3, i64 } }) |width|
            if (std.math.cast(width[1], n)) |v| return w.head(width[0], width[1], v);
    }

    fn pairs(w: *Writer, list: []const Pair) error{OutOfMemory}!void {
        const sorted = try w.arena.dupe(Pair, list);
        std.mem.sort(Pair, sorted, {}, struct {
            fn before(_: void, a: Pair, b: Pair) bool {
                return std.mem.lessThan(u8, a.key, b.key);
            }
        }.before);
        try w.count(0x80, 0xde, list.len);
        for (sorted) |pair| {
            try w.text(pair.key);
            try w.text(pair.value);
        }
    }

    fn message(w: *Writer, comptime T: type, v: T) error{OutOfMemory}!void {
        const fields = @typeInfo(T).@"struct".fields;
        var n: usize = 0;
        inline for (fields) |f| n += @intFromBool(there(f.type, comptime rulesOf(T, f.name), @field(v, f.name)));
        try w.count(0x80, 0xde, n);
        inline for (fields) |f| {
            if (there(f.type, comptime rulesOf(T, f.name), @field(v, f.name))) {
                try w.text(f.name);
                try w.value(f.type, @field(v, f.name));
            }
        }
    }

    fn value(w: *Writer, comptime T: type, v: T) error{OutOfMemory}!void {
        switch (T) {
            []const u8 => return w.text(v),
            []const Pair => return w.pairs(v),
            bool => return w.out.append(w.arena, if (v) 0xc3 else 0xc2),
            i64 => return w.integer(v),
            f64 => return w.head(0xcb, u64, @bitCast(if (v == 0) 0 else v)), // not -0
            else => {},
        }
        switch (@typeInfo(T)) {
            .optional => |o| try w.value(o.child, v.?),
            .@"enum" => try w.text(@tagName(v)),
            .pointer => |p| {
                try w.count(0x90, 0xdc, v.len);
                for (v) |element| try w.value(p.child, element);
            },
            .@"struct" => try w.message(T, v),
            else => @compileError("no message holds a " ++ @typeName(T)),
        }
    }
};

/// Says whether a field is written.
fn there(comptime T: type, comptime rules: Rules, v: T) bool {
    if (!rules.optional) return true;
    return if (@typeInfo(T) == .optional) v != null else v.len > 0;
}
