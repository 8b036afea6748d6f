// Command genspec writes the generated parts of SPEC.md: the tables of types,
// enumerations and limits, and the examples in bytes. Each part stands
// between <!-- begin NAME --> and <!-- end NAME -->.
package main

//go:generate go run . -file ../../SPEC.md

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func main() {
	file := flag.String("file", "SPEC.md", "the file whose parts are written")
	flag.Parse()
	if err := run(*file); err != nil {
		fmt.Fprintln(os.Stderr, "genspec:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	m, err := model.Load("")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fresh, err := refresh(string(text), parts(m))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(fresh), 0o644)
}

// part is a generated part of the text.
type part struct{ name, content string }

func parts(m *model.Model) []part {
	return []part{
		{"limits", limitsTable()},
		{"encoding", encodingTable()},
		{"manifest", manifestExample()},
		{"evidence", evidenceExample()},
		{"edges", edgesExample()},
		{"node", nodeExample()},
		{"module", moduleExample()},
		{"types", typesText(m)},
		{"enums", enumsTable(m)},
	}
}

// refresh gives the text with every part in its place; each must be there.
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
