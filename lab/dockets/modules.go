package main

import "path"

// module is a public Go module of which the tests of one package are run.
type module struct {
	path    string
	version string
	licence string // SPDX
	folder  string // of the package, "." for the module's root
	half    string // fitHalf or testHalf
	skip    string // tests that fail here without any fault, a pattern; they never run
}

// The halves of the docket: what is fitted on one is measured on the other.
const (
	fitHalf  = "fit"
	testHalf = "test"
)

func (m module) pkg() string { return path.Join(m.path, m.folder) }

// name says what of the module is run.
func (m module) name() string {
	name := m.pkg() + "@" + m.version
	if m.skip != "" {
		name += " without " + m.skip
	}
	return name
}

// modules are small and have fast tests that need no network beyond the machine; the fastest come first. The halves are alike: each has modules
// that live on files, on the network, on time and places, on goroutines and on nothing but their input.
func modules() []module {
	return []module{
		{"github.com/joho/godotenv", "v1.5.1", "MIT", ".", fitHalf, ""},
		{"github.com/magiconair/properties", "v1.18.12", "BSD-2-Clause", ".", testHalf, ""},
		{"github.com/adrg/xdg", "v0.5.3", "MIT", ".", fitHalf, ""},
		{"github.com/mattn/go-zglob", "v0.0.8", "MIT", ".", testHalf, "TestGlobError"},
		{"github.com/armon/go-socks5", "v0.0.0-20160902184237-e75332964ef5", "MIT", ".", testHalf, ""},
		{"github.com/jlaffaye/ftp", "v0.2.4", "ISC", ".", fitHalf, ""},
		{"github.com/alexflint/go-filemutex", "v1.3.0", "MIT", ".", testHalf, ""},
		{"github.com/gorilla/sessions", "v1.4.0", "BSD-3-Clause", ".", fitHalf, ""},
		{"github.com/mattn/go-shellwords", "v1.0.16", "MIT", ".", testHalf, ""},
		{"github.com/nightlyone/lockfile", "v1.0.0", "MIT", ".", fitHalf, ""},
		{"github.com/emersion/go-smtp", "v0.25.1", "MIT", ".", testHalf, ""},
		{"github.com/djherbis/times", "v1.6.0", "MIT", ".", fitHalf, ""},
		{"github.com/jinzhu/now", "v1.1.5", "MIT", ".", testHalf, ""},
		{"github.com/armon/go-proxyproto", "v0.0.0-20210323213023-7e956b284f0a", "MIT", ".", fitHalf, ""},
		{"github.com/edsrzf/mmap-go", "v1.2.0", "BSD-3-Clause", ".", testHalf, ""},
		{"github.com/go-ini/ini", "v1.67.3", "Apache-2.0", ".", fitHalf, ""},
		{"github.com/gofrs/flock", "v0.13.1", "BSD-3-Clause", ".", testHalf, ""},
		{"github.com/araddon/dateparse", "v0.0.0-20210429162001-6b43995a97de", "MIT", ".", fitHalf, ""},
		{"github.com/creack/pty", "v1.1.24", "MIT", ".", testHalf, ""},
		{"github.com/lestrrat-go/strftime", "v1.2.0", "MIT", ".", fitHalf, ""},
		{"github.com/pkg/xattr", "v0.4.12", "BSD-2-Clause", ".", testHalf, ""},
		{"github.com/spf13/fsync", "v0.10.1", "MIT", ".", fitHalf, ""},
		{"gopkg.in/natefinch/lumberjack.v2", "v2.2.1", "MIT", ".", testHalf, "TestCompressMaintainOwner|TestMaxAge|TestOldLogFiles"},
		{"github.com/gorilla/mux", "v1.8.1", "BSD-3-Clause", ".", fitHalf, ""},
		{"github.com/dghubble/sling", "v1.4.2", "MIT", ".", testHalf, ""},
		{"github.com/patrickmn/go-cache", "v2.1.0+incompatible", "MIT", ".", fitHalf, ""},
		{"github.com/sourcegraph/conc", "v0.3.0", "MIT", "pool", testHalf, ""},
		{"github.com/gammazero/workerpool", "v1.3.0", "MIT", ".", fitHalf, ""},
		{"github.com/spf13/pflag", "v1.0.10", "BSD-3-Clause", ".", testHalf, ""},
		{"github.com/caarlos0/env/v11", "v11.4.2", "MIT", ".", fitHalf, ""},
		{"github.com/BurntSushi/toml", "v1.6.0", "MIT", ".", testHalf, ""},
		{"github.com/google/uuid", "v1.6.0", "BSD-3-Clause", ".", fitHalf, ""},
		{"github.com/hashicorp/golang-lru/v2", "v2.0.7", "MPL-2.0", "expirable", testHalf, ""},
		{"github.com/gorilla/handlers", "v1.5.2", "BSD-3-Clause", ".", fitHalf, "TestHeaderWrites"},
	}
}
