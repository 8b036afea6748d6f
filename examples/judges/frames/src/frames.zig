//! Stack frames, as Go, Java, JavaScript, Python and others write them: a function, a file, a line.

const std = @import("std");
const Allocator = std.mem.Allocator;

pub const Frame = struct {
    /// The last part of the function's name; "" where the text does not name it.
    function: []const u8,
    /// The file's path, as it stands.
    file: []const u8,
    line: u32,
    /// Which text the frame stands in.
    source: usize,
};

/// More are not looked at.
const most_frames = 4096;

/// Appends the frames of a text.
pub fn find(arena: Allocator, frames: *std.ArrayList(Frame), text: []const u8, source: usize) !void {
    var before: []const u8 = "";
    var lines = std.mem.splitScalar(u8, text, '\n');
    while (lines.next()) |raw| {
        const line = std.mem.trim(u8, raw, " \t\r");
        if (frames.items.len == most_frames) return;
        if (parse(line, before)) |f| {
            var frame = f;
            frame.source = source;
            try frames.append(arena, frame);
        }
        before = line;
    }
}

/// Reads a line that is a frame. Go names the function in the line before.
fn parse(line: []const u8, before: []const u8) ?Frame {
    if (std.mem.startsWith(u8, line, "File \"")) return python(line["File \"".len..]);
    if (std.mem.startsWith(u8, line, "at ")) return at(line["at ".len..]);
    const place = Place.atStart(line) orelse return null;
    const rest = line[place.end..];
    if (rest.len > 0 and rest[0] != ' ') return null;
    return .{ .function = goFunction(before), .file = place.file, .line = place.line, .source = 0 };
}

/// `x.py", line 3, in f`
fn python(rest: []const u8) ?Frame {
    const quote = std.mem.indexOf(u8, rest, "\", line ") orelse return null;
    const number = rest[quote + "\", line ".len ..];
    const end = digits(number);
    const line = std.fmt.parseInt(u32, number[0..end], 10) catch return null;
    const in = ", in ";
    const function = if (std.mem.startsWith(u8, number[end..], in)) lastPart(number[end + in.len ..]) else "";
    return .{ .function = function, .file = rest[0..quote], .line = line, .source = 0 };
}

/// `a.b.C.m(File.java:12)`, `f (file:///x.js:1:2)`, `x.js:1:2`
fn at(rest: []const u8) ?Frame {
    const open = std.mem.indexOfScalar(u8, rest, '(');
    const place = Place.atStart(if (open) |o| rest[o + 1 ..] else rest) orelse return null;
    const function = if (open) |o| lastPart(std.mem.trim(u8, rest[0..o], " ")) else "";
    return .{ .function = function, .file = place.file, .line = place.line, .source = 0 };
}

/// `pkg.(*T).Method(0x1, {0x2, 0x3})`, with `created by` before it or not; "" where the line is none.
fn goFunction(line: []const u8) []const u8 {
    const by = "created by ";
    const name = if (std.mem.startsWith(u8, line, by)) line[by.len..] else line;
    const end = if (std.mem.endsWith(u8, name, ")"))
        openOf(name) orelse return ""
    else
        std.mem.indexOfScalar(u8, name, ' ') orelse name.len;
    const function = name[0..end];
    if (std.mem.indexOfScalar(u8, function, '.') == null or std.mem.indexOfScalar(u8, function, ' ') != null) return "";
    return lastPart(function);
}

/// The parenthesis that the last one of a line closes.
fn openOf(line: []const u8) ?usize {
    var depth: usize = 0;
    var i = line.len;
    while (i > 0) {
        i -= 1;
        if (line[i] == ')') depth += 1;
        if (line[i] == '(') depth -= 1;
        if (depth == 0) return i;
    }
    return null;
}

fn lastPart(name: []const u8) []const u8 {
    const from = if (std.mem.lastIndexOfAny(u8, name, "./:")) |dot| dot + 1 else 0;
    return name[from..];
}

/// A file and a line: `path/to/file.go:80`.
pub const Place = struct {
    file: []const u8,
    line: u32,
    /// Behind the line's number.
    end: usize,

    /// Reads a place at the start of a text; null where none stands.
    pub fn atStart(text: []const u8) ?Place {
        var end: usize = 0;
        while (end < text.len and text[end] != ' ' and text[end] != ')' and text[end] != ',') end += 1;
        var word = text[0..end];
        var colon = std.mem.lastIndexOfScalar(u8, word, ':') orelse return null;
        // In file:line:column the line is the number before the last.
        if (std.mem.lastIndexOfScalar(u8, word[0..colon], ':')) |first| {
            if (first + 1 < colon and digits(word[first + 1 .. colon]) == colon - first - 1) {
                word = word[0..colon];
                colon = first;
            }
        }
        const n = digits(word[colon + 1 ..]);
        const line = std.fmt.parseInt(u32, word[colon + 1 ..][0..n], 10) catch return null;
        const file = word[0..colon];
        return if (line > 0 and isFile(file)) .{ .file = file, .line = line, .end = end } else null;
    }
};

/// Says whether a name ends in a dot and one to five letters.
fn isFile(name: []const u8) bool {
    const dot = std.mem.lastIndexOfScalar(u8, name, '.') orelse return false;
    const extension = name[dot + 1 ..];
    if (dot == 0 or extension.len == 0 or extension.len > 5) return false;
    for (extension) |c| if (!std.ascii.isAlphabetic(c)) return false;
    return true;
}

fn digits(text: []const u8) usize {
    var n: usize = 0;
    while (n < text.len and std.ascii.isDigit(text[n])) n += 1;
    return n;
}

/// The part of a path behind its last slash.
pub fn base(path: []const u8) []const u8 {
    return path[if (std.mem.lastIndexOfAny(u8, path, "/\\")) |slash| slash + 1 else 0..];
}

/// Says whether one path can be the other, of which it may be the end.
pub fn same(a: []const u8, b: []const u8) bool {
    const long, const short = if (a.len > b.len) .{ a, b } else .{ b, a };
    if (!std.mem.endsWith(u8, long, short)) return false;
    return long.len == short.len or long[long.len - short.len - 1] == '/' or long[long.len - short.len - 1] == '\\';
}

test "frames of many languages" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var frames: std.ArrayList(Frame) = .empty;
    try find(arena.allocator(), &frames,
        \\golang.org/x/sync/semaphore.(*Weighted).Acquire(0xc0000d6550, {0x668f10, 0x80a3c0}, 0x1)
        \\    /src/golang.org/x/sync/semaphore/semaphore.go:80 +0x565
        \\  File "app/models.py", line 31, in save
        \\    at com.example.Store.put(Store.java:12)
        \\    at Object.read (/srv/app/io.js:7:13)
        \\    at /srv/app/main.js:99:1
        \\12:30 nothing here: 5
    , 3);
    const want = [_]Frame{
        .{ .function = "Acquire", .file = "/src/golang.org/x/sync/semaphore/semaphore.go", .line = 80, .source = 3 },
        .{ .function = "save", .file = "app/models.py", .line = 31, .source = 3 },
        .{ .function = "put", .file = "Store.java", .line = 12, .source = 3 },
        .{ .function = "read", .file = "/srv/app/io.js", .line = 7, .source = 3 },
        .{ .function = "", .file = "/srv/app/main.js", .line = 99, .source = 3 },
    };
    try std.testing.expectEqual(want.len, frames.items.len);
    for (want, frames.items) |w, got| try std.testing.expectEqualDeep(w, got);
}

test "paths" {
    try std.testing.expect(same("/src/a/b.go", "a/b.go"));
    try std.testing.expect(!same("/src/a/b.go", "c/b.go"));
    try std.testing.expect(!same("/src/ab.go", "b.go"));
    try std.testing.expectEqualStrings("b.go", base("/src/a/b.go"));
}
