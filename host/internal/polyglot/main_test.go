//go:build sdk

package polyglot

import (
	"fmt"
	"os"
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
	for _, l := range languages() {
		if ran := len(notes.ran[l.name]); ran > 0 {
			fmt.Printf("%-11s %d tests ran\n", l.name, ran)
		} else if why := notes.missing[l.name]; why != "" {
			fmt.Printf("%-11s NOT TESTED: %s\n", l.name, why)
		}
	}
	os.Exit(code)
}
