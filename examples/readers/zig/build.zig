const std = @import("std");
const shadowcourt = @import("shadowcourt");

pub fn build(b: *std.Build) void {
    shadowcourt.guest(b, "line-reader", "src/main.zig");
}
