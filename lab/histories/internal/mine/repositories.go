package mine

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// The repositories, by what their cases may be used for. One whose cases somebody has looked at stays among those that learn.
var (
	learning = []string{
		"urfave/cli", "rs/zerolog", "go-chi/chi", "uber-go/zap", "gin-gonic/gin", "prometheus/common", "golang/net", "google/cel-go", "dgraph-io/ristretto",
		"uber-go/multierr", "golang/oauth2", "google/wire", "go-chi/httprate", "prometheus/statsd_exporter", "nats-io/nkeys", "golang/text",
		"google/uuid", "uber-go/ratelimit", "goreleaser/fileglob", "urfave/negroni", "caddyserver/caddy", "google/gopacket", "uber-go/tally",
		"prometheus/snmp_exporter", "google/safehtml", "navidrome/navidrome", "golang/crypto", "google/mtail", "open-policy-agent/conftest",
		"nats-io/nats.go", "goreleaser/goreleaser", "tailscale/tailscale", "nats-io/nats-server", "google/osv-scanner", "google/btree",
		"rs/cors", "uber-go/automaxprocs", "urfave/sflags", "prometheus/promu", "prometheus/node_exporter", "google/mangle", "google/go-licenses",
		"google/oss-rebuild", "nats-io/jsm.go", "caddyserver/xcaddy", "caddyserver/nginx-adapter", "urfave/cli-docs", "google/s2a-go", "tailscale/setec",
		"google/go-dap", "prometheus/pushgateway", "google/go-tdx-guest", "rs/xid", "go-chi/cors", "go-chi/render", "uber-go/config", "google/gofuzz",
		"google/safearchive",
	}
	reporting = []string{
		"uber-go/fx", "google/go-cmp", "uber-go/dig", "golang/mod", "prometheus/client_golang", "google/starlark-go",
		"uber-go/mock", "uber-go/goleak", "nats-io/jwt", "etcd-io/raft", "google/pprof", "google/yamlfmt", "caddyserver/certmagic", "goreleaser/nfpm",
		"prometheus/procfs", "prometheus/exporter-toolkit", "go-chi/jwtauth", "golang/exp", "prometheus/alertmanager", "prometheus/blackbox_exporter",
		"google/go-containerregistry", "google/go-github", "golang/vuln", "tailscale/hujson", "uber-go/atomic",
		"cue-lang/cue", "dgraph-io/badger", "redis/go-redis", "etcd-io/bbolt", "golang/tools", "prometheus/prometheus",
		"etcd-io/etcd", "google/nftables",
		"google/keep-sorted", "uber-go/gopatch", "golang/geo", "prometheus/graphite_exporter", "google/go-querystring", "etcd-io/gofail", "google/capslock",
		"open-policy-agent/regal", "google/certificate-transparency-go", "golang/protobuf", "golang/image", "google/licensecheck", "prometheus/mysqld_exporter",
		"uber-go/nilaway", "prometheus/otlptranslator", "google/gnostic", "google/renameio", "golang/sync", "golang/perf", "google/addlicense",
		"dgraph-io/sroar", "prometheus/influxdb_exporter", "google/jsonapi", "google/codesearch",
		"uber-go/cff", "nats-io/nsc", "goreleaser/chglog", "google/go-sev-guest", "prometheus/memcached_exporter", "google/kne", "golang/time",
		"prometheus/consul_exporter", "tailscale/squibble", "google/go-attestation", "google/gops",
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

// Those of Java and JavaScript, one of each.
var others = []string{"jhy/jsoup", "expressjs/codemod"}

// Repositories are all of them.
func Repositories() []string {
	return slices.Concat(reporting, pythonReporting, others, learning, pythonLearning)
}

// Half says which half a repository is in.
func Half(name string) (history.Half, bool) {
	switch {
	case slices.Contains(learning, name), slices.Contains(pythonLearning, name):
		return history.Learning, true
	case slices.Contains(reporting, name), slices.Contains(pythonReporting, name), slices.Contains(others, name):
		return history.Reporting, true
	}
	return "", false
}

// quota is how many cases of each kind are wanted of a repository.
var quota = map[history.Kind]int{
	history.Regression: 12, history.NewTest: 10, history.Stale: 8, history.RedBase: 6, history.Conflict: 4, history.Revert: 3, history.Environment: 6,
}
