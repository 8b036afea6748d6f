//! The manifest (abi/SPEC.md, §1.4), written into the module's custom section when it is compiled.

const std = @import("std");
const builtin = @import("builtin");
const messages = @import("messages.zig");

/// What the module says of itself.
pub const Manifest = struct {
    name: []const u8,
    version: []const u8,
    calls: []const messages.Call,
    families: []const messages.Family = &.{},
    edges: []const []const u8 = &.{},
    criteria: []const []const u8 = &.{},
    capabilities: []const messages.Capability = &.{},
    source: []const u8 = "",
    licence: []const u8 = "",
};

/// The section as assembler. Use it once in a module: `comptime { asm (sc.manifest(.{ ... })); }`
pub fn manifest(comptime m: Manifest) []const u8 {
    if (builtin.target.cpu.arch != .wasm32) return "";
    @setEvalBranchQuota(100_000);
    comptime var fields: u8 = 8;
    if (m.source.len > 0) fields += 1;
    if (m.licence.len > 0) fields += 1;
    comptime var out: []const u8 = &.{0x80 | fields};
    out = out ++ text("name") ++ text(m.name) ++ text("version") ++ text(m.version) ++ text("abi") ++ text(messages.abi_version);
    out = out ++ text("calls") ++ names(messages.Call, m.calls) ++ text("families") ++ names(messages.Family, m.families);
    out = out ++ text("edges") ++ list(m.edges) ++ text("criteria") ++ list(m.criteria);
    out = out ++ text("capabilities") ++ names(messages.Capability, m.capabilities);
    if (m.source.len > 0) out = out ++ text("source") ++ text(m.source);
    if (m.licence.len > 0) out = out ++ text("licence") ++ text(m.licence);
    comptime var section: []const u8 = ".section .custom_section.shadowcourt.manifest,\"\",@\n";
    inline for (out) |b| section = section ++ std.fmt.comptimePrint(".int8 {d}\n", .{b});
    return section ++ ".text\n";
}

fn text(comptime t: []const u8) []const u8 {
    if (t.len > 255) @compileError("a text of a manifest has 255 bytes at most");
    return (if (t.len < 32) &[_]u8{0xa0 | t.len} else &[_]u8{ 0xd9, t.len }) ++ t;
}

fn list(comptime words: []const []const u8) []const u8 {
    if (words.len > 255) @compileError("a list of a manifest has 255 words at most");
    var out: []const u8 = if (words.len < 16) &[_]u8{0x90 | words.len} else &[_]u8{ 0xdc, 0, words.len };
    for (words) |word| out = out ++ text(word);
    return out;
}

fn names(comptime T: type, comptime values: []const T) []const u8 {
    var words: [values.len][]const u8 = undefined;
    for (values, 0..) |v, i| words[i] = @tagName(v);
    const all = words;
    return list(&all);
}
