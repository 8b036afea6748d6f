// Package prepared is the state of a module that serves node or contest calls, and its export shadowcourt_prepare. The host saves the memory
// after that call, so that each call that follows begins with what was decoded.
package prepared

import "github.com/shadowcourt/shadowcourt/abi/guest/prepare"

// Module is the state of the module: its exports are functions, and have nowhere else to keep it.
//
//nolint:gochecknoglobals // documented
var Module prepare.State
