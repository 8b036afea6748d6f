package codec_test

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// ruled adds faults against the rules of a value.
type ruled struct {
	all *faults
	of  *model.StructType
	at  place
	n   *mt.Node
}

// breaks has what breaks the rules of each type that has rules.
var breaks = map[string]func(*ruled){
	"Case":         (*ruled).caseRules,
	"Verdict":      (*ruled).verdict,
	"DefenseBrief": (*ruled).brief,
	"RemandFeedback": func(r *ruled) {
		r.repeats("questions", "id", abi.CodeDuplicateID)
	},
	"CourtConfig": func(r *ruled) {
		low, high := down(r.at, abi.Field("rejection_threshold")), down(r.at, abi.Field("activation_threshold"))
		r.add(low, abi.CodeThresholds, func(root *mt.Node) {
			*find(root, low), *find(root, high) = mt.FloatNode(0.75), mt.FloatNode(0.25)
		}, []place{low, high})
	},
	"Artifact":        (*ruled).exactlyOne,
	"NodeResponse":    (*ruled).exactlyOne,
	"Param":           (*ruled).exactlyOne,
	"ContestResponse": func(r *ruled) { r.failure("challenges") },
	"EdgeResponse":    func(r *ruled) { r.failure("answers") },
	"JudgeResponse":   func(r *ruled) { r.failure("opinions") },
	"SourceStatement": func(r *ruled) {
		r.probabilities("given")
		r.repeats("elements", "element", abi.CodeDuplicateName)
	},
	"ElementLikelihood": func(r *ruled) { r.probabilities("given") },
	"OutcomeModel": func(r *ruled) {
		r.repeats("shapes", "name", abi.CodeDuplicateName)
		r.repeats("patterns", "name", abi.CodeDuplicateName)
	},
	"OutcomePattern":    func(r *ruled) { r.repeats("labels", "label", abi.CodeDuplicateLabel) },
	"SourceReliability": func(r *ruled) { r.repeats("statements", "says", abi.CodeDuplicateLabel) },
	"Signal":            func(r *ruled) { r.repeats("weights", "label", abi.CodeDuplicateLabel) },
	"AuditReport": func(r *ruled) {
		r.repeats("results", "criterion_id", abi.CodeDuplicateID)
		results := r.list("results")
		reads := []read{{at: down(r.at, abi.Field("results"))}}
		for i := range results {
			at := down(r.at, abi.Field("results"), abi.Index(i))
			reads = append(reads, read{at: down(at, abi.Field("numeric_score"))}, read{at: down(at, abi.Field("security_violation_found"))})
		}
		at := down(r.at, abi.Field("global_score"))
		r.add(at, abi.CodeGlobalScore, replace(at, mt.FloatNode(0.5)), []place{at}, reads...)
	},
	"Profile": func(r *ruled) {
		r.probabilities("base_rates")
		r.repeats("sources", "source", abi.CodeDuplicateName)
		r.repeats("signals", "phrase", abi.CodeDuplicateName)
	},
}

func (f *faults) rules(s *model.StructType, at place, n *mt.Node) {
	breaks[s.GoName](&ruled{all: f, of: s, at: at, n: n})
}

func (r *ruled) add(at place, code abi.Code, apply func(*mt.Node), writes []place, reads ...read) {
	r.all.ruled = append(r.all.ruled, &fault{want: abi.Problem{Path: at, Code: code}, writes: writes, reads: reads, apply: apply})
}

func (r *ruled) list(name string) []mt.Node {
	if n, ok := member(r.n, name); ok {
		return n.Items
	}
	return nil
}

// repeats gives an element of a list the text of one before it, in capitals where it is a phrase.
func (r *ruled) repeats(list, field string, code abi.Code) {
	items := r.list(list)
	for i := 1; i < len(items); i++ {
		for j := range i {
			same, ok := member(&items[j], field)
			if !ok {
				continue
			}
			text := *same
			if field == "phrase" {
				text.Text = strings.Map(func(c rune) rune {
					if 'a' <= c && c <= 'z' {
						return c - 'a' + 'A'
					}
					return c
				}, text.Text)
			}
			element := down(r.at, abi.Field(list), abi.Index(i))
			at := down(element, abi.Field(field))
			r.add(at, code, put(element, field, text), []place{at}, read{at: down(r.at, abi.Field(list), abi.Index(j), abi.Field(field))})
		}
	}
}

func (r *ruled) probabilities(list string) {
	r.repeats(list, "label", abi.CodeDuplicateLabel)
	for i := range r.list(list) {
		at := down(r.at, abi.Field(list), abi.Index(i), abi.Field("weight"))
		r.add(at, abi.CodeProbability, replace(at, mt.FloatNode(1.5)), []place{at})
	}
}

func (r *ruled) caseRules() {
	r.repeats("documents", "name", abi.CodeDuplicateName)
	labels := down(r.at, abi.Field("labels"))
	used := map[string]bool{}
	stranger := func(at place, field string) {
		element := down(at, abi.Field(field))
		r.add(element, abi.CodeNotALabel, put(at, field, mt.StringNode("no label")), []place{element}, read{at: labels, deep: true})
	}
	if light, ok := member(r.n, "light"); ok {
		if c, ok := member(light, "classification"); ok {
			used[c.Text] = true
		}
		stranger(down(r.at, abi.Field("light")), "classification")
	}
	evidence := r.list("evidence")
	for i := range evidence {
		if s, ok := member(&evidence[i], "supports"); ok {
			used[s.Text] = true
		}
		stranger(down(r.at, abi.Field("evidence"), abi.Index(i)), "supports")
	}
	items := r.list("labels")
	for i := range items {
		at := down(labels, abi.Index(i))
		if used[items[i].Text] {
			continue
		}
		r.add(at, abi.CodeEmpty, replace(at, mt.StringNode("")), []place{at})
		if i > 0 {
			r.add(at, abi.CodeDuplicateLabel, replace(at, items[0]), []place{at}, read{at: down(labels, abi.Index(0))})
		}
	}
}

// toggle makes an optional field absent, or there with a valid value.
func (r *ruled) toggle(field string, code abi.Code, v mt.Node, reads ...read) {
	at := down(r.at, abi.Field(field))
	apply := put(r.at, field, v)
	if _, there := member(r.n, field); there {
		apply = remove(r.at, field)
	}
	r.add(at, code, apply, []place{at}, reads...)
}

func (r *ruled) verdict() {
	decision := read{at: down(r.at, abi.Field("decision"))}
	r.toggle("final_classification", abi.CodeClassification, mt.StringNode("x"), decision)
	r.toggle("remand_feedback", abi.CodeRemandFeedback, mt.MapNode(mt.F("challenged", mt.ListNode()), mt.F("questions", mt.ListNode())), decision)
}

func (r *ruled) brief() {
	plea, motion := down(r.at, abi.Field("plea_deal")), down(r.at, abi.Field("motion_to_dismiss"))
	if _, there := member(r.n, "alternative_hypothesis"); there {
		return
	}
	r.add(motion, abi.CodeConcedesAndFights, func(root *mt.Node) {
		*find(root, plea), *find(root, motion) = mt.BoolNode(true), mt.BoolNode(true)
	}, []place{plea, motion}, read{at: down(r.at, abi.Field("alternative_hypothesis"))})
}

// exactlyOne makes the one alternative that is there absent, or adds another.
func (r *ruled) exactlyOne() {
	var alternatives []*model.Field
	for _, f := range r.of.Fields {
		if f.Pointer {
			alternatives = append(alternatives, f)
		}
	}
	for i, f := range alternatives {
		at := down(r.at, abi.Field(f.WireName))
		_, there := member(r.n, f.WireName)
		var reads []read
		for j, other := range alternatives {
			if _, one := member(r.n, other.WireName); i != j && (there || one) {
				reads = append(reads, read{at: down(r.at, abi.Field(other.WireName))})
			}
		}
		apply := put(r.at, f.WireName, least(f.Type))
		if there {
			apply = remove(r.at, f.WireName)
		}
		r.add(r.at, abi.CodeExactlyOne, apply, []place{at, down(r.at, abi.Field("one of them"))}, reads...)
	}
}

// failure adds one beside a list, or an element beside a failure.
func (r *ruled) failure(list string) {
	at, failure := down(r.at, abi.Field(list)), down(r.at, abi.Field("failure"))
	if _, failed := member(r.n, "failure"); failed {
		i := slices.IndexFunc(r.of.Fields, func(f *model.Field) bool { return f.WireName == list })
		r.add(at, abi.CodeExactlyOne, put(r.at, list, mt.ListNode(least(r.of.Fields[i].Type.Elem))), []place{at}, read{at: failure})
		return
	}
	if len(r.list(list)) > 0 {
		no := mt.MapNode(mt.F("code", mt.StringNode("no")), mt.F("message", mt.StringNode("")))
		r.add(at, abi.CodeExactlyOne, put(r.at, "failure", no), []place{failure}, read{at: at})
	}
}

// least gives a small valid value.
func least(t *model.Type) mt.Node {
	switch t.Kind {
	case model.String:
		return mt.StringNode("x")
	case model.Enum:
		if t.GoName == "Decision" {
			return mt.StringNode(string(abi.Acquit))
		}
		return mt.StringNode(t.Enum.Values[0].Value)
	case model.Bool:
		return mt.BoolNode(false)
	case model.Int:
		return mt.IntNode(1)
	case model.Float:
		return mt.FloatNode(0)
	case model.List, model.Map:
		n := mt.ListNode()
		if t.Kind == model.Map {
			n = mt.KeyedNode()
		} else if t.NonEmpty {
			n = mt.ListNode(least(t.Elem))
		}
		return n
	default:
		n := mt.MapNode()
		for _, f := range t.Struct.Fields {
			if f.Required() || t.GoName+"."+f.WireName == "Artifact.review" {
				n.Entries = append(n.Entries, mt.F(f.WireName, least(f.Type)))
			}
		}
		return n
	}
}
