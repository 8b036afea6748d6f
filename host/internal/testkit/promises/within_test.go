package promises_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var index = regexp.MustCompile(`\[\d+\]`)

// broken is a rule of a type, by the code and the path of its problem.
type broken struct{ typ, code, path string }

// promisedWithin are the rules of §9.1.
func promisedWithin(t *testing.T) map[broken]bool {
	t.Helper()
	out := map[broken]bool{}
	for _, row := range rows(t, "9.1") {
		paths := codesOf(row[3])
		if len(paths) == 0 {
			paths = []string{""} // the value
		}
		for _, path := range paths {
			out[broken{row[0], codesOf(row[2])[0], strings.ReplaceAll(path, "[i]", "[]")}] = false
		}
	}
	return out
}

// Each row of §9.1 has messages that break it and nothing else, which the decoder rejects
// by its code and path; and what the decoder's rules reject stands in a row.
func TestAccept_FX4_Section9_1_RulesWithinAMessage(t *testing.T) {
	t.Parallel()
	promised := promisedWithin(t)
	sets := must.Get(vectors.Sets())(t)
	for _, set := range sets {
		typ, _ := codec.Lookup(set.Type)
		for i := range set.Vectors {
			v := &set.Vectors[i]
			if !strings.HasPrefix(v.Name, "rule ") {
				continue
			}
			message := must.Get(v.Message())(t)
			_, err := typ.Canonical(message, 0)
			for _, p := range problemsOf(t, err) {
				rule := broken{set.Type, string(p.Code), index.ReplaceAllString(p.Path, "[]")}
				if _, there := promised[rule]; !there {
					t.Errorf("%s: %s: no row of §9.1 promises %+v", set.Type, v.Name, rule)
				}
				promised[rule] = true
			}
		}
	}
	for rule, shown := range promised {
		if !shown {
			t.Errorf("§9.1: no vector breaks %+v", rule)
		}
	}
}

// Each row of §9.2 has a case for each of its codes, and each case has a row.
func TestAccept_FX4_Section9_2_HasNoOtherRows(t *testing.T) {
	t.Parallel()
	var known []string
	for _, c := range between {
		known = append(known, c.row)
	}
	for _, row := range rows(t, "9.2") {
		name := row[0] + ": " + row[1]
		for _, code := range codesOf(row[2]) {
			shown := slices.ContainsFunc(between, func(c crossing) bool { return c.row == name && c.code == code })
			if !shown {
				t.Errorf("§9.2: no case breaks %q by %s", name, code)
			}
		}
		known = slices.DeleteFunc(known, func(k string) bool { return k == name })
	}
	for _, name := range known {
		t.Errorf("§9.2 has no row %q", name)
	}
}
