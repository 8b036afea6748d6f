package serve

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// units are those of --keep: nanoseconds for ages, bytes for sizes.
var units = []struct {
	name string
	age  time.Duration
	size int64
}{{name: "d", age: 24 * time.Hour}, {name: "h", age: time.Hour}, {name: "MB", size: 1e6}, {name: "GB", size: 1e9}, {name: "TB", size: 1e12}}

// keepOf is what --keep says: an age, a size, or both.
func keepOf(list []string) (keep store.Keep, err error) {
	var faults []error
	for _, text := range list {
		if !addKeep(&keep, strings.TrimSpace(text)) {
			faults = append(faults, fmt.Errorf("--keep %q: use an age (90d, 12h) or a size (500MB, 20GB, 1TB), each once and above 0", text))
		}
	}
	return keep, errors.Join(faults...)
}

func addKeep(keep *store.Keep, text string) bool {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		each := max(int64(unit.age), unit.size)
		switch {
		case err != nil || n <= 0 || n > math.MaxInt64/each:
			return false
		case unit.age > 0 && keep.Age == 0:
			keep.Age = time.Duration(n) * unit.age
			return true
		case unit.size > 0 && keep.Bytes == 0:
			keep.Bytes = n * unit.size
			return true
		}
		return false
	}
	return false
}
