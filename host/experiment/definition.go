package experiment

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

//go:embed definitions/*.yaml
var shipped embed.FS

// maxDefinitionBytes is the most of a definition's file.
const maxDefinitionBytes = 1 << 18

// goRunner is the name of the runner that needs no definition.
const goRunner = "go"

// Definition says how the tests of one kind of project are run. definitions/README.md describes the fields.
type Definition struct {
	Name     string
	Markers  []marker
	Programs []string
	Install  string
	Version  []string
	Env      map[string]string
	Allow    []string
	Folders  []folder
	Keep     []string
	Files    map[string]string
	Build    [][]string
	Tests    []selection
	Reports  []string
	Outcomes messages
	Seconds  seconds

	text string // as it was read
}

// marker is a file by which a project is recognized.
type marker struct {
	File     string
	Contains string
}

// folder is one outside of the source, such as a cache, that a variable names.
type folder struct {
	Variable string
	Default  string // may begin with ~/; empty for a folder that only the variable names
	// Show are the only names in it that tests see, where it also has what they must not read, such as passwords. Empty: all.
	Show []string
}

// selection is one way in which tests are named and run. The first that fits a test counts.
type selection struct {
	Class  pattern
	Name   pattern
	File   *fileRule
	Names  []string
	Report string
	// Build is in place of that of the definition.
	Build [][]string
	Alone []string
	Order []string
	// Rows run all rows of a parametrized test; empty where Alone does so.
	Rows []string
}

// fileRule says how the file of a test is found in the tree.
type fileRule struct {
	From       []string
	Frames     []pattern
	Separator  string
	Extensions []string
	Join       string
	Anywhere   bool
}

// messages tell what a run without a report of the test means, by lines that it wrote.
type messages struct {
	NotBuilt []pattern
	NoTest   []pattern
	Unable   []pattern
}

// seconds are expected beside those of the test.
type seconds struct {
	Start float64
	Build float64
}

// pattern is a regular expression. ^ and $ match at lines.
type pattern struct{ *regexp.Regexp }

// RunnerNames are the names of the shipped runners, Go first.
func RunnerNames() []string {
	names := []string{goRunner}
	entries, err := shipped.ReadDir("definitions")
	if err != nil {
		panic(err) // they are embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// shippedRunners are all shipped definitions, Go's first.
func shippedRunners() []*Definition {
	var all []*Definition
	for _, name := range RunnerNames() {
		d, err := LoadDefinition(name)
		if err != nil {
			panic(err) // a test reads them
		}
		all = append(all, d)
	}
	return all
}

// LoadDefinition reads a shipped definition by its name, or a file.
func LoadDefinition(name string) (*Definition, error) {
	if name == goRunner {
		return &Definition{Name: goRunner}, nil
	}
	if !strings.ContainsAny(name, `./\`) {
		file := "definitions/" + name + ".yaml"
		if data, err := shipped.ReadFile(file); err == nil {
			return ParseDefinition(file, data)
		}
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\`) {
		return nil, fmt.Errorf("%q is neither a file nor a shipped runner (%s)", name, strings.Join(RunnerNames(), ", "))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDefinitionBytes+1))
	if err != nil {
		return nil, err
	}
	return ParseDefinition(name, data)
}
