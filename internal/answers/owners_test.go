package answers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const github = `# who looks after what
*             @org/all
*.md          docs@example.com
/cart/        @ann @org/shop
/cart/gen/
/with\ space/ @bob
src/[ab].go   @nobody
/cart/x.go    not-an-owner
`

func TestOwnersOfPaths(t *testing.T) {
	t.Parallel()
	f := must.Get(parseOwners("CODEOWNERS", strings.NewReader(github)))(t)
	for path, want := range map[string][]string{
		"main.go":         {"@org/all"},
		"docs/a.md":       {"docs@example.com"},
		"cart/cart.go":    {"@ann", "@org/shop"},
		"cart/gen/a.go":   nil, // a rule without owners takes them away
		"cart/x.go":       {"@ann", "@org/shop"},
		"with space/a.go": {"@bob"},
		"src/a.go":        {"@org/all"},
		"":                nil,
	} {
		if got := f.Of(path); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", path, got, want)
		}
	}
	if len(f.Faults) != 2 || !strings.HasPrefix(f.Faults[0].Error(), "CODEOWNERS:7: ") || !strings.HasPrefix(f.Faults[1].Error(), "CODEOWNERS:8: ") {
		t.Errorf("faults: %v", f.Faults)
	}
}

func TestSectionsOfGitLab(t *testing.T) {
	t.Parallel()
	f, err := parseOwners("CODEOWNERS", strings.NewReader(`
* @all
[Shop][2] @group/sub/shop
/cart/
/cart/a.go @ann
^[Docs]
*.md @@developer
[SHOP] @later
/pay/
`))
	if err != nil || len(f.Faults) > 0 {
		t.Fatal(err, f.Faults)
	}
	for path, want := range map[string][]string{
		"cart/b.go":    {"@all", "@later"}, // the heading that came last has the defaults
		"cart/a.go":    {"@all", "@ann"},
		"cart/read.md": {"@all", "@later", "@@developer"},
		"pay/a.go":     {"@all", "@later"},
	} {
		if got := f.Of(path); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", path, got, want)
		}
	}
}

func TestTheFirstPlaceCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if f, err := FindOwners(dir); f != nil || err != nil || f.Of("a") != nil {
		t.Errorf("%v, %v", f, err)
	}
	for _, name := range []string{".gitlab/CODEOWNERS", "docs/CODEOWNERS", "CODEOWNERS", ".github/CODEOWNERS"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		owner := "@" + strings.NewReplacer("/", "-", ".", "").Replace(name)
		must.Do(t, os.WriteFile(path, []byte("* "+owner+"\n"), 0o644))
		f, err := FindOwners(dir)
		if err != nil || f.Name != name || !slices.Equal(f.Of("a"), []string{owner}) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(outside, []byte("* @secret\n"), 0o600))
	if err := os.Symlink(outside, filepath.Join(dir, "CODEOWNERS")); err != nil {
		t.Skip(err)
	}
	if f, err := FindOwners(dir); err == nil {
		t.Errorf("a link out of the repository was followed: %v", f.Of("a"))
	}
	if _, err := parseOwners("x", strings.NewReader(strings.Repeat("a", 4<<20))); err == nil {
		t.Error("a file of 4 MiB was read")
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, "[s%d]\n* @u%d\n!%d\n", i, i, i)
	}
	f, err := parseOwners("x", strings.NewReader(many.String()+strings.Repeat("a", 1<<16)))
	if err != nil || len(f.Of("a")) != 100 || len(f.Faults) != 21 {
		t.Errorf("%v: %d owners, %d faults", err, len(f.Of("a")), len(f.Faults))
	}
}

func FuzzParseOwners(f *testing.F) {
	f.Add([]byte(github), "cart/a.go")
	f.Add([]byte("[A][1] @x\n**/*?\\"), "a/b")
	f.Add([]byte("/ @x\n//"), "a")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		file, err := parseOwners("CODEOWNERS", strings.NewReader(string(text)))
		if err != nil {
			return
		}
		for _, owner := range file.Of(path) {
			if owner == "" || strings.ContainsAny(owner, " \n") {
				t.Errorf("owner %q", owner)
			}
		}
	})
}
