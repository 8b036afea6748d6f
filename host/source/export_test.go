package source

// DiffLines is for tests.
var DiffLines = diffLines
