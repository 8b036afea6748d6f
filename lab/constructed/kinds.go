package main

import (
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed kinds
var files embed.FS

// kind is a kind of failures, in one language or several.
type kind struct {
	name, truth string
	variants    []variant
}

// The truth of a kind: the change did it, it did not, neither tree did, or the base can't run and nobody knows.
const (
	caused      = "caused"
	old         = "old"
	environment = "environment"
	cannot      = "cannot"
)

// variant is a kind in one language: the files of both trees as templates, and how the command runs there.
//
// Fields are code (of the product; std is one that the change breaks), test (its body; none for no test), also (what stands beside the test), run (the
// command), with (shell before it), flags (of alibi), row (what the kind is about), begin and change (shell before the commits of base and head), setup
// (shell in the checkout at the end), chance (the first run may pass), lone (no old failure
// stands beside), and commit (the change has to be committed).
type variant struct {
	runner string
	fields map[string]string
	texts  map[string]string // of files by path
}

// script says whether the runner needs node_modules.
func (v *variant) script() bool { return v.runner == "vitest" || v.runner == "jest" }

// readKinds reads kinds/, a file for each runner. "== NAME TRUTH" begins a kind, "KEY: VALUE" are its fields (the first ones may stand behind " | "),
// and "--- PATH" begins a file, whose text may follow in the same line behind " = ". ";;" ends a line there and in fields. What stands before the
// first kind holds for all.
func readKinds() ([]kind, error) {
	entries, err := files.ReadDir("kinds")
	var list []kind
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("kinds", e.Name()))
		if err != nil {
			return nil, err
		}
		parts := strings.Split("\n"+string(text), "\n== ")
		for _, part := range parts[1:] {
			head, rest, _ := strings.Cut(part, "\n")
			head, some, _ := strings.Cut(head, " | ")
			name, truth, _ := strings.Cut(head, " ")
			at := slices.IndexFunc(list, func(k kind) bool { return k.name == name })
			if at < 0 {
				at, list = len(list), append(list, kind{name: name, truth: truth})
			}
			if list[at].truth != truth || !slices.Contains([]string{caused, old, environment, cannot}, truth) {
				return nil, fmt.Errorf("%s: %s has two truths or an unknown one", e.Name(), name)
			}
			v := variant{strings.TrimSuffix(e.Name(), ".txt"), map[string]string{}, map[string]string{}}
			v.read(parts[0])
			v.read(strings.ReplaceAll(some, " | ", "\n") + "\n" + rest)
			list[at].variants = append(list[at].variants, v)
		}
	}
	return list, err
}

func (v *variant) read(text string) {
	parts := strings.Split("\n"+text, "\n--- ")
	fields := map[string]string{}
	for _, line := range strings.Split(parts[0], "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok {
			fields[key] += strings.ReplaceAll(value, ";;", "\n") + "\n"
		}
	}
	for key, value := range fields {
		v.fields[key] = strings.TrimSuffix(value, "\n")
	}
	for _, p := range parts[1:] {
		name, body, _ := strings.Cut(p, "\n")
		if before, one, ok := strings.Cut(name, " = "); ok {
			name, body = before, strings.ReplaceAll(one, ";;", "\n")
		}
		v.texts[name] = strings.TrimRight(body, "\n") + "\n"
	}
}

// draw is what the seed chose for a case.
type draw struct {
	*variant
	values map[string]any
	red    bool   // an old failing test stands beside
	pad    int    // lines by which head moves others
	form   string // how the change lies in the repository
}

// The forms of a change.
const (
	committed   = "committed"
	uncommitted = "uncommitted"
	twoCommits  = "two commits"
)

func (k *kind) draw(seed uint64, i int) *draw {
	v := &k.variants[(int(seed%1024)+i)%len(k.variants)] //nolint:gosec // below 1024
	h := fnv.New64a()
	_, _ = h.Write([]byte(k.name))                        // never fails
	r := rand.New(rand.NewPCG(seed, h.Sum64()+uint64(i))) //nolint:gosec // chance that can be repeated
	verbs := []string{"Total", "Price", "Discount", "Quota", "Balance", "Weight", "Score", "Margin", "Ratio", "Depth"}
	r.Shuffle(len(verbs), func(a, b int) { verbs[a], verbs[b] = verbs[b], verbs[a] })
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	folder := one("shop", "internal/price", "pkg/cart", "billing", "core/ledger")
	d := &draw{variant: v, red: r.IntN(2) == 0, pad: max(0, r.IntN(8)-3), form: one(committed, committed, uncommitted, twoCommits)}
	d.values = map[string]any{
		"D": folder, "p": path.Base(folder), "V": one("RATE", "STAGE_LIMIT", "APP_LEVEL", "BILLING_FACTOR"), "Red": d.red, "S": r.IntN(2) == 0, // S: a short message
		"N": 2 + r.IntN(7), "K": 10 + r.IntN(30), "L": 50 + r.IntN(900), "P": 20000 + r.IntN(9000),
	}
	for n, name := range []string{"F", "G", "H"} {
		d.values[name], d.values[strings.ToLower(name)] = verbs[n], strings.ToLower(verbs[n])
	}
	if v.fields["commit"] != "" {
		d.form = committed
	}
	if v.fields["chance"]+v.fields["lone"] != "" {
		d.red, d.values["Red"] = false, false
	}
	return d
}

// render fills in a template for the base or head.
func (d *draw) render(text string, head bool) (string, error) {
	t, err := template.New("").Delims("«", "»").Funcs(template.FuncMap{
		"to": func(base, changed any) any {
			if head {
				return changed
			}
			return base
		},
		"add":    func(a, b int) int { return a + b },
		"indent": func(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") },
		"red": func() string {
			if d.red {
				return d.fields["red"]
			}
			return ""
		},
		"pad": func() string {
			if head {
				return strings.Repeat(d.fields["comment"]+" A note of the change.\n", d.pad)
			}
			return ""
		},
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, d.values)
	return out.String(), err
}

var (
	packages = []string{"encoding/json", "errors", "fmt", "io", "math/rand", "net", "os", "os/exec", "path/filepath", "runtime", "strconv", "strings", "testing",
		"time", "example.com/rates", "example.com/store/internal/units"}
	used = regexp.MustCompile(`\b[a-z]+\.[A-Z]`)
)

// imports puts the imports of a file of Go in their place.
func imports(text string) string {
	names := used.FindAllString(text, -1)
	lines := ""
	for _, p := range packages {
		if slices.ContainsFunc(names, func(n string) bool { return n[:len(n)-2] == path.Base(p) }) {
			lines += fmt.Sprintf("import %q\n", p)
		}
	}
	return strings.Replace(text, "IMPORTS", lines, 1)
}

// write writes the files of one tree; a file without text is not there. The stamp keeps answers of earlier runs out of the cache.
func (d *draw) write(folder, stamp string, head bool) error {
	defer maps.Copy(d.values, map[string]any{"code": nil, "test": nil, "also": nil})
	for _, name := range []string{"code", "test", "also"} {
		text := d.fields[name]
		if text == "std" {
			text = d.fields["std"]
		}
		var err error
		if d.values[name], err = d.render(text, head); err != nil {
			return err
		}
	}
	d.texts["BUILD"], d.texts["README.md"] = stamp+"\n", "# Store\n«to `` `See the change log.`»\n"
	for _, p := range slices.Sorted(maps.Keys(d.texts)) {
		text, err := d.render(d.texts[p], head)
		name, pathErr := d.render(p, head)
		if err := errors.Join(err, pathErr); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if before, _ := d.render(p, false); before != name {
			_ = os.Remove(filepath.Join(folder, before)) // renamed
		}
		name = filepath.Join(folder, filepath.FromSlash(name))
		if strings.TrimSpace(text) == "" {
			_ = os.Remove(name) // not there if the base has no text either
		} else if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(imports(text)), 0o644)); err != nil { //nolint:gosec // sources
			return err
		}
	}
	return nil
}
