package tree

// Bounded runs a git command whose output may have so many bytes.
var Bounded = (*Repository).bounded

// ErrTooLong: it wrote more.
var ErrTooLong = errTooLong
