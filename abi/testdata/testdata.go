// Package testdata holds the test vectors of the contract. README.md beside
// them says what they are.
package testdata

import "embed"

// Vectors holds vectors/<type>.json for every type of the contract.
//
//go:embed vectors
var Vectors embed.FS
