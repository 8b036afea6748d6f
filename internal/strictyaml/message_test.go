package strictyaml_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func profile(text string) (p abi.Profile, err error) {
	err = strictyaml.Message("p.yaml", []byte(text), func(message []byte) error {
		p, err = codec.DecodeProfile(message, 0)
		return err
	})
	return p, err
}

func TestDecode(t *testing.T) {
	t.Parallel()
	p, err := profile(`
name: small
base_rates:
  - {label: a, weight: 1}
  - {label: b, weight: 0.25}
sources: []
signals:
  - {phrase: "no space left", weights: [{label: a, weight: -1.5}]}
signal_cap: 3
`)
	must.Do(t, err)
	if p.Name != "small" || p.BaseRates[1].Weight != 0.25 || p.Signals[0].Weights[0].Weight != -1.5 || p.Light != nil {
		t.Errorf("%+v", p)
	}
}

func TestDecodeNamesEveryFaultWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"faults of fields": {
			"name: 7\nbase_rates:\n  - {label: a, weight: high}\n  - {label: b, weight: 2}\nsources: []\nsignals: []\nsignal_cap: 30\nmore: 1\n",
			"1:7 name wrong_type; 3:24 base_rates[0].weight wrong_type; 7:13 signal_cap out_of_range; 8:7 more unknown_field",
		},
		"a missing field": {"name: x\nbase_rates: []\nsources: []\nsignals: []\n", "1:1 signal_cap missing_field"},
		"a key twice":     {"name: x\nname: y\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n", "2:7 name duplicate_key"},
		"a share, and a rule of another source": {
			"name: x\nbase_rates: []\nsources:\n  - {source: a, statements: [], share: 7, cap: 1}\n  - {source: b, statements: [{given: []}, {given: []}], share: 1, cap: 1}\nsignals: []\nsignal_cap: 1\n",
			"4:40 sources[0].share out_of_range; 5:43 sources[1].statements[1].says duplicate_label",
		},
		"of YAML and of a field": {
			"name: x\nbase_rates: []\nsources: []\nsignals: [{phrase: !!binary YQ==, weights: []}]\nsignal_cap: 30\n7: x\n",
			"4:20  wrong_type; 6:1  wrong_type; 5:13 signal_cap out_of_range",
		},
		"a rule": {
			"name: x\nbase_rates:\n  - {label: a, weight: 0}\nsources: []\nsignals: []\nsignal_cap: 1\n",
			"3:24 base_rates[0].weight probability",
		},
		"an alias":                          {"name: &n x\nbase_rates: *n\nsources: []\nsignals: []\nsignal_cap: 1\n", "2:13  alias"},
		"not a number":                      {"name: x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: .nan\n", "5:13  not_finite"},
		"too large":                         {"name: x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 99999999999999999999\n", "out_of_range"},
		"no YAML":                           {"name: [\n", "syntax"},
		"no YAML, its line":                 {"name: x\na: [\n", "2:1  syntax"},
		"a second document":                 {"name: x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n---\nname: y\n", "6:1  syntax"},
		"an empty second document":          {"name: x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n---\n", "syntax"},
		"a second document that is no YAML": {"name: x\n---\n[\n", "syntax"},
		"bytes":                             {"name: !!binary aGVsbG8=\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n", "1:7  wrong_type"},
		"a tag of one's own":                {"name: !thing x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n", "1:7  wrong_type"},
		"a key of bytes":                    {"!!binary bmFtZQ==: x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n", "1:1  wrong_type"},
		"a key that is a number":            {"name: x\n7: x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n", "2:1  wrong_type"},
		"empty":                             {"", "syntax"},
	} {
		_, err := profile(test.text)
		var faults strictyaml.Errors
		if !errors.As(err, &faults) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, p := range faults {
			got = append(got, strconv.Itoa(p.Line)+":"+strconv.Itoa(p.Column)+" "+p.Path+" "+string(p.Code))
		}
		if joined := strings.Join(got, "; "); !strings.Contains(joined, test.want) {
			t.Errorf("%s: %s\nwant %s", name, joined, test.want)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("name: x\nbase_rates: []\nsources: []\nsignals: []\nsignal_cap: 1\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := profile(text); err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
	})
}
