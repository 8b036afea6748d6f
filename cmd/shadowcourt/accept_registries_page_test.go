package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// TestAccept_DI5_PageOfRegistries runs the commands of docs/registries.md in their order against a registry, those from "On another machine" on
// in another folder with its own cache of pulled modules and configuration. Compiled modules are the user's, who has most of them.
func TestAccept_DI5_PageOfRegistries(t *testing.T) {
	t.Parallel()
	tier.Long(t, "docs/registries.md", "internal/oci", "internal/trust")
	registry := testkit.Start(t, true)
	text := strings.ReplaceAll(page(t, "docs/registries.md"), "registry.example", registry.Host)
	author, other := t.TempDir(), t.TempDir()
	user, err := os.UserCacheDir()
	for _, dir := range []string{author, other} {
		if err = errors.Join(err, os.Mkdir(filepath.Join(dir, "cache"), 0o700)); err == nil {
			err = os.Symlink(filepath.Join(user, "shadowcourt", "modules"), filepath.Join(dir, "cache", "modules"))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
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
			t.Errorf("push --reproducible does not print the line of the page:\n%s\n%s", line, said)
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
	for _, want := range []string{"kit           passed, says publisher", "oci-layout:usb:my-judge-0.1.0@sha256:", "/mirror/my-judge:0.1.0@sha256:"} {
		if !strings.Contains(said, want) {
			t.Errorf("without %q:\n%s", want, said)
		}
	}
}

// TestAccept_DI4_WhatRegistriesSayIsSafeToPrint has a registry say control characters, other directions of text and a very long version.
func TestAccept_DI4_WhatRegistriesSayIsSafeToPrint(t *testing.T) {
	t.Parallel()
	registry, dir := testkit.Start(t, true), t.TempDir()
	client, err := oci.New(oci.Config{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := moduleref.Parse("oci://" + registry.Host + "/evil/judge:1")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("9", 5000)
	_, err = client.Push(t.Context(), ref, []byte("no module"), map[string]string{
		"org.opencontainers.image.title": "a\x1b]0;owned\a\u202ejudge", "org.opencontainers.image.version": long, "org.opencontainers.image.source": "x\ny\rz",
		"dev.shadowcourt.module.abi": "1.0", "dev.shadowcourt.module.calls": "node \x1b[2J", "dev.shadowcourt.module.families": "verdict",
	}, oci.Attachment{Type: trust.TypeSignature, Data: []byte("\x1b[31m{")})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"inspect " + ref.String(), "inspect --format json " + ref.String(), "verify " + ref.String() + " || test $? = 3", "pull " + ref.String() + " || test $? = 2", "pull --unverified " + ref.String() + " || test $? = 2",
	} {
		said := shell(t, dir, "export XDG_CONFIG_HOME="+dir+" SHADOWCOURT_CACHE="+dir+"/cache/modules; shadowcourt plugin "+line+" 2>&1")
		if strings.ContainsAny(said, "\x1b\a\r\u202e") {
			t.Errorf("%s: %q", line, said)
		}
		if !strings.Contains(line, "json") && strings.Contains(said, long) {
			t.Errorf("%s prints all of a long text", line)
		}
	}
}
