package module

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox"

// CacheUse is what a folder for compiled modules holds.
type CacheUse = sandbox.CacheUse

// CacheBytes is what compiled modules may take together in a folder, 1 GiB; of
// more, those go that were used longest ago.
const CacheBytes = sandbox.DefaultCacheBytes

// MeasureCache says what a folder for compiled modules holds; nothing when it
// is not there.
func MeasureCache(dir string) (CacheUse, error) { return sandbox.MeasureCache(dir) }

// ClearCache removes all compiled modules from a folder, and says what they
// took. Hosts that are open go on.
func ClearCache(dir string) (CacheUse, error) { return sandbox.ClearCache(dir) }
