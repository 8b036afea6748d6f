package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
)

// TestAccept_DI5_PageOfRegistries runs the commands of docs/registries.md in their order against a registry, those from "On another machine" on
// in another folder with its own caches and configuration.
func TestAccept_DI5_PageOfRegistries(t *testing.T) {
	t.Parallel()
	registry := testkit.Start(t, true)
	text := strings.ReplaceAll(page(t, "docs/registries.md"), "registry.example", registry.Host)
	author, other := t.TempDir(), t.TempDir()
	before, after, found := strings.Cut(text, "On another machine")
	if !found {
		t.Fatal("the page has no other machine")
	}
	commands := regexp.MustCompile(`(?m)^    ((?:shadowcourt|sed) .*)$`)
	run := func(dir, part string) string {
		var said strings.Builder
		for _, line := range commands.FindAllStringSubmatch(part, -1) {
			said.WriteString(shell(t, dir, "export XDG_CONFIG_HOME="+dir+" SHADOWCOURT_CACHE="+dir+"/cache/modules; "+line[1]+" 2>&1 && echo done"))
		}
		return said.String()
	}
	said := run(author, before)
	for _, want := range []string{"built twice in go", "checks passed", "module: oci://" + registry.Host + "/acme/my-judge:0.1.0@sha256:"} {
		if !strings.Contains(said, want) {
			t.Errorf("without %q:\n%s", want, said)
		}
	}
	for name, from := range map[string]string{
		"publisher.key.pub": "publisher.key.pub", "rubric.yaml": "my-judge/rubric.yaml", "opinion.json": "my-judge/opinion.json",
	} {
		copyFile(t, filepath.Join(author, from), filepath.Join(other, name))
	}
	root := repositoryRoot(t)
	copyFile(t, filepath.Join(root, "pipelines", "defect-court.yaml"), filepath.Join(other, "court.yaml"))
	copyFile(t, filepath.Join(root, "examples", "dockets", "tour.jsonl"), filepath.Join(other, "case.jsonl"))
	policy := regexp.MustCompile("(?s)```yaml\n(# trust.yaml\n.*?)```").FindStringSubmatch(text)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	for _, line := range strings.Split(strings.TrimSpace(policy[1]), "\n")[1:] {
		if !strings.Contains(said, "  "+line+"\n") {
			t.Errorf("publish does not print the line of the page:\n%s\n%s", line, said)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "trust.yaml"), []byte(policy[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	minute, rest, _ := strings.Cut(after, "## Publish a module")
	said = run(other, minute)
	for _, want := range []string{"accepted: signed by publisher, allowed by trust.yaml:3, as criterion", "evidence"} {
		if !strings.Contains(said, want) {
			t.Errorf("without %q:\n%s", want, said)
		}
	}
	said = run(other, rest)
	for _, want := range []string{"my-judge  0.1.0", "kit           passed, says publisher", "The same module.", "oci-layout:usb:0.1.0@sha256:", "/mirror/my-judge:0.1.0@sha256:"} {
		if !strings.Contains(said, want) {
			t.Errorf("without %q:\n%s", want, said)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
