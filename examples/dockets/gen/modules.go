package main

// module is a public Go module whose tests are run.
type module struct {
	path    string
	version string
	licence string // SPDX
	// packages are the patterns given to go test, "." when empty.
	packages []string
}

// modules are small, have fast tests and few dependencies.
func modules() []module {
	return []module{
		{path: "github.com/google/uuid", version: "v1.6.0", licence: "BSD-3-Clause"},
		{path: "github.com/gorilla/mux", version: "v1.8.1", licence: "BSD-3-Clause"},
		{path: "github.com/gorilla/websocket", version: "v1.5.3", licence: "BSD-2-Clause"},
		{path: "github.com/spf13/pflag", version: "v1.0.10", licence: "BSD-3-Clause"},
		{path: "github.com/spf13/afero", version: "v1.15.0", licence: "Apache-2.0", packages: []string{".", "./..."}},
		{path: "github.com/hashicorp/golang-lru/v2", version: "v2.0.7", licence: "MPL-2.0", packages: []string{"./..."}},
		{path: "github.com/gofrs/flock", version: "v0.13.1", licence: "BSD-3-Clause"},
		{path: "github.com/julienschmidt/httprouter", version: "v1.3.0", licence: "BSD-3-Clause"},
		{path: "github.com/joho/godotenv", version: "v1.5.1", licence: "MIT", packages: []string{"./..."}},
		{path: "github.com/dustin/go-humanize", version: "v1.1.0", licence: "MIT"},
		{path: "golang.org/x/sync", version: "v0.24.0", licence: "BSD-3-Clause", packages: []string{"./..."}},
		{path: "github.com/BurntSushi/toml", version: "v1.6.0", licence: "MIT"},
		{path: "github.com/patrickmn/go-cache", version: "v2.1.0+incompatible", licence: "MIT"},
	}
}
