// Command genspec writes the generated texts of the contract: the examples in
// bytes that stand between <!-- begin NAME --> and <!-- end NAME --> in
// SPEC.md, and TYPES.md, the tables of types, enumerations and limits.
package main

//go:generate go run . -dir ../..

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func main() {
	dir := flag.String("dir", ".", "the folder of SPEC.md and TYPES.md")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "genspec:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	m, err := model.Load("")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "SPEC.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fresh, err := refresh(string(text), parts())
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(fresh), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "TYPES.md"), []byte(tablesPage(m)), 0o644)
}

// part is a generated part of SPEC.md.
type part struct{ name, content string }

func parts() []part {
	return []part{
		{"manifest", manifestExample()},
		{"evidence", evidenceExample()},
		{"edges", edgesExample()},
		{"node", nodeExample()},
		{"module", moduleExample()},
	}
}

// refresh returns the text with every part in its place; each must be there.
func refresh(text string, parts []part) (string, error) {
	var missing []error
	for _, p := range parts {
		begin, end := "<!-- begin "+p.name+" -->\n", "<!-- end "+p.name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			missing = append(missing, fmt.Errorf("part %q has no place", p.name))
			continue
		}
		text = before + begin + p.content + end + after
	}
	return text, errors.Join(missing...)
}
