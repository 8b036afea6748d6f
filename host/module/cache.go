package module

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox"

// CacheUsage is what a folder for compiled modules holds.
type CacheUsage struct {
	Entries int   // compiled modules
	Bytes   int64 // that they take together
}

// MaxCacheBytes is what compiled modules may take together in a folder, 1 GiB; of
// more, those are removed that were used longest ago.
const MaxCacheBytes = sandbox.DefaultCacheBytes

// MeasureCache tells what a folder for compiled modules holds; nothing when it
// is not there.
func MeasureCache(dir string) (CacheUsage, error) {
	use, err := sandbox.MeasureCache(dir)
	return CacheUsage(use), err
}

// ClearCache removes all compiled modules from a folder, and returns what they
// took. Open hosts keep working.
func ClearCache(dir string) (CacheUsage, error) {
	use, err := sandbox.ClearCache(dir)
	return CacheUsage(use), err
}
