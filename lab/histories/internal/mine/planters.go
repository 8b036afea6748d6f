package mine

import (
	"errors"
	"fmt"
	"go/token"
	"path"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// The planters. Saved cases name their places: where an operator of mutate finds other sites, or in another order, `make histories` fails.
//
// Place is function#operator#number for the first two: the site of an operator in a function, counted from zero.
const (
	// defect plants a programming mistake.
	defect = "defect"
	// chance plants a mistake that happens by chance. Seed is a hundred times the luck, and the percentage.
	chance = "chance"
	// polluter makes a test file whose test changes what others need; Place is package#state.
	polluter = "polluter"
	// untracked makes a test file that changes it before any test runs; Place is package#state.
	untracked = "untracked"
)

// Planters are what plants.
func Planters() map[string]history.Planter {
	return map[string]history.Planter{defect: plantSite, chance: plantSite, polluter: plantState, untracked: plantState}
}

// finder finds the sites of a planter.
func finder(p *history.Plant) func(*mutate.Source) {
	if p.Name == chance {
		return mutate.Chances(mutate.Luck(p.Seed/100), int(p.Seed%100))
	}
	return mutate.Defects
}

func plantSite(p *history.Plant, text []byte) ([]byte, error) {
	sites, err := mutate.FindInText(path.Base(p.File), text, finder(p))
	if err != nil {
		return nil, err
	}
	parts := strings.Split(p.Place, "#")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is no place", p.Place)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil {
		return nil, err
	}
	for _, site := range sites[parts[1]] {
		if site.Func == parts[0] {
			if n == 0 {
				return site.Change(text)
			}
			n--
		}
	}
	return nil, fmt.Errorf("%s has no place %s", p.File, p.Place)
}

// states are what a test can leave behind for all tests of its package, beside variables: a statement, and the import that it needs.
var states = map[string][2]string{
	"working folder":    {`_ = os.Chdir("/")`, "os"},
	"variables":         {`os.Clearenv()`, "os"},
	"home":              {`_ = os.Setenv("HOME", "/none")`, "os"},
	"temporary folder":  {`_ = os.Setenv("TMPDIR", "/none")`, "os"},
	"path":              {`_ = os.Setenv("PATH", "")`, "os"},
	"time zone":         {`time.Local = time.FixedZone("here", -5*60*60)`, "time"},
	"arguments":         {`os.Args = os.Args[:1]`, "os"},
	"transport of HTTP": {`http.DefaultTransport = &http.Transport{Dial: func(string, string) (net.Conn, error) { return nil, net.ErrClosed }}`, "net\" ; import \"net/http"},
	"output of log":     {`log.SetOutput(io.Discard)`, "io\" ; import \"log"},
	"prefix of log":     {`log.SetPrefix("test: ")`, "log"},
	"handlers of HTTP":  {`http.DefaultServeMux = http.NewServeMux()`, "net/http"},
}

// aVariable is the state that is a variable of the package, before its name.
const aVariable = "variable "

// plantState makes a file with a test, or what runs before all tests, that changes a state.
func plantState(p *history.Plant, text []byte) ([]byte, error) {
	if text != nil {
		return nil, errors.New("the tree has " + p.File)
	}
	pack, what, ok := strings.Cut(p.Place, "#")
	name, isVariable := strings.CutPrefix(what, aVariable)
	if !ok || !token.IsIdentifier(pack) || isVariable && !token.IsIdentifier(name) {
		return nil, fmt.Errorf("%q is no place", p.Place)
	}
	state, known := states[what]
	helper := ""
	switch {
	case isVariable:
		state[0], helper = "resetValue(&"+name+")", "\nfunc resetValue[T any](of *T) { *of = *new(T) }\n"
	case !known:
		return nil, fmt.Errorf("there is no state %q", what)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", pack)
	if state[1] != "" {
		fmt.Fprintf(&b, "\nimport \"%s\"\n", state[1])
	}
	if p.Name == polluter {
		fmt.Fprintf(&b, "\nimport \"testing\"\n\nfunc TestStartsFromDefaults(t *testing.T) {\n\t%s\n}\n", state[0])
	} else {
		fmt.Fprintf(&b, "\nfunc init() {\n\t%s\n}\n", state[0])
	}
	return []byte(b.String() + helper), nil
}
