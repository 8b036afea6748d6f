package main

import (
	"errors"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// rulesOf has what the Rules method of each type rejects.
var rulesOf = map[string]func(s *set, base mt.Node){
	"Case":         (*set).caseRules,
	"Verdict":      (*set).verdictRules,
	"DefenseBrief": (*set).briefRules,
	"RemandFeedback": func(s *set, base mt.Node) {
		s.reject("rule duplicate_id", with(base, "questions", mt.ListNode(question("a"), question("b"), question("a"), question("b"))),
			path("questions[2].id").is(abi.CodeDuplicateID), path("questions[3].id").is(abi.CodeDuplicateID))
	},
	"CourtConfig": func(s *set, base mt.Node) {
		s.reject("rule thresholds", with(with(base, "rejection_threshold", mt.FloatNode(0.86)), "activation_threshold", mt.FloatNode(0.85)),
			path("rejection_threshold").is(abi.CodeThresholds))
	},
	"Artifact": func(s *set, _ mt.Node) {
		s.exactlyOne("none")
		for i, f := range s.of.Fields {
			next := s.of.Fields[(i+1)%len(s.of.Fields)]
			s.exactlyOne(f.WireName+" and "+next.WireName, f.WireName, next.WireName)
		}
	},
	"NodeResponse": func(s *set, _ mt.Node) {
		s.exactlyOne("neither")
		s.exactlyOne("both", "artifact", "failure")
		s.exactlyOne("experiment and failure", "failure", "experiment")
		s.exactlyOne("experiment and completion", "experiment", "completion")
	},
	"Param": func(s *set, _ mt.Node) {
		s.exactlyOne("none")
		s.exactlyOne("number and text", "number", "text")
		s.exactlyOne("number and flag", "number", "flag")
		s.exactlyOne("text and flag", "text", "flag")
		s.exactlyOne("all", "number", "text", "flag")
	},
	"ContestResponse": func(s *set, _ mt.Node) { s.failsAlone("challenges") },
	"EdgeResponse":    func(s *set, _ mt.Node) { s.failsAlone("answers") },
	"JudgeResponse":   func(s *set, _ mt.Node) { s.failsAlone("opinions") },
	"SourceStatement": func(s *set, base mt.Node) {
		s.probabilities(base, "given")
		s.repeats(": elements", base, "elements", "element", abi.CodeDuplicateName)
	},
	"ElementLikelihood": func(s *set, base mt.Node) { s.probabilities(base, "given") },
	"SourceReliability": func(s *set, base mt.Node) {
		s.repeats(": statements", base, "statements", "says", abi.CodeDuplicateLabel)
	},
	"OutcomeModel": func(s *set, base mt.Node) {
		s.repeats(": shapes", base, "shapes", "name", abi.CodeDuplicateName)
		s.repeats(": patterns", base, "patterns", "name", abi.CodeDuplicateName)
	},
	"OutcomePattern": func(s *set, base mt.Node) { s.labelsOnce(base, "labels") },
	"Signal":         func(s *set, base mt.Node) { s.labelsOnce(base, "weights") },
	"AuditReport":    (*set).reportRules,
	"Profile":        (*set).profileRules,
}

// rules adds what the Rules method of the type rejects. A type that has one and no vectors here is an error.
func (s *set) rules() {
	if rules := rulesOf[s.of.GoName]; rules != nil {
		rules(s, sampleStruct(s.of, minimal, 0))
	} else if s.of.HasRules {
		s.err = errors.New("the type has rules and no vectors show them")
	}
}

func (s *set) field(name string) *model.Field {
	return s.of.Fields[slices.IndexFunc(s.of.Fields, func(f *model.Field) bool { return f.WireName == name })]
}

// part is a sample of what a field, or an element of it, holds.
func (s *set) part(name string, how size) mt.Node {
	t := s.field(name).Type
	for t.Elem != nil {
		t = t.Elem
	}
	return sampleStruct(t.Struct, how, 0)
}

// exactlyOne has some of the fields of which there must be one.
func (s *set) exactlyOne(what string, fields ...string) {
	message := mt.MapNode()
	for _, f := range s.of.Fields {
		if f.Required() {
			message = with(message, f.WireName, sampleField(s.of, f, minimal, 0))
		}
	}
	for _, name := range fields {
		message = with(message, name, sampleField(s.of, s.field(name), minimal, 0))
	}
	s.reject("rule exactly_one: "+what, message, root.is(abi.CodeExactlyOne))
}

func (s *set) failsAlone(list string) {
	s.reject("rule exactly_one: a failure beside "+list,
		mt.MapNode(mt.F(list, mt.ListNode(s.part(list, minimal))), mt.F("failure", s.part("failure", minimal))), path(list).is(abi.CodeExactlyOne))
}

// repeats shows that no two elements of a list may have the same value in a field.
func (s *set) repeats(what string, base mt.Node, list, field string, code abi.Code) {
	element := s.part(list, minimal)
	s.reject("rule "+string(code)+what, with(base, list, mt.ListNode(element, element)), path(list).index(1).field(field).is(code))
}

// labelsOnce shows that a label has one weight.
func (s *set) labelsOnce(base mt.Node, list string) {
	weight, at := with(s.part(list, minimal), "weight", mt.FloatNode(0.5)), path(list)
	s.reject("rule duplicate_label: "+list, with(base, list, mt.ListNode(weight, weight, weight)),
		at.index(1).field("label").is(abi.CodeDuplicateLabel), at.index(2).field("label").is(abi.CodeDuplicateLabel))
}

func (s *set) caseRules(base mt.Node) {
	text := mt.StringNode
	label := path("labels")
	set := func(name string, v mt.Node) mt.Node { return with(base, name, v) }
	s.reject("rule empty label", set("labels", mt.ListNode(text("pb001"), text(""))), label.index(1).is(abi.CodeEmpty))
	s.reject("rule duplicate_label", set("labels", mt.ListNode(text("a"), text("b"), text("a"), text("a"))),
		label.index(2).is(abi.CodeDuplicateLabel), label.index(3).is(abi.CodeDuplicateLabel))
	light := with(s.part("light", minimal), "classification", text("zz999"))
	s.reject("rule not_a_label: light", set("light", light), path("light.classification").is(abi.CodeNotALabel))
	item := s.part("evidence", minimal)
	s.reject("rule not_a_label: evidence", set("evidence", mt.ListNode(item, with(item, "supports", text("zz999")))),
		path("evidence[1].supports").is(abi.CodeNotALabel))
	document := func(name string) mt.Node {
		return with(s.part("documents", minimal), "name", text(name))
	}
	s.reject("rule duplicate_name", set("documents", mt.ListNode(document("log"), document("diff"), document("log"))),
		path("documents[2].name").is(abi.CodeDuplicateName))
	s.reject("rules, several in their order", with(with(set("light", light), "labels", mt.ListNode(text("a"), text("a"))),
		"documents", mt.ListNode(document("log"), document("log"))),
		label.index(1).is(abi.CodeDuplicateLabel), path("light.classification").is(abi.CodeNotALabel), path("documents[1].name").is(abi.CodeDuplicateName))
	s.reject("rules of sound fields beside another that is not", with(set("labels", mt.ListNode(text("a"), text("a"))), "subject", mt.IntNode(1)),
		path("subject").is(abi.CodeWrongType), label.index(1).is(abi.CodeDuplicateLabel))
	s.reject("rules, none of a label that was not read", with(set("labels", mt.ListNode(text("a"), mt.IntNode(1), text("b"), text("a"))), "light", light),
		label.index(1).is(abi.CodeWrongType), label.index(3).is(abi.CodeDuplicateLabel))
	s.reject("rules, none of two names that were not read", set("documents", mt.ListNode(document(""), document(""))),
		path("documents[0].name").is(abi.CodeEmpty), path("documents[1].name").is(abi.CodeEmpty))
}

func (s *set) verdictRules(base mt.Node) {
	final, feedback := path("final_classification"), path("remand_feedback")
	asked := s.part("remand_feedback", minimal)
	decide := func(decision string) mt.Node { return with(base, "decision", mt.StringNode(decision)) }
	label := func(n mt.Node) mt.Node { return with(n, "final_classification", mt.StringNode("pb001")) }
	for _, d := range []string{"affirm", "amend"} {
		s.reject("rule classification: "+d+" without one", decide(d), final.is(abi.CodeClassification))
		s.reject("rule classification: "+d+" with an empty one", with(decide(d), "final_classification", mt.StringNode("")), final.is(abi.CodeClassification))
		s.reject("rule remand_feedback: "+d+" with feedback", with(label(decide(d)), "remand_feedback", asked), feedback.is(abi.CodeRemandFeedback))
		s.reject("rules, "+d+" with feedback and no classification", with(decide(d), "remand_feedback", asked),
			final.is(abi.CodeClassification), feedback.is(abi.CodeRemandFeedback))
	}
	for _, d := range []string{"acquit", "mistrial"} {
		s.reject("rule classification: "+d+" with one", label(decide(d)), final.is(abi.CodeClassification))
		s.reject("rule remand_feedback: "+d+" with feedback", with(decide(d), "remand_feedback", asked), feedback.is(abi.CodeRemandFeedback))
	}
	s.reject("rule classification: remand with one", with(label(decide("remand")), "remand_feedback", asked), final.is(abi.CodeClassification))
	s.reject("rule remand_feedback: remand without", decide("remand"), feedback.is(abi.CodeRemandFeedback))
	again := with(asked, "questions", mt.ListNode(question("q"), question("q")))
	s.reject("rules, those inside first", with(label(decide("remand")), "remand_feedback", again),
		path("remand_feedback.questions[1].id").is(abi.CodeDuplicateID), final.is(abi.CodeClassification))
	s.reject("rules inside, after another problem", with(with(decide("remand"), "confidence", mt.FloatNode(1.5)), "remand_feedback", again),
		path("confidence").is(abi.CodeOutOfRange), path("remand_feedback.questions[1].id").is(abi.CodeDuplicateID))
	s.reject("rules, none of a decision that was not read", label(with(decide("nonsense"), "remand_feedback", asked)),
		path("decision").is(abi.CodeInvalidValue))
}

func (s *set) briefRules(base mt.Node) {
	plea := with(base, "plea_deal", mt.BoolNode(true))
	alternative := s.part("alternative_hypothesis", minimal)
	motion, other := path("motion_to_dismiss").is(abi.CodeConcedesAndFights), path("alternative_hypothesis").is(abi.CodeConcedesAndFights)
	moving := with(plea, "motion_to_dismiss", mt.BoolNode(true))
	s.reject("rule concedes_and_fights: motion", moving, motion)
	s.reject("rule concedes_and_fights: alternative", with(plea, "alternative_hypothesis", alternative), other)
	s.reject("rule concedes_and_fights: both", with(moving, "alternative_hypothesis", alternative), motion, other)
}

func question(id string) mt.Node {
	return mt.MapNode(mt.F("id", mt.StringNode(id)), mt.F("question", mt.StringNode("x")))
}

// probabilities shows that weights are probabilities above 0, one for a label.
func (s *set) probabilities(base mt.Node, list string) {
	weight := func(label string, w mt.Node) mt.Node {
		return mt.MapNode(mt.F("label", mt.StringNode(label)), mt.F("weight", w))
	}
	at := func(i int) problem { return path(list).index(i).field("weight").is(abi.CodeProbability) }
	s.reject("rule probability: "+list, with(base, list, mt.ListNode(
		weight("a", mt.FloatNode(0)), weight("b", mt.FloatNode(1)), weight("c", mt.FloatNode(1.0000000000000002)), weight("d", mt.FloatNode(-0.1)),
		weight("e", mt.FloatNode(5e-324)), weight("f", mt.IntNode(2)))), at(0), at(2), at(3), at(5))
	s.labelsOnce(base, list)
}

func (s *set) profileRules(base mt.Node) {
	s.probabilities(base, "base_rates")
	s.repeats("", base, "sources", "source", abi.CodeDuplicateName)
	phrase := func(p string) mt.Node {
		return with(s.part("signals", minimal), "phrase", mt.StringNode(p))
	}
	s.reject("rule duplicate_name: phrases", with(base, "signals", mt.ListNode(phrase("EOF"), phrase("eof"), phrase("\u00c4"), phrase("\u00e4"))),
		path("signals[1].phrase").is(abi.CodeDuplicateName))
}

// reported gives a report with results of these scores.
func reported(base mt.Node, scores ...int64) mt.Node {
	list := mt.ListNode()
	for i, score := range scores {
		list.Items = append(list.Items, mt.MapNode(
			mt.F("criterion_id", mt.StringNode("c"+strconv.Itoa(i))), mt.F("numeric_score", mt.IntNode(score)), mt.F("reasoning", mt.StringNode("")),
			mt.F("relevance_confidence", mt.FloatNode(1)), mt.F("security_violation_found", mt.BoolNode(false))))
	}
	return with(base, "results", list)
}

// reportRules shows that the score can be a mean of the results, and that a criterion has one.
func (s *set) reportRules(base mt.Node) {
	score := path("global_score").is(abi.CodeGlobalScore)
	scored := func(report mt.Node, v float64) mt.Node { return with(report, "global_score", mt.FloatNode(v)) }
	s.reject("rule global_score: one without results", scored(base, 0.1), score)
	s.reject("rule global_score: 0 with results", scored(reported(base, 2, 3), 0), score)
	s.reject("rule global_score: below the least result", scored(reported(base, 2, 3), 1.9), score)
	s.reject("rule global_score: above the greatest result", scored(reported(base, 2, 3), 3.1), score)
	s.reject("rule global_score: of two decimals", scored(reported(base, 2, 3), 2.25), score)
	s.reject("rule global_score: beside one of a decimal", scored(reported(base, 2, 3), 2.3000000000000003), score)
	results := mt.ListNode(with(reported(base, 5).Entries[0].Value.Items[0], "security_violation_found", mt.BoolNode(true)))
	s.reject("rule global_score: of a violation above its cap", scored(with(base, "results", results), 3.1), score)
	s.accept("global_score of a violation at its cap", scored(with(base, "results", results), 3))
	again := reported(base, 2, 2, 2)
	items := again.Entries[0].Value.Items
	items[2] = with(items[2], "criterion_id", mt.StringNode("c0"))
	s.reject("rule duplicate_id", scored(again, 2), path("results[2].criterion_id").is(abi.CodeDuplicateID))
	s.reject("rules, none of a score that was not read", with(reported(base, 7), "global_score", mt.FloatNode(0)),
		path("results[0].numeric_score").is(abi.CodeOutOfRange))
}

// validByRules adds what the rules of the type allow.
func (s *set) validByRules() {
	base := sampleStruct(s.of, minimal, 0)
	text := mt.StringNode
	switch s.of.GoName {
	case "Verdict":
		for _, d := range []string{"affirm", "amend"} {
			s.accept("decision "+d, with(with(base, "decision", text(d)), "final_classification", text("pb001")))
		}
		s.accept("decision mistrial", with(base, "decision", text("mistrial")))
		s.accept("acquit with an empty classification", with(base, "final_classification", text("")))
	case "DefenseBrief":
		s.accept("plea_deal true", with(base, "plea_deal", mt.BoolNode(true)))
	case "CourtConfig":
		s.accept("equal thresholds", with(with(base, "activation_threshold", mt.FloatNode(0.5)), "rejection_threshold", mt.FloatNode(0.5)))
	case "Param":
		none := without(base, "number")
		s.accept("text", with(none, "text", text("a")))
		s.accept("text that is empty", with(none, "text", text("")))
		s.accept("flag false", with(none, "flag", mt.BoolNode(false)))
		s.accept("flag true", with(none, "flag", mt.BoolNode(true)))
	case "ContestResponse", "EdgeResponse", "JudgeResponse":
		s.accept("a failure", with(base, "failure", s.part("failure", full)))
	case "NodeResponse":
		s.accept("an experiment", mt.MapNode(mt.F("experiment", s.part("experiment", full))))
		s.accept("a completion", mt.MapNode(mt.F("completion", s.part("completion", full))))
	case "AuditReport":
		s.accept("global_score 0, an integer", with(base, "global_score", mt.IntNode(0)))
		s.accept("global_score float 32 of 2.5", with(reported(base, 2, 3), "global_score", mt.Float32Node(2.5)))
		for _, v := range []float64{2, 2.1, 3.3, 4.9, 5} {
			s.accept("global_score "+strconv.FormatFloat(v, 'g', -1, 64)+" of 2, 5", with(reported(base, 2, 5), "global_score", mt.FloatNode(v)))
		}
	case "LabelWeight":
		s.accept("weight 0", with(base, "weight", mt.FloatNode(0)))
		s.accept("weight -20", with(base, "weight", mt.FloatNode(-20)))
	}
}
