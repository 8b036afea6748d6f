package cases

import "slices"

// Pair is two adjacent releases of a public Go module whose root package changed in its product and in its tests.
type Pair struct {
	Module string `json:"module"`
	Older  string `json:"older"`
	Newer  string `json:"newer"`
	// Tuned: something was changed after a look at cases of the module.
	Tuned bool `json:"tuned,omitempty"`
}

// Pairs are of small modules with fast tests. None of the modules is in the dockets that profiles are fitted and measured on.
func Pairs() []Pair {
	return []Pair{
		{"github.com/hashicorp/go-version", "v1.7.0", "v1.8.0", true},
		{"github.com/subosito/gotenv", "v1.4.2", "v1.6.0", true},
		{"github.com/iancoleman/strcase", "v0.2.0", "v0.3.0", true},
		{"github.com/kevinburke/ssh_config", "v1.5.0", "v1.6.0", true},
		{"github.com/jinzhu/copier", "v0.3.5", "v0.4.0", true},
		{"github.com/Masterminds/semver/v3", "v3.3.1", "v3.4.0", true},
		{"github.com/otiai10/copy", "v1.14.0", "v1.14.1", true},
		{"github.com/itchyny/timefmt-go", "v0.1.7", "v0.1.8", true},
		{"github.com/shopspring/decimal", "v1.5.0", "v1.6.0", true},
		{"github.com/rs/cors", "v1.10.1", "v1.11.0", true},
		{"github.com/dustin/go-humanize", "v1.0.1", "v1.1.0", true},
		{"github.com/gorilla/schema", "v1.3.0", "v1.4.1", true},
		{"github.com/avast/retry-go/v4", "v4.6.1", "v4.7.0", true},
		{"github.com/peterbourgon/diskv/v3", "v3.0.0", "v3.0.1", false},
		{"github.com/cenkalti/backoff/v4", "v4.2.1", "v4.3.0", false},
		{"github.com/deckarep/golang-set/v2", "v2.8.0", "v2.9.0", false},
		{"github.com/sony/gobreaker", "v0.4.1", "v0.5.0", false},
		{"github.com/google/renameio/v2", "v2.0.1", "v2.0.2", true},
		{"github.com/alexflint/go-arg", "v1.5.1", "v1.6.1", false},
		{"github.com/go-chi/chi/v5", "v5.3.2", "v5.4.0", false},
		{"github.com/tidwall/wal", "v1.1.8", "v1.2.1", false},
		{"github.com/spf13/afero", "v1.14.0", "v1.15.0", false},
		{"github.com/jessevdk/go-flags", "v1.5.0", "v1.6.1", false},
		{"github.com/sirupsen/logrus", "v1.10.0", "v1.10.1", false},
		{"github.com/stretchr/objx", "v0.5.2", "v0.5.3", false},
		{"github.com/mitchellh/mapstructure", "v1.4.3", "v1.5.0", false},
		{"github.com/tidwall/gjson", "v1.18.0", "v1.19.0", false},
		{"github.com/tidwall/sjson", "v1.2.5", "v1.2.6", false},
		{"github.com/spf13/cast", "v1.8.0", "v1.9.0", false},
		{"github.com/mattn/go-runewidth", "v0.0.29", "v0.0.30", false},
		{"github.com/golang-jwt/jwt/v5", "v5.2.3", "v5.3.0", false},
		{"github.com/oklog/ulid/v2", "v2.1.0", "v2.1.1", false},
		{"github.com/gobuffalo/flect", "v1.0.2", "v1.0.3", false},
		{"dario.cat/mergo", "v1.0.1", "v1.0.2", false},
		{"github.com/PuerkitoBio/goquery", "v1.10.3", "v1.11.0", false},
		{"github.com/gosimple/slug", "v1.14.0", "v1.15.0", false},
		{"github.com/docker/go-units", "v0.4.0", "v0.5.0", false},
		{"github.com/valyala/fastjson", "v1.6.7", "v1.6.10", false},
		{"github.com/buger/jsonparser", "v1.5.1", "v1.6.0", false},
		{"github.com/hashicorp/go-multierror", "v1.1.0", "v1.1.1", false},
		{"github.com/robfig/cron/v3", "v3.0.0", "v3.0.1", false},
		{"github.com/fatih/structs", "v1.0.0", "v1.1.0", false},
		{"github.com/julienschmidt/httprouter", "v1.2.0", "v1.3.0", false},
		{"github.com/bmatcuk/doublestar/v4", "v4.10.3", "v4.10.4", false},
		{"github.com/kelseyhightower/envconfig", "v1.3.0", "v1.4.0", false},
		{"github.com/sethvargo/go-retry", "v0.4.0", "v0.5.0", false},
		{"github.com/jellydator/ttlcache/v3", "v3.4.0", "v3.4.1", false},
		{"github.com/gammazero/deque", "v1.2.2", "v1.2.3", false},
		{"github.com/hashicorp/go-retryablehttp", "v0.7.7", "v0.7.8", false},
		{"github.com/muesli/termenv", "v0.15.2", "v0.16.0", false},
		{"github.com/alecthomas/participle/v2", "v2.1.1", "v2.1.4", false},
		{"github.com/huandu/xstrings", "v1.6.2", "v1.6.3", false},
		{"github.com/Masterminds/goutils", "v1.1.0", "v1.1.1", false},
		{"github.com/teambition/rrule-go", "v1.7.2", "v1.8.2", false},
		{"github.com/jonboulle/clockwork", "v0.4.0", "v0.5.0", false},
		{"github.com/go-logfmt/logfmt", "v0.6.0", "v0.6.1", false},
		{"github.com/mileusna/useragent", "v1.3.4", "v1.3.5", false},
		{"github.com/hashicorp/go-memdb", "v1.3.4", "v1.3.5", false},
		{"github.com/benbjohnson/clock", "v1.3.0", "v1.3.5", false},
		{"github.com/coocood/freecache", "v1.2.4", "v1.2.7", false},
		{"github.com/wI2L/jsondiff", "v0.7.0", "v0.7.1", false},
		{"github.com/evanphx/json-patch/v5", "v5.8.0", "v5.9.0", false},
		{"github.com/alecthomas/kong", "v1.16.1", "v1.17.0", false},
		{"github.com/pelletier/go-toml/v2", "v2.4.0", "v2.4.1", true},
	}
}

// tuned says whether something was tuned on a module, since its cases were made or before.
func tuned(module string) bool {
	return slices.ContainsFunc(Pairs(), func(p Pair) bool { return p.Module == module && p.Tuned })
}
