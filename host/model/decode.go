package model

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
)

// maxFaults is how many faults of a file are reported.
const maxFaults = 100

// maxNames is how many providers, or models, a file may have.
const maxNames = 256

type (
	node   = strictyaml.Node
	setter = strictyaml.Setter
)

// reader turns YAML into a definition and collects what is wrong with it.
type reader struct {
	strictyaml.Reader
	file   string
	checks []func() // that need all of the file
}

// newReader makes a reader that shows no value, since it may be a key.
func newReader(file string) *reader {
	r := &reader{file: file}
	r.Secret = true
	r.Hint = func(path, key string) string {
		if strings.HasPrefix(path, "providers") && strings.Contains(strings.ToLower(key), "key") {
			return "a provider's key never stands in this file: key_env names the variable that holds it, key_file the file"
		}
		return ""
	}
	return r
}

func (r *reader) after(check func()) { r.checks = append(r.checks, check) }

func (r *reader) later() {
	for _, check := range r.checks {
		check()
	}
}

func (r *reader) fail(n *node, path, format string, args ...any) {
	r.Fail(n, path, strictyaml.CodeOutOfRange, format, args...)
}

// err has the faults in the order of the file.
func (r *reader) err() error {
	slices.SortStableFunc(r.Faults, func(a, b strictyaml.Fault) int { return cmp.Compare(a.Line, b.Line) })
	var all []error
	r.Faults = slices.CompactFunc(r.Faults, func(a, b strictyaml.Fault) bool { // of aliases a line may have thousands
		return a.Line == b.Line && a.Path == b.Path && a.Message == b.Message
	})
	for i, f := range r.Faults {
		if i == maxFaults {
			all = append(all, fmt.Errorf("%s: %d more faults are not shown", r.file, len(r.Faults)-i))
			break
		}
		at := r.file
		if f.Line > 0 {
			at += ":" + strconv.Itoa(f.Line)
		}
		if f.Path != "" {
			at += ": " + f.Path
		}
		all = append(all, fmt.Errorf("%s: %s", at, f.Message))
	}
	return errors.Join(all...)
}

func (r *reader) required(n *node, path string, at map[string]*node, names ...string) {
	for _, name := range names {
		if n.Kind == yaml.MappingNode && at[name] == nil {
			r.fail(n, strictyaml.FieldPath(path, name), "is missing")
		}
	}
}

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$`)

// names reads a mapping whose keys are names of the author's choice.
func (r *reader) names(each func(name string) setter) setter {
	return func(n *node, path string) {
		count := 0
		r.Table(n, path, strictyaml.CodeDuplicateKey, func(id string, key, value *node, sub string) {
			if count++; count > maxNames {
				return
			}
			if !name.MatchString(id) {
				r.fail(key, sub, "use a name of letters, digits and . _ - : /, at most 64 of them")
				return
			}
			each(id)(value, sub)
		})
		if count > maxNames {
			r.fail(n, path, "has %d entries; there may be %d", count, maxNames)
		}
		if n.Kind == yaml.MappingNode && count == 0 {
			r.fail(n, path, "is empty")
		}
	}
}

func (r *reader) text(target *string) setter {
	return func(n *node, path string) {
		switch {
		case !r.Scalar(n, path, "a text", "!!str"):
		case n.Value == "":
			r.fail(n, path, "is empty")
		case len(n.Value) > 4096 || strings.ContainsFunc(n.Value, func(c rune) bool { return c < ' ' || c == 0x7f }):
			r.fail(n, path, "is longer than 4096 bytes or has control characters")
		default:
			*target = n.Value
		}
	}
}

func (r *reader) oneOf(target *string, values ...string) setter {
	return func(n *node, path string) {
		if r.Scalar(n, path, "a text", "!!str") {
			if !slices.Contains(values, n.Value) {
				last := len(values) - 1
				r.fail(n, path, "use %s or %s", strings.Join(values[:last], ", "), values[last])
				return
			}
			*target = n.Value
		}
	}
}

func (r *reader) integer(target *int, low, high int) setter {
	return func(n *node, path string) {
		if !r.Scalar(n, path, "an integer", "!!int") {
			return
		}
		var v int
		if err := n.Decode(&v); err != nil || v < low || v > high {
			r.fail(n, path, "use a number from %d to %d", low, high)
			return
		}
		*target = v
	}
}

func (r *reader) number(target *float64, high float64) setter {
	return func(n *node, path string) {
		if !r.Scalar(n, path, "a number", "!!int", "!!float") {
			return
		}
		var v float64
		if err := n.Decode(&v); err != nil || math.IsNaN(v) || v < 0 || v > high {
			r.fail(n, path, "use a number from 0 to %g", high)
			return
		}
		*target = v
	}
}

func (r *reader) duration(target *time.Duration) setter {
	return func(n *node, path string) {
		if !r.Scalar(n, path, "a duration such as 90s", "!!str") {
			return
		}
		d, err := time.ParseDuration(n.Value)
		if err != nil || d <= 0 || d > time.Hour {
			r.fail(n, path, "use a duration above 0 and up to 1h, such as 90s")
			return
		}
		*target = d
	}
}

// plainPathError is the error of a file without its name.
func plainPathError(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
