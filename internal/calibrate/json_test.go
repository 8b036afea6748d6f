package calibrate

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// TestTheDocumentationHasEveryField: the block of docs/measuring.md that lists the JSON lists each field of a full report,
// and none else.
func TestTheDocumentationHasEveryField(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var list []Observation
	fuel := uint64(1)
	for _, o := range duel(300, 60, 3) {
		o.Case.Light.Confidence, o.Final.Confidence, o.Fuel, o.Expected = .5+.3*r.Float64(), .5+.5*r.Float64(), &fuel, "affirm"
		o.OnTrial, o.Remands = []OnTrial{{Label: "b", Challenged: true}}, 1
		list = append(list, o)
	}
	o := options()
	o.Bands, o.Timings = &BandOptions{MaxError: .5}, true
	o.Peers = []Peer{{ID: "m", Name: "the model alone"}}
	o.Rules = &RuleSet{File: "rules.yaml", Rules: []UserRule{{Name: "r", Label: "a"}}}
	list[0].Rules = []trial.RuleMatch{{Rule: "r", Label: "a"}}
	certified := Measure(list, fittingOf(witnessed(60, .5, r)), o)
	o.Bands, o.Peers, o.Rules = &BandOptions{}, nil, nil
	got := map[string]bool{}
	for _, report := range []*Report{certified, Measure(duel(30, 0, 0), nil, o)} {
		data, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		collect("", v, got)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "measuring.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "<!-- fields -->\n")
	block, _, ended := strings.Cut(block, "<!-- /fields -->")
	if !found || !ended {
		t.Fatal("the page has no list of fields")
	}
	want := map[string]bool{}
	for line := range strings.Lines(block) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for i, name := range strings.Split(names, "`") {
			if i%2 == 1 {
				want[name] = true
			}
		}
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); d != "" {
		t.Errorf("documented (-) and written (+):\n%s", d)
	}
}

// collect gathers the paths of values that are no objects of several places: a share, a reliability and the like are
// documented once.
func collect(path string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if kind := kindOf(v); kind != "" && path != "" {
			into[strings.TrimPrefix(path, ".")] = true
			path = kind
		}
		for name, value := range v {
			collect(path+"."+name, value, into)
		}
	case []any:
		into[strings.TrimPrefix(path, ".")+"[]"] = true
		for _, value := range v {
			collect(path+"[]", value, into)
		}
	case nil:
	default:
		into[strings.TrimPrefix(path, ".")] = true
	}
}

// kindOf names the objects that stand in several places.
func kindOf(v map[string]any) string {
	for field, kind := range map[string]string{
		"of": "SHARE", "aurc": "RANKING", "ece": "RELIABILITY", "clusters": "COMPARISON", "error_bound": "CERTIFICATE", "sign_test": "DIFFERENCE",
	} {
		if _, ok := v[field]; ok && kind != "" {
			return kind
		}
	}
	if _, ok := v["high"]; ok && len(v) == 2 {
		return "INTERVAL"
	}
	return ""
}
