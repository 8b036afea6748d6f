// Package tap reads the Test Anything Protocol, versions 12 to 14, into cases, one for each test point that failed: what node:test, node-tap,
// tape, vitest, bats, prove -v and Test::More write.
//
// A point "not ok" is a case unless it is to do (# TODO) or was skipped (# SKIP). Its group is the path of the subtests that it stands in,
// parted by " > "; the heading of tape, and the file that prove names, stand for one. A point that only sums up its subtests is no case
// when one of them failed. A plan that more tests belong to than ran, and a bail-out, are a case each.
//
// The document "failure" has, of the YAML behind a point, or the lines behind it, what is wrong, where and the stack, in the form that
// JavaScript's errors have; "diagnostics" has the YAML as it stands. Other lines of the stream are "output" of the next point that fails.
//
// A stream is data from elsewhere: lines, nesting and texts are bounded, see [Reader].
package tap
