package inquiry

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
)

// What a place tells, in nats, hand-tuned from what the places mean.
const (
	// brokenNats: the file that does not compile is most often the one that is wrong; the other side may have changed under it.
	brokenNats = 1.8
	// siteNats: the first own frame of a crash is nearer to the product's fault
	// than to the test's, since a test that is wrong mostly fails by its own check.
	productSiteNats = 1.0
	testSiteNats    = 0.7
	// notThereNats: the other one was not in the first frame.
	notThereNats = -0.5
	// A value that is not the wanted one is the plainest symptom of a product that does the wrong thing; a test that wants the wrong thing,
	// and one whose outcome changes, show it too. A machine seldom does.
	comparedProductNats = 0.9
	comparedOtherNats   = 0.6
	// ranNats: what ends a test with an error is often what the test relies on.
	ranNats = 1.0
	// laterShare is the share of a further frame or message of the same kind.
	laterShare = 0.4
	// waitShare is the share of a frame where the program only waited.
	waitShare = 0.3
)

// teller says what places tell of the labels.
type teller struct {
	roles    Roles
	labels   []string
	source   *abi.SourceAnswer
	messages messages
	// times each symptom was told.
	times map[symptom]int
}

func newTeller(r *abi.NodeRequest, source *abi.SourceAnswer) *teller {
	return &teller{roles: RolesOf(r), labels: r.Case.Labels, source: source, messages: newMessages(), times: make(map[symptom]int)}
}

// frame is what the source knows of a place.
func (t *teller) frame(p sourcefile.Place) *abi.SourceFrame {
	if t.source == nil {
		return nil
	}
	for i := range t.source.Frames {
		if f := &t.source.Frames[i]; (f.Line == p.Line || f.Line == 0) && sourcefile.Same(f.Path, p.Path) {
			return f
		}
	}
	return nil
}

func (t *teller) kind(p sourcefile.Place) abi.SourceKind {
	if f := t.frame(p); f != nil {
		return f.Kind
	}
	return sourcefile.KindOf(p.Path)
}

// foreign says whether a place is none of the module's own.
func (t *teller) foreign(p sourcefile.Place) bool {
	return t.frame(p) == nil && sourcefile.Foreign(p.Path)
}

// lift is how far one label is lifted, in nats.
type lift struct {
	label string
	nats  float64
}

// lifts gives the nats of each label; nil where none of the labels is lifted.
func (t *teller) lifts(list ...lift) []float64 {
	var v []float64
	for _, l := range list {
		if j := slices.Index(t.labels, l.label); j >= 0 {
			if v == nil {
				v = make([]float64, len(t.labels))
			}
			v[j] += l.nats
		}
	}
	return v
}

func (t *teller) broken(p sourcefile.Place) []float64 {
	return t.lifts(lift{t.roles.of(t.kind(p)), brokenNats})
}

// site is what the n-th own frame of a crash tells. That a test stands above another frame tells nothing: it called it. A helper in a
// test's file fails for whoever called it, and tells nothing. function is the line that names the function of the frame.
func (t *teller) site(p sourcefile.Place, n int, crash, function string) []float64 {
	share := 1.0
	if strings.Contains(crash, "timed out") || strings.Contains(crash, "deadlock") {
		share = waitShare
	}
	product := t.kind(p) == abi.SourceProduct
	switch own := t.roles.of(t.kind(p)); {
	case n > 1 && product:
		return t.lifts(lift{own, productSiteNats * laterShare * share})
	case n > 1, !product && t.helper(p, function):
		return nil
	case product:
		return t.lifts(lift{own, productSiteNats * share}, lift{t.roles.Automation, notThereNats * share})
	default:
		return t.lifts(lift{own, testSiteNats * share}, lift{t.roles.Product, notThereNats * share})
	}
}

// report is what a test's own message tells. Messages stand in tests whoever is wrong, so that only a place in the product tells anything
// by itself; else it is what the message is about, the first of its kind before the others.
func (t *teller) report(p sourcefile.Place, quote string) []float64 {
	if t.kind(p) == abi.SourceProduct {
		return t.lifts(lift{t.roles.Product, testSiteNats})
	}
	about := t.messages.symptom(quote, p.Path)
	share := math.Pow(laterShare, float64(t.times[about]))
	t.times[about]++
	switch about {
	case compared:
		return t.lifts(
			lift{t.roles.Product, comparedProductNats * share},
			lift{t.roles.Automation, comparedOtherNats * share},
			lift{t.roles.Flake, comparedOtherNats * share},
		)
	case ran:
		return t.lifts(lift{t.roles.Infrastructure, ranNats * share})
	default:
		return nil
	}
}

// helper says whether the function of a frame is known to be none that a test framework runs.
func (t *teller) helper(p sourcefile.Place, line string) bool {
	name := functionIn(line)
	if f := t.frame(p); name == "" && f != nil {
		name = f.Function
	}
	if name == "" {
		return false
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '(' || r == ')' || r == '*' }) {
		for _, prefix := range []string{"Test", "Fuzz", "Benchmark", "Example", "test", "setUp", "tearDown", "it_", "should"} {
			if strings.HasPrefix(part, prefix) {
				return false
			}
		}
	}
	return true
}

// functionIn reads the name of a function from a line of a stack: of Go's without the path of its package, or of Python's. Functions of
// other languages, where tests have no names of their own, are not known.
func functionIn(line string) string {
	line = strings.TrimSpace(line)
	if _, name, ok := strings.Cut(line, ", in "); ok && strings.HasPrefix(line, "File \"") && !strings.HasPrefix(name, "<") {
		return name
	}
	end := strings.LastIndexByte(line, '(')
	if end < 0 || !strings.HasSuffix(line, ")") || strings.ContainsAny(line[:end], " \t") {
		return ""
	}
	name := line[strings.LastIndexByte(line[:end], '/')+1 : end]
	_, name, _ = strings.Cut(name, ".")
	return name
}

// Roles say which labels of a case mean what. A role that no label has is empty.
type Roles struct {
	Product, Automation, Infrastructure, Flake string
}

// RolesOf reads the roles from a node's parameters `product`, `automation`,
// `infrastructure` and `flake`; what is no label of the case is left empty.
func RolesOf(r *abi.NodeRequest) Roles {
	role := func(name string) string {
		label := proceeding.TextParam(r.Params, name, "")
		if !slices.Contains(r.Case.Labels, label) {
			return ""
		}
		return label
	}
	return Roles{role("product"), role("automation"), role("infrastructure"), role("flake")}
}

// Category is the symptom that a label stands for.
func (r Roles) Category(label string) abi.SymptomCategory {
	switch label {
	case "":
	case r.Product:
		return abi.SymptomProduct
	case r.Automation:
		return abi.SymptomAutomation
	case r.Infrastructure:
		return abi.SymptomInfrastructure
	case r.Flake:
		return abi.SymptomFlake
	}
	return abi.SymptomUnknown
}

// of is the label that a kind of file speaks for.
func (r Roles) of(kind abi.SourceKind) string {
	switch kind {
	case abi.SourceProduct:
		return r.Product
	case abi.SourceTest, abi.SourceFixture:
		return r.Automation
	default:
		return ""
	}
}
