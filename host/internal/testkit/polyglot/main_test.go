//go:build sdk

package polyglot

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// notes of what was run and what was missing, for the end.
var notes struct {
	sync.Mutex
	ran     map[string]map[string]bool
	missing map[string]string
}

func note(language string, there bool, what string) {
	notes.Lock()
	defer notes.Unlock()
	if !there {
		notes.missing[language] = what
		return
	}
	if notes.ran[language] == nil {
		notes.ran[language] = map[string]bool{}
	}
	notes.ran[language][what] = true
}

func TestMain(m *testing.M) {
	notes.ran, notes.missing = map[string]map[string]bool{}, map[string]string{}
	code := m.Run()
	for _, l := range append(languages(), inD(), inGo()) {
		if ran := slices.Sorted(maps.Keys(notes.ran[l.name])); len(ran) > 0 {
			fmt.Fprintf(os.Stdout, "%-11s %d tests: %s\n", l.name, len(ran), strings.Join(ran, " "))
		} else if why := notes.missing[l.name]; why != "" {
			fmt.Fprintf(os.Stdout, "%-11s NOT TESTED: %s\n", l.name, why)
		}
	}
	os.Exit(code)
}
