package inquiry

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/place"
)

// What a place tells, in nats, laid by hand from what the places mean.
const (
	// brokenNats: the file that does not compile is most often the one that is
	// wrong; the other side may have changed under it.
	brokenNats = 1.8
	// siteNats: the first own frame of a crash is nearer to the product's fault
	// than to the test's, since a test that is wrong mostly fails by its own check.
	productSiteNats = 1.0
	testSiteNats    = 0.6
	// laterNats is the share of a frame above the first.
	laterShare = 0.4
	// waitShare is the share of a frame where the program only waited.
	waitShare = 0.3
	// changedNearNats: the diff touches lines near the place that failed.
	changedNearNats = 1.4
	// changedNats: it touches the file.
	changedNats = 0.7
)

// teller says what places tell of the labels.
type teller struct {
	roles  Roles
	labels []string
	source *abi.SourceAnswer
}

// frame is what the source knows of a place.
func (t *teller) frame(p place.Place) *abi.SourceFrame {
	if t.source == nil {
		return nil
	}
	for i := range t.source.Frames {
		if f := &t.source.Frames[i]; (f.Line == p.Line || f.Line == 0) && place.Same(f.Path, p.Path) {
			return f
		}
	}
	return nil
}

func (t *teller) kind(p place.Place) abi.SourceKind {
	if f := t.frame(p); f != nil {
		return f.Kind
	}
	return place.KindOf(p.Path)
}

// foreign says whether a place is none of the module's own.
func (t *teller) foreign(p place.Place) bool {
	return t.frame(p) == nil && place.Foreign(p.Path)
}

// lifts gives the nats with which one label is lifted; nil for no label.
func (t *teller) lifts(label string, nats float64) []float64 {
	j := slices.Index(t.labels, label)
	if j < 0 {
		return nil
	}
	v := make([]float64, len(t.labels))
	v[j] = nats
	return v
}

func (t *teller) broken(p place.Place) []float64 {
	return t.lifts(t.roles.of(t.kind(p)), brokenNats)
}

// site is what the n-th own frame of a crash tells.
func (t *teller) site(p place.Place, n int, crash string) []float64 {
	kind := t.kind(p)
	nats := testSiteNats
	if kind == abi.SourceProduct {
		nats = productSiteNats
	}
	if n > 1 {
		nats *= laterShare
	}
	if strings.Contains(crash, "timed out") || strings.Contains(crash, "deadlock") {
		nats *= waitShare
	}
	return t.lifts(t.roles.of(kind), nats)
}

// report is what the place of a test's own message tells: messages stand in
// tests whoever is wrong, so that only one in the product tells anything.
func (t *teller) report(p place.Place) []float64 {
	if t.kind(p) != abi.SourceProduct {
		return nil
	}
	return t.lifts(t.roles.Product, testSiteNats)
}
