package inquiry

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// What tells that a change was meant, in nats, hand-tuned. Of a value that is
// only true, false or nothing, a mistake looks the same.
const (
	intentValueNats       = 2.2
	intentFlagNats        = 0.8
	intentTestsNats       = 2.2
	intentDocumentsNats   = 0.9
	intentNewsNats        = 1.6 // in a list of changes, or in the comment of the function itself
	intentMessageNats     = 0.6
	intentExpectationNats = 2.2
	// meantNats: from here on a change counts as meant, and its being there
	// speaks no more than this for the product.
	meantNats        = 1.2
	meantProductNats = 0.4
	// updatedShare: what intent counts where the failing test was changed itself, and so was mostly updated.
	updatedShare = 0.5
)

// stale begins what is said of a change that was meant.
const stale = "The behaviour changed on purpose, so the test is stale: "

func intentNats(in *abi.SourceIntent) float64 {
	switch in.Kind {
	case abi.IntentValue:
		if !slices.ContainsFunc(in.Names, func(name string) bool { return !flag(name) }) {
			return intentFlagNats
		}
		return intentValueNats
	case abi.IntentTests:
		return intentTestsNats
	case abi.IntentDocuments:
		if tellsNews(in.Path) {
			return intentNewsNats
		}
		return intentDocumentsNats
	case abi.IntentMessage:
		return intentMessageNats
	default:
		return 0
	}
}

// tellsNews says whether a file lists what was changed, or is code, whose comments tell what it does now.
func tellsNews(path string) bool {
	base := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	for _, stem := range []string{"change", "news", "history", "release", "upgrad", "migrat"} {
		if strings.HasPrefix(base, stem) {
			return true
		}
	}
	return isCode(path)
}

func isCode(path string) bool { return strings.HasSuffix(path, ".go") }

// flag says whether a value is one of a few.
func flag(value string) bool {
	return slices.Contains([]string{"true", "false", "nil", "null", "none", "undefined"}, strings.ToLower(value))
}

// asked: the failing test was changed, so that it wants another value.
func (s *scene) asked() bool {
	return slices.ContainsFunc(s.source.Intent, func(in abi.SourceIntent) bool { return in.Kind == abi.IntentExpectation })
}

// intent sums up what tells that the product's change was meant, each kind once, comments of code apart from other documents.
func (s *scene) intent() float64 {
	if !s.product || s.asked() {
		return 0
	}
	sum := 0.0
	for _, kind := range []abi.IntentKind{abi.IntentValue, abi.IntentTests, abi.IntentDocuments, abi.IntentMessage} {
		most, comment := 0.0, 0.0
		for i := range s.source.Intent {
			switch in := &s.source.Intent[i]; {
			case in.Kind != kind:
			case kind == abi.IntentDocuments && isCode(in.Path):
				comment = max(comment, intentNats(in))
			default:
				most = max(most, intentNats(in))
			}
		}
		sum += most + comment
	}
	if len(s.source.Tests) > 0 && s.source.Tests[0].Changed {
		sum *= updatedShare
	}
	return min(sum, factCap)
}

func (s *scene) meant() bool { return s.intent() >= meantNats }

// intents are the statements about intent, with where they stand, the
// strongest first; it carries what all say together.
func (s *scene) intents() (list []statement, refs []string) {
	sorted := slices.Clone(s.source.Intent)
	slices.SortStableFunc(sorted, func(a, b abi.SourceIntent) int { return cmp.Compare(intentNats(&b), intentNats(&a)) })
	together := s.intent()
	for i := range sorted {
		in := &sorted[i]
		key := intentKey
		if in.Kind == abi.IntentExpectation {
			key = sourceKey // a guess that experiments can try
		}
		ref := key + ":" + string(in.Kind) + ":" + in.Path
		if in.Path == "" {
			ref = key + ":" + string(in.Kind) + ":" + in.Hunk.Commit
		} else if in.Hunk.Line > 0 {
			ref += ":" + text.Int(in.Hunk.Line)
		}
		content, nats := "", 0.0
		switch {
		case in.Kind == abi.IntentExpectation:
			content, nats = "The failing test was changed where it fails ("+strings.Join(in.Names[:min(len(in.Names), 8)], " ")+"), in "+in.Path, intentExpectationNats
		case together > 0:
			content, nats = stale+meaning(in), intentNats(in)
			if together >= meantNats {
				nats, together = together, meantNats/2
			} else {
				content = strings.Replace(content, stale, "The behaviour may have been changed on purpose: ", 1)
			}
		}
		list, refs = append(list, statement{s.roles.Automation, content + shown(&in.Hunk), nats}), append(refs, ref)
	}
	return list, refs
}

// meaning tells what an intent is seen by.
func meaning(in *abi.SourceIntent) string {
	what := strings.Join(in.Names[:min(len(in.Names), 8)], " ")
	switch in.Kind {
	case abi.IntentTests:
		return "tests in " + in.Path + " were changed from the value that this one wants to the one that it got"
	case abi.IntentDocuments:
		return in.Path + " was changed and names it (" + what + ")"
	case abi.IntentMessage:
		return "the commit message names it (" + what + ")"
	default:
		return "the value that the test got or wanted stands in what changed in " + in.Path
	}
}
