package promises_test

import (
	"regexp"
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
	for _, p := range promised(t, "9.1") {
		for _, place := range codesOf(p.rules) {
			typ, path, _ := strings.Cut(place, ".") // no path: the value
			out[broken{typ, p.code, strings.ReplaceAll(path, "[i]", "[]")}] = false
		}
	}
	return out
}

// Each place in §9.1 has messages that break its rule and nothing else, which the decoder rejects
// by its code and path; and what the decoder's rules reject stands there.
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
					t.Errorf("%s: %s: §9.1 does not promise %+v", set.Type, v.Name, rule)
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

// Each rule of §9.2 has a case, and each case has a rule of its code.
func TestAccept_FX4_Section9_2_HasNoOtherRules(t *testing.T) {
	t.Parallel()
	shown := map[promise]bool{}
	for _, p := range promised(t, "9.2") {
		for rule := range strings.SplitSeq(p.rules, "; ") {
			shown[promise{p.code, rule}] = false
		}
	}
	for _, c := range between {
		p := promise{c.code, c.rule}
		if _, there := shown[p]; !there {
			t.Errorf("§9.2 has no rule %q of %s", c.rule, c.code)
		}
		shown[p] = true
	}
	for p, there := range shown {
		if !there {
			t.Errorf("§9.2: no case breaks %q by %s", p.rules, p.code)
		}
	}
}
