package plugin

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
)

// What registries say is no command to a CI platform that reads the log.
func TestAccept_DI4_NoLogCommands(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"::error file=a::x", "##[error]x", "a ##[error]x"} {
		m := &manifestJSON{Name: name, Version: name, Source: name, Capabilities: []string{name}}
		module := &inspected{Reference: "oci://a/b", Manifest: m, Problem: name}
		other := *m
		other.Name, other.Source = "b", "c"
		var b strings.Builder
		s := cli.Streams{Out: &b, Err: &b}
		d := difference{Old: side{Module: name, Manifest: m}, New: side{Module: name, Manifest: &other}}
		d.compare()
		for _, err := range []error{
			printText(s, hitTable([]hit{{Reference: "oci://a/b", Module: module}, {Reference: name, Error: name}})), module.print(s), printText(s, d.String()),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if strings.Count(b.String(), "error") < 3 || strings.Contains(b.String(), "##[") {
			t.Error(b.String())
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Errorf("a command: %q", line)
			}
		}
	}
}
