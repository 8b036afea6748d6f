package experiment

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	Installs []string          `yaml:"installs"`
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

// ParseDefinition reads a definition. Its error has all faults, each with the file, the line and the field.
func ParseDefinition(file string, data []byte) (*Definition, error) {
	r := &strictyaml.Reader{File: file}
	d := &Definition{text: string(data)}
	if root := r.Document(data, maxDefinitionBytes); root != nil {
		r.Struct(root, "", d, nil)
		d.setDefaults()
		(&checker{r, d}).all()
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

const reportPlaceholder = "{report}"

func (d *Definition) setDefaults() {
	if len(d.Reports) == 0 {
		d.Reports = []string{reportPlaceholder}
	}
	for i := range d.Tests {
		s := &d.Tests[i]
		if len(s.Names) == 0 {
			s.Names = []string{"{class} {name}"}
		}
		s.Report = cmp.Or(s.Report, "{class} {name}")
	}
}

// checker collects what is wrong with a definition.
type checker struct {
	*strictyaml.Reader
	definition *Definition
}

func (c *checker) add(field, format string, args ...any) {
	c.FailAt(field, strictyaml.CodeOutOfRange, format, args...)
}

// runnerName is what a runner may be called.
var runnerName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// variableName is what a variable of the environment may be called.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *checker) all() {
	d := c.definition
	switch {
	case d.Name == goRunner:
		c.add("name", "%q is built in", goRunner)
	case !runnerName.MatchString(d.Name):
		c.add("name", "%q: use small letters, digits, - and _", d.Name)
	}
	c.some("markers", len(d.Markers))
	for i, m := range d.Markers {
		if m.File == "" || strings.ContainsAny(m.File, `/\`) {
			c.add(fmt.Sprintf("markers[%d].file", i), "%q: use the name of a file, without folders", m.File)
		}
	}
	c.some("programs", len(d.Programs))
	for i, p := range d.Programs {
		if p == "" || strings.HasPrefix(p, "-") || strings.Contains(p, "/") && !filepath.IsLocal(p) {
			c.add(fmt.Sprintf("programs[%d]", i), "%q: use the name of a program, or its path within the project", p)
		}
	}
	c.surroundings()
	c.build("build", d.Build, placeholders[slices.Index(placeholders, "scratch"):])
	c.some("tests", len(d.Tests))
	for i := range d.Tests {
		c.selection(fmt.Sprintf("tests[%d]", i), &d.Tests[i])
	}
	for i, r := range d.Reports {
		if r != reportPlaceholder && (!filepath.IsLocal(r) || strings.ContainsAny(r, "{}")) {
			c.add(fmt.Sprintf("reports[%d]", i), "%q: use %s, or a pattern of paths within the project", r, reportPlaceholder)
		}
	}
	if d.Seconds.Start < 0 || d.Seconds.Build < 0 || d.Seconds.Start > 3600 || d.Seconds.Build > 3600 {
		c.add("seconds", "use numbers from 0 to 3600")
	}
}

func (c *checker) build(field string, commands [][]string, known []string) {
	for i, command := range commands {
		at := fmt.Sprintf("%s[%d]", field, i)
		c.some(at, len(command))
		c.templates(at, command, known)
	}
}

// surroundings checks variables, folders and files.
func (c *checker) surroundings() {
	d := c.definition
	for name := range d.Env {
		c.variable(strictyaml.KeyPath("env", name), name)
	}
	for i, name := range d.Allow {
		c.variable(strictyaml.IndexPath("allow", i), name)
	}
	for i, f := range d.Folders {
		field := fmt.Sprintf("folders[%d]", i)
		c.variable(field+".variable", f.Variable)
		if f.Default != "" && !filepath.IsAbs(f.Default) && !strings.HasPrefix(f.Default, "~/") {
			c.add(field+".default", "%q: use an absolute path, or one that begins with ~/", f.Default)
		}
		for _, name := range f.Show {
			if !filepath.IsLocal(name) || name == "." {
				c.add(field+".show", "%q: use a path within the folder", name)
			}
		}
	}
	c.namePatterns("keep", d.Keep)
	c.namePatterns("installs", d.Installs)
	if d.Trace != "" && !slices.Contains(tracers, d.Trace) {
		c.add("trace", "%q: there are %s", d.Trace, strings.Trim(fmt.Sprint(tracers), "[]"))
	}
	for name := range d.Files {
		if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			c.add(strictyaml.KeyPath("files", name), "%q: use the name of a file, without folders", name)
		}
	}
}

func (c *checker) namePatterns(field string, patterns []string) {
	for i, k := range patterns {
		if _, err := filepath.Match(k, ""); err != nil || k == "" || k == "." || k == ".." || k == ".git" || strings.ContainsAny(k, `/\`) {
			c.add(fmt.Sprintf("%s[%d]", field, i), "%q: use a name or a pattern of names, without folders", k)
		}
	}
}

func (c *checker) variable(field, name string) {
	if !variableName.MatchString(name) {
		c.add(field, "%q is no name of a variable", name)
	}
}

func (c *checker) some(field string, n int) {
	if n == 0 {
		c.FailAt(field, strictyaml.CodeMissing, "is missing")
	}
}

func (c *checker) selection(field string, s *selection) {
	known := slices.Concat(placeholders, s.groups())
	c.some(field+".alone", len(s.Alone))
	c.some(field+".order", len(s.Order))
	c.build(field+".build", s.Build, slices.DeleteFunc(slices.Clone(known), func(p string) bool { return p == "report" }))
	c.templates(field+".alone", s.Alone, known)
	c.templates(field+".order", s.Order, known)
	c.templates(field+".rows", s.Rows, slices.Concat(known, []string{"function", "rows"}))
	c.templates(field+".names", s.Names, placeholders)
	c.templates(field+".report", []string{s.Report}, placeholders)
	if s.File == nil {
		return
	}
	c.some(field+".file.from", len(s.File.From)+len(s.File.Frames))
	c.templates(field+".file.from", s.File.From, known)
}

// templates checks the placeholders of texts. known are those that there are, beside the variables of folders.
func (c *checker) templates(field string, texts []string, known []string) {
	for _, f := range c.definition.Folders {
		known = append(slices.Clip(known), f.Variable)
	}
	for i, text := range texts {
		at := fmt.Sprintf("%s[%d]", field, i)
		if strings.ContainsRune(text, 0) {
			c.add(at, "%q has a zero byte", text)
		}
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[1]) {
				c.add(at, "unknown placeholder {%s} in %q: there are %s", m[1], text, strings.Join(known, ", "))
			}
		}
		for _, m := range otherForm.FindAllStringSubmatch(text, -1) {
			if m[2] != "regexp" && m[2] != "titles" {
				c.add(at, "unknown form {%s|%s} in %q: there are {%s|regexp} and {%s|titles}", m[1], m[2], text, m[1], m[1])
			}
		}
	}
}

// otherForm is a placeholder with a form, which may be unknown.
var otherForm = regexp.MustCompile(`\{(\w+)\|(\w*)\}`)
