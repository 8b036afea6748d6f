//go:build unix

package open

import "io/fs"

// modeOfOthers are the bits of a file's mode for others than its owner.
const modeOfOthers fs.FileMode = 0o077
