package reportportal

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

// maxTypes is how many defect types of its own a project may have here; ReportPortal allows fifteen of a kind.
const maxTypes = 200

// toInvestigate is the kind of what nobody has decided yet, and no label.
const toInvestigate = "TO_INVESTIGATE"

// locatorText is how ReportPortal names a defect type: pb001, or pb_1h7inqu51mgys for a project's own.
var locatorText = regexp.MustCompile(`^(pb|ab|si|nd)(\d{3}|_[0-9A-Za-z]{1,64})$`)

// labels are the defect types of an export.
type labels struct {
	stated []string // by the settings of the project
	seen   []string // by items and statistics
	names  map[string]string
}

// add takes a defect type that the export states; name is for people, or empty.
func (l *labels) add(locator, kind, name string) {
	if kind == toInvestigate {
		return
	}
	l.stated = insert(l.stated, locator)
	if name = bounded(name); name != "" && slices.Contains(l.stated, locator) {
		if l.names == nil {
			l.names = make(map[string]string)
		}
		l.names[locator] = name
	}
}

// see takes a defect type that is in use.
func (l *labels) see(locator string) { l.seen = insert(l.seen, locator) }

func insert(list []string, locator string) []string {
	if !locatorText.MatchString(locator) || slices.Contains(list, locator) || len(list) == maxTypes {
		return list
	}
	return append(list, locator)
}

// list are the labels of every case: ReportPortal's four, then the project's own by kind and name. Those in use count
// where the export has no settings.
func (l *labels) list() []string {
	all, own := report.Labels(), l.stated
	if len(own) == 0 {
		own = l.seen
	}
	order := func(locator string) int { return strings.Index("pb ab si nd", locator[:2]) }
	own = slices.SortedFunc(slices.Values(own), func(a, b string) int {
		if d := order(a) - order(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, locator := range own {
		if !slices.Contains(all, locator) {
			all = append(all, locator)
		}
	}
	return all
}

func (l *labels) known(locator string) bool { return slices.Contains(l.list(), locator) }
