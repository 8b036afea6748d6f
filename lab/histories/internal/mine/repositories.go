package mine

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// The repositories, by what their cases may be used for. One whose cases somebody has looked at stays among those that learn.
var (
	learning = []string{
		"urfave/cli", "go-chi/chi", "uber-go/zap", "gin-gonic/gin", "prometheus/common", "nats-io/nats.go", "golang/net",
		"caddyserver/caddy", "google/cel-go", "dgraph-io/ristretto", "navidrome/navidrome",
	}
	reporting = []string{
		"rs/zerolog", "etcd-io/bbolt", "uber-go/fx", "google/go-cmp", "dgraph-io/badger", "redis/go-redis", "nats-io/nats-server",
		"golang/tools", "prometheus/prometheus", "etcd-io/etcd", "tailscale/tailscale", "cue-lang/cue", "goreleaser/goreleaser",
	}
)

// Those of Python.
var (
	pythonLearning = []string{
		"pallets/click", "psf/requests", "encode/httpx", "pallets/jinja", "pytest-dev/pluggy", "encode/httpcore",
		"pallets/flask", "python-attrs/attrs", "pallets/itsdangerous", "psf/cachecontrol", "aio-libs/async-timeout",
	}
	pythonReporting = []string{
		"pallets/werkzeug", "encode/starlette", "aio-libs/yarl", "aio-libs/multidict", "pytest-dev/pytest-mock", "pytest-dev/pytest",
		"aio-libs/aiohttp", "pytest-dev/pytest-asyncio", "pallets/markupsafe", "pytest-dev/pytest-xdist",
	}
)

// Repositories are all of them.
func Repositories() []string {
	return slices.Concat(reporting, pythonReporting, learning, pythonLearning)
}

// Half says which half a repository is in.
func Half(name string) (history.Half, bool) {
	switch {
	case slices.Contains(learning, name), slices.Contains(pythonLearning, name):
		return history.Learning, true
	case slices.Contains(reporting, name), slices.Contains(pythonReporting, name):
		return history.Reporting, true
	}
	return "", false
}

// Quota is how many cases of each kind are usually wanted of a repository.
func Quota() map[history.Kind]int {
	return map[history.Kind]int{
		history.Regression: 10, history.NewTest: 5, history.Stale: 5, history.RedBase: 5, history.Conflict: 3,
		history.Flaky: 6, history.MadeFlaky: 6, history.Revert: 3, history.Environment: 5,
	}
}
