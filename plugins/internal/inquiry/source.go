package inquiry

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// sourceKey is the source of items about the module's source, and intentKey that of items about what its authors meant: experiments
// show what the first only guess, and say nothing of the second.
const (
	sourceKey = weigh.DiffSource
	intentKey = "seeker-intent"
)

// IsSource says whether an item tells what the source shows.
func IsSource(e *abi.Evidence) bool {
	key := odds.SourceKey(e.SourceRef)
	return key == sourceKey || key == intentKey
}

// maxQueryBytes bounds the text that the source is asked about.
const maxQueryBytes = 256 << 10

// Query asks for the files that the documents name, and for the test that the
// subject names: the heads and tails of documents that are long.
func Query(r *abi.NodeRequest, lines int) abi.SourceQuery {
	var b strings.Builder
	b.WriteString(r.Case.Subject)
	b.WriteByte('\n')
	room := maxQueryBytes / max(1, len(r.Case.Documents))
	for i := range r.Case.Documents {
		b.WriteString(ends(r.Case.Documents[i].Text, room))
		b.WriteByte('\n')
	}
	return abi.SourceQuery{Text: strings.ToValidUTF8(b.String(), ""), Limit: maxFrames, Lines: lines}
}

const maxFrames = 50

func ends(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most/2] + "\n" + s[len(s)-most/2:]
}

// SourceItems are evidence of what the diff says of the places that a log
// names and of the test that failed, and the nats by which it moves the labels.
// spoken is what the case tells without it, or nil.
func SourceItems(r *abi.NodeRequest, source *abi.SourceAnswer, spoken *Estimate) (items []abi.Evidence, facts []float64) {
	if source == nil || !source.Known {
		return nil, nil
	}
	d := &differ{
		clues: &Clues{labels: r.Case.Labels, profile: r.Profile}, facts: make([]float64, len(r.Case.Labels)),
		told: make(map[string]bool),
	}
	scene := sceneOf(source, RolesOf(r))
	if !scene.fresh {
		d.places(scene)
	}
	for _, s := range scene.overall(spoken) {
		d.tell(s.content, sourceKey+":diff", s)
	}
	return d.items, d.facts
}

// places tells what the diff does to the places that the log names, to the
// files that bear on the test, and what it means by it.
func (d *differ) places(scene *scene) {
	source := scene.source
	files := make(map[string]*abi.ChangedFile, len(source.Changed))
	for i := range source.Changed {
		files[source.Changed[i].Path] = &source.Changed[i]
	}
	list, refs := scene.intents()
	for i, s := range list {
		d.tell(refs[i], refs[i], s)
	}
	for i := range source.Frames {
		f := &source.Frames[i]
		label, nats := scene.roles.of(f.Kind), 0.0
		switch {
		case f.ChangedNear:
			nats = changedNearNats
		case f.Changed:
			nats = changedNats
		}
		content := touched(f)
		if file := files[f.Path]; file != nil && nats > 0 {
			other, more := scene.bearing(file)
			switch {
			case file.Reach == abi.ReachNone: // what changed there is nothing that the test uses
				nats = 0
			case other == label:
				nats = max(nats, more)
			}
			if label == scene.roles.Product && scene.meant() {
				nats = min(nats, meantProductNats)
			}
			if file.Hunk != nil {
				content = touchedBy(f) + shown(file.Hunk)
			}
		}
		d.tell(f.Path, sourceKey+":"+f.Path+":"+text.Int(f.Line), statement{label, content, nats})
	}
	for i := range source.Changed {
		if f := &source.Changed[i]; len(d.items) < maxDiffItems+len(list) {
			label, nats := scene.bearing(f)
			d.tell(f.Path, sourceKey+":"+f.Path, statement{label, changedFile(f), nats})
		}
	}
}

// differ gathers what a diff tells.
type differ struct {
	clues *Clues
	items []abi.Evidence
	facts []float64
	told  map[string]bool
}

// tell adds an item for a label, unless the same thing was told, it tells
// nothing, or there is no such label. Of all that is told of a label the strongest counts.
func (d *differ) tell(thing, ref string, s statement) {
	j := slices.Index(d.clues.labels, s.label)
	if j < 0 || s.nats == 0 && ref != sourceKey+":diff" || d.told[thing] {
		return
	}
	d.told[thing] = true
	d.facts[j] = max(d.facts[j], s.nats)
	one := make([]float64, len(d.facts))
	one[j] = s.nats
	item := abi.Evidence{SourceRef: ref, Content: s.content, Element: abi.Water}
	item.Supports, item.RelevanceConfidence = d.clues.speaks(one, placeRelevance)
	d.items = append(d.items, item)
}

// touched tells what the diff does to a place, with the lines as they are.
func touched(f *abi.SourceFrame) string {
	said := touchedBy(f)
	if f.Excerpt == "" {
		return said
	}
	return said + "\n" + strings.TrimRight(ends(f.Excerpt, maxQuoteBytes), "\n")
}

func touchedBy(f *abi.SourceFrame) string {
	where := f.Path
	if f.Function != "" {
		where += ", in " + f.Function
	}
	said := "The diff touches " + where
	if f.ChangedNear {
		said = "The diff touches lines near " + where + ", line " + text.Int(f.Line)
	}
	return said
}

// SourceFacts are the nats of the items about the source that are in the
// evidence: what an investigation learned of the diff, for those who may not
// ask for it themselves.
func SourceFacts(r *abi.NodeRequest) []float64 {
	facts := make([]float64, len(r.Case.Labels))
	for i := range r.Case.Evidence {
		e := &r.Case.Evidence[i]
		if !IsSource(e) {
			continue
		}
		one := make([]float64, len(facts))
		addWitness(one, r.Case.Labels, e.Supports, e.RelevanceConfidence)
		for j, x := range one {
			facts[j] = max(facts[j], x)
		}
	}
	odds.Limit(facts, factCap)
	return facts
}
