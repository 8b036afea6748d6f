//! The guest SDK as a package. The build.zig of a module is
//!
//!     const std = @import("std");
//!     const shadowcourt = @import("shadowcourt");
//!
//!     pub fn build(b: *std.Build) void {
//!         shadowcourt.guest(b, "my-judge", "src/main.zig");
//!     }

const std = @import("std");

pub fn build(b: *std.Build) void {
    _ = b.addModule("shadowcourt", .{ .root_source_file = b.path("src/shadowcourt.zig") });
}

/// Installs bin/NAME.wasm, made from a source file of the package that depends on this one under the name shadowcourt. The
/// step `test` runs the file's tests natively.
pub fn guest(b: *std.Build, name: []const u8, source: []const u8) void {
    const wasm = b.resolveTargetQuery(.{ .cpu_arch = .wasm32, .os_tag = .freestanding });
    const module = b.addExecutable(.{
        .name = name,
        .root_module = root(b, source, wasm, .ReleaseSmall),
        .use_llvm = true, // the other backend knows no custom sections
    });
    module.entry = .disabled;
    module.rdynamic = true;
    module.stack_size = 256 * 1024;
    b.installArtifact(module);

    const tests = b.addTest(.{ .root_module = root(b, source, b.graph.host, .Debug) });
    b.step("test", "Run the tests natively").dependOn(&b.addRunArtifact(tests).step);
}

fn root(b: *std.Build, source: []const u8, target: std.Build.ResolvedTarget, optimize: std.builtin.OptimizeMode) *std.Build.Module {
    const module = b.createModule(.{
        .root_source_file = b.path(source),
        .target = target,
        .optimize = optimize,
        .strip = optimize != .Debug,
    });
    module.addImport("shadowcourt", b.dependency("shadowcourt", .{}).module("shadowcourt"));
    return module;
}
