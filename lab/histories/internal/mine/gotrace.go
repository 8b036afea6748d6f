package mine

import (
	"context"
	"debug/buildinfo"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// trace builds one test and, for its lines, runs it with coverage of all packages of the module; nil where that does not build.
func (g *goSuite) trace(ctx context.Context, folder, unit string, test *history.Report, lines bool) (*traced, error) {
	dir := filepath.Join(folder, filepath.FromSlash(unit))
	if !hasTests(dir) {
		return nil, nil //nolint:nilnil // there is nothing to trace
	}
	binary := filepath.Join(g.scratch, "covered")
	flags := []string(nil)
	if lines {
		flags = []string{"-cover", "-coverpkg=./..."}
	}
	pack, problem, err := g.build(ctx, dir, binary, 0, flags...)
	if err != nil || problem != "" {
		return nil, err
	}
	loaded, module, err := loadedBy(binary, pack)
	if err != nil {
		return nil, err
	}
	t := &traced{loaded: loaded}
	if !lines {
		return t, nil
	}
	profile := filepath.Join(g.written(), "cover")
	top, _, _ := strings.Cut(test.Test, "/")
	_, err = g.isolated(ctx, folder, dir, []string{
		binary, "-test.paniconexit0", "-test.run=^" + regexp.QuoteMeta(top) + "$", "-test.coverprofile=" + profile, "-test.timeout=" + suiteTime.String(),
	}, false)
	defer func() { _ = removeAll(g.written()) }()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		return t, nil // a test that crashes leaves none
	}
	below := moduleFolder(dir, folder)
	t.lines = mutate.ParseProfile(data, func(file string) string { return path.Join(below, strings.TrimPrefix(file, module+"/")) })
	return t, nil
}

// moduleFolder is the folder of the module around a package, relative to its tree.
func moduleFolder(dir, tree string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil || at == tree || at == filepath.Dir(at) {
			rel, _ := filepath.Rel(tree, at)
			return filepath.ToSlash(rel)
		}
	}
}

// loadedBy tells whose code a binary has, by its build information: the tree's own, unless a module is replaced by a folder elsewhere.
func loadedBy(binary, pack string) (history.Loaded, string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", "", err
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil && (filepath.IsAbs(dep.Replace.Path) || strings.HasPrefix(dep.Replace.Path, "..")) {
			return history.NotCertified, info.Main.Path, nil
		}
	}
	if pack != info.Main.Path && !strings.HasPrefix(pack, info.Main.Path+"/") {
		return history.NotCertified, info.Main.Path, nil
	}
	return history.Certified, info.Main.Path, nil
}
