//go:build !unix

package open

import "io/fs"

// modeOfOthers is empty where the mode of a file says nothing of who may read it.
const modeOfOthers fs.FileMode = 0
