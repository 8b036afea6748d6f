//go:build linux || darwin

package testcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccept_AL6_TestsDoNotGetTheSecretsOfThisProgram, and get all else.
func TestAccept_AL6_TestsDoNotGetTheSecretsOfThisProgram(t *testing.T) {
	for _, name := range []string{"SHADOWCOURT_KEY", "SHADOWCOURT_TOKEN", "SHADOWCOURT_DATABASE", "SHADOWCOURT_OIDC_CLIENT_SECRET", "SHADOWCOURT_CACHE", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "SIGNING"} {
		t.Setenv(name, "hidden "+name)
	}
	t.Setenv("SHADOWCOURT_PROGRESS", "kept one")
	t.Setenv("KEY", "kept two")
	dir := scratch(t, map[string]string{"pytest": "#!/bin/sh\nenv > seen\necho '" + oneFailure + "' > own.xml; exit 1\n"})
	c := parsed(t, dir, "SHADOWCOURT_KEY=given", "./pytest", "--junitxml=own.xml")
	c.Without = []string{"SIGNING"}
	if got := runCommand(t, c); got.err != nil {
		t.Fatal(got.err)
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if text := string(seen); err != nil || strings.Contains(text, "hidden") || !strings.Contains(text, "SHADOWCOURT_PROGRESS=kept one\n") ||
		!strings.Contains(text, "\nKEY=kept two\n") && !strings.HasPrefix(text, "KEY=kept two\n") || !strings.Contains(text, "SHADOWCOURT_KEY=given\n") {
		t.Errorf("%v\n%s", err, text)
	}
}
