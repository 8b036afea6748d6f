package repo

// Bounded runs a git command whose output may have so many bytes.
var Bounded = (*Repository).bounded

// ErrTooLong: it wrote more.
var ErrTooLong = errTooLong

// DiffLines is for tests.
var DiffLines = diffLines

// CodeChanged says of each hunk between two texts of a file whether it changes code.
func CodeChanged(name, old, now string) []bool {
	hunks := diffLines(splitLines(old), splitLines(now))
	markCode(name, []byte(old), []byte(now), hunks)
	changed := make([]bool, len(hunks))
	for i := range hunks {
		changed[i] = hunks[i].Code
	}
	return changed
}
