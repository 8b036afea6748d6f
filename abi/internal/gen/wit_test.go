package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

var (
	witIdentifier = regexp.MustCompile(`^%?[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$`)
	witDeclared   = regexp.MustCompile(`(?m)^  (?:enum|record) (\S+) \{`)
	witMember     = regexp.MustCompile(`(?m)^    (%?[^ /:,]+)(?:: ([^ /]+(?: [^ /]+)*),|,)`)
	witExport     = regexp.MustCompile(`(?m)^  (import|export) (\S+): func\(`)
)

// shadowcourt.wit has each type that a module can meet, once, with each field, and the world of a module. TestGeneratedFilesAreFresh
// shows that the committed file is that of today's types.
func TestAccept_DI6_TheWITHasEveryTypeOfAModule(t *testing.T) {
	t.Parallel()
	m, err := model.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := gather(m)
	if err != nil {
		t.Fatal(err)
	}
	text := source(t, "abi", "shadowcourt.wit")
	var want, got, members []string
	for _, e := range p.Enums {
		want = append(want, witName(model.WireName(e.GoName)))
		for _, v := range e.Values {
			members = append(members, witName(v.Value))
		}
	}
	for _, s := range p.Structs {
		want = append(want, witName(s.WireName))
		for _, f := range s.Fields {
			members = append(members, witName(f.WireName))
		}
	}
	for _, found := range witDeclared.FindAllStringSubmatch(text, -1) {
		got = append(got, found[1])
	}
	if !slices.Equal(got, want) || len(want) < 60 {
		t.Errorf("declared are %v, want %v", got, want)
	}
	var there []string
	for _, found := range witMember.FindAllStringSubmatch(text, -1) {
		there = append(there, found[1])
	}
	if !slices.Equal(there, members) {
		t.Errorf("%d fields and values, want %d", len(there), len(members))
	}
	for _, name := range slices.Concat(want, members) {
		if !witIdentifier.MatchString(name) {
			t.Errorf("%q is no identifier of WIT", name)
		}
	}
	var functions []string
	for _, found := range witExport.FindAllStringSubmatch(text, -1) {
		functions = append(functions, found[1]+" "+found[2])
	}
	if calls := []string{"import recall", "import correlate", "import source", "import log", "export node", "export contest", "export edges", "export judge"}; !slices.Equal(functions, calls) {
		t.Errorf("functions %v, want %v", functions, calls)
	}
	for _, says := range []string{"package shadowcourt:abi@" + abi.Version + ".0;", "a module is a core module, not a component", "MessagePack"} {
		if !strings.Contains(text, says) {
			t.Errorf("the file does not say %q", says)
		}
	}
}
