package main

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// SPEC.md stays short enough to be read as a whole.
func TestSpecIsShort(t *testing.T) {
	t.Parallel()
	const most = 12_000
	if words := len(strings.Fields(source(t, "abi", "SPEC.md"))); words > most {
		t.Errorf("SPEC.md has %d words, more than %d", words, most)
	}
}

// constant finds the string constants and numbers of a source file.
var (
	codeConstant  = regexp.MustCompile(`\tCode\w+ +Code = "(\w+)"`)
	limitConstant = regexp.MustCompile(`(?m)^\t((?:Default|Max)\w+) +=`)
	faultConstant = regexp.MustCompile(`\t(?:Fault|Cause)\w+ +(?:FaultCode|Cause) += "(\w+)"`)
	systemCall    = regexp.MustCompile(`\t\t"(\w+)": +\{"`)
)

func source(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", ".."}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSpecNames shows that everything that a program may meet is explained.
func TestSpecNames(t *testing.T) {
	t.Parallel()
	text := source(t, "abi", "SPEC.md")
	for _, c := range []struct {
		of      string
		pattern *regexp.Regexp
		file    []string
		least   int
	}{
		{"code", codeConstant, []string{"abi", "problem.go"}, 30},
		{"limit", limitConstant, []string{"abi", "limits.go"}, 9},
		{"fault or cause", faultConstant, []string{"host", "internal", "sandbox", "errors.go"}, 20},
		{"system function", systemCall, []string{"host", "internal", "sandbox", "wasi.go"}, 30},
	} {
		found := c.pattern.FindAllStringSubmatch(source(t, c.file...), -1)
		if len(found) < c.least {
			t.Errorf("only %d of %s were found in the source", len(found), c.of)
		}
		for _, f := range found {
			if !strings.Contains(text, "`"+f[1]+"`") {
				t.Errorf("SPEC.md does not name the %s %s", c.of, f[1])
			}
		}
	}
	for _, name := range []string{abi.ManifestSection, abi.ExportMemory, abi.ExportAlloc, abi.ExportNode, abi.ExportContest, abi.ExportEdges, abi.ExportJudge, abi.ExportInitialize, abi.CapabilityModule} {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("SPEC.md does not name %s", name)
		}
	}
}

func TestExamplesAreWhatTheHostReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, example string }{
		{"evidence", evidenceExample()},
		{"node_response", nodeExample()},
	} {
		message := bytesOf(t, c.example)
		kind, ok := codec.Lookup(c.name)
		if !ok {
			t.Fatalf("no type %s", c.name)
		}
		again, err := kind.Canonical(message, 0)
		if err != nil || string(again) != string(message) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	request, response, _ := strings.Cut(edgesExample(), "The response")
	r, err := codec.DecodeEdgeRequest(bytesOf(t, request), 0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := codec.DecodeEdgeResponse(bytesOf(t, response), 0)
	if err != nil {
		t.Fatal(err)
	}
	var c abi.Collector
	abi.CheckEdgeAnswers(a.Answers, r.Questions, &c)
	if err := c.Err(); err != nil {
		t.Error(err)
	}
	for _, manifest := range []mt.Node{manifestNode(), personaManifest()} {
		if _, err := codec.DecodeManifest(manifest.Bytes(), 0); err != nil {
			t.Error(err)
		}
	}
}

// bytesOf reads the bytes of an annotated example back.
func bytesOf(t *testing.T, example string) []byte {
	t.Helper()
	_, example, _ = strings.Cut(example, "```text\n")
	example, _, _ = strings.Cut(example, "```")
	var digits strings.Builder
	for text := range strings.Lines(example) {
		text, _, _ = strings.Cut(text, ";")
		digits.WriteString(strings.Join(strings.Fields(text), ""))
	}
	out, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return out
}
