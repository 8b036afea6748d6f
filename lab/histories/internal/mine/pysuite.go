package mine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// pySuite runs tests of pytest.
type pySuite struct{ environments pyEnvironments }

func newPySuite(r *history.Repository, folder string) *pySuite {
	return &pySuite{pyEnvironments{repository: r, folder: filepath.Join(folder, "python"), broken: map[string]error{}}}
}

func (p *pySuite) name() string { return "pytest" }

func (p *pySuite) install(ctx context.Context, folder string) error {
	return p.environments.put(ctx, folder)
}

// notProduct are the names at the top of a tree that tests and tools have.
var notProduct = []string{"tests", "test", "testing", "docs", "examples", "example", "conftest", "setup", "noxfile", "benchmark", "benchmarks", "scripts", "tools"}

// hasModule says whether a tree has a module or package of a name, at its top or below src.
func hasModule(folder, name string) bool {
	for _, at := range []string{name + ".py", name, filepath.Join("src", name+".py"), filepath.Join("src", name)} {
		at = filepath.Join(folder, at)
		if files, _ := filepath.Glob(filepath.Join(at, "*.py")); len(files) > 0 {
			return true
		}
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}
