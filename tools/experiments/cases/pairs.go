package cases

// Pair is two adjacent releases of a public Go module whose root package changed in its product and in its tests.
type Pair struct {
	Module string `json:"module"`
	Older  string `json:"older"`
	Newer  string `json:"newer"`
}

// Pairs are of small modules with fast tests. None of the modules is in the dockets that profiles are fitted and measured on.
func Pairs() []Pair {
	return []Pair{
		{"github.com/hashicorp/go-version", "v1.7.0", "v1.8.0"},
		{"github.com/subosito/gotenv", "v1.4.2", "v1.6.0"},
		{"github.com/iancoleman/strcase", "v0.2.0", "v0.3.0"},
		{"github.com/kevinburke/ssh_config", "v1.5.0", "v1.6.0"},
		{"github.com/jinzhu/copier", "v0.3.5", "v0.4.0"},
		{"github.com/Masterminds/semver/v3", "v3.3.1", "v3.4.0"},
		{"github.com/otiai10/copy", "v1.14.0", "v1.14.1"},
		{"github.com/itchyny/timefmt-go", "v0.1.7", "v0.1.8"},
		{"github.com/shopspring/decimal", "v1.5.0", "v1.6.0"},
		{"github.com/rs/cors", "v1.10.1", "v1.11.0"},
		{"github.com/dustin/go-humanize", "v1.0.1", "v1.1.0"},
		{"github.com/gorilla/schema", "v1.3.0", "v1.4.1"},
		{"github.com/avast/retry-go/v4", "v4.6.1", "v4.7.0"},
		{"github.com/peterbourgon/diskv/v3", "v3.0.0", "v3.0.1"},
		{"github.com/cenkalti/backoff/v4", "v4.2.1", "v4.3.0"},
		{"github.com/deckarep/golang-set/v2", "v2.8.0", "v2.9.0"},
		{"github.com/sony/gobreaker", "v0.4.1", "v0.5.0"},
		{"github.com/google/renameio/v2", "v2.0.1", "v2.0.2"},
		{"github.com/alexflint/go-arg", "v1.5.1", "v1.6.1"},
		{"github.com/soheilhy/cmux", "v0.1.4", "v0.1.5"},
		{"github.com/go-chi/chi/v5", "v5.3.2", "v5.4.0"},
		{"github.com/tidwall/wal", "v1.1.8", "v1.2.1"},
		{"github.com/gorilla/websocket", "v1.5.1", "v1.5.3"},
		{"github.com/spf13/afero", "v1.14.0", "v1.15.0"},
		{"github.com/jessevdk/go-flags", "v1.5.0", "v1.6.1"},
		{"github.com/sirupsen/logrus", "v1.10.0", "v1.10.1"},
	}
}
