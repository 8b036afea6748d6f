package experiment

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

//go:embed definitions/*.yaml
var shipped embed.FS

// maxDefinitionBytes is the most of a definition's file.
const maxDefinitionBytes = 1 << 18

// goRunner is the name of the runner that needs no definition.
const goRunner = "go"

// Definition says how the tests of one kind of project are run. definitions/README.md describes the fields.
type Definition struct {
	Name     string            `yaml:"name"`
	Markers  []marker          `yaml:"markers"`
	Programs []string          `yaml:"programs"`
	Install  string            `yaml:"install"`
	Version  []string          `yaml:"version"`
	Env      map[string]string `yaml:"env"`
	Allow    []string          `yaml:"allow"`
	Folders  []folder          `yaml:"folders"`
	Keep     []string          `yaml:"keep"`
	Files    map[string]string `yaml:"files"`
	Build    [][]string        `yaml:"build"`
	Tests    []selection       `yaml:"tests"`
	Reports  []string          `yaml:"reports"`
	Outcomes messages          `yaml:"outcomes"`
	Trace    tracer            `yaml:"trace"`
	Seconds  seconds           `yaml:"seconds"`

	text string // as it was read
}

// marker is a file by which a project is recognized.
type marker struct {
	File     string `yaml:"file"`
	Contains string `yaml:"contains"`
}

// folder is one outside of the source, such as a cache, that a variable names.
type folder struct {
	Variable string `yaml:"variable"`
	Default  string `yaml:"default"` // may begin with ~/; empty for a folder that only the variable names
	// Show are the only names in it that tests see, where it also has what they must not read, such as passwords. Empty: all.
	Show []string `yaml:"show"`
}

// selection is one way in which tests are named and run. The first that fits a test counts.
type selection struct {
	Class  pattern   `yaml:"class"`
	Name   pattern   `yaml:"name"`
	File   *fileRule `yaml:"file"`
	Names  []string  `yaml:"names"`
	Report string    `yaml:"report"`
	// Build is in place of that of the definition.
	Build [][]string `yaml:"build"`
	Alone []string   `yaml:"alone"`
	Order []string   `yaml:"order"`
	// Rows run all rows of a parametrized test; empty where Alone does so.
	Rows []string `yaml:"rows"`
}

// fileRule says how the file of a test is found in the tree.
type fileRule struct {
	From       []string  `yaml:"from"`
	Frames     []pattern `yaml:"frames"`
	Separator  string    `yaml:"separator"`
	Extensions []string  `yaml:"extensions"`
	Join       string    `yaml:"join"`
	Anywhere   bool      `yaml:"anywhere"`
}

// messages tell what a run without a report of the test means, by lines that it wrote.
type messages struct {
	NotBuilt []pattern `yaml:"not_built"`
	NoTest   []pattern `yaml:"no_test"`
	Unable   []pattern `yaml:"unable"`
}

// seconds are expected beside those of the test.
type seconds struct {
	Start float64 `yaml:"start"`
	Build float64 `yaml:"build"`
}

// pattern is a regular expression. ^ and $ match at lines.
type pattern struct{ *regexp.Regexp }

// ReadYAML compiles the expression.
func (p *pattern) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	r.Into(&p.Regexp)(v, path)
}

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
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\`) {
		return nil, fmt.Errorf("%q is neither a file nor a shipped runner (%s)", name, strings.Join(RunnerNames(), ", "))
	}
	data, err := strictyaml.ReadFile(name, maxDefinitionBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return ParseDefinition(name, data)
}
