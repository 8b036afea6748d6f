package main

import (
	"encoding/hex"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

func hexOf(n mt.Node) string { return hex.EncodeToString(n.Bytes()) }

// sub gives the struct type of a field, or of its elements.
func (s *set) sub(name string) *model.StructType {
	for _, f := range s.of.Fields {
		if f.WireName != name {
			continue
		}
		t := f.Type
		for t.Elem != nil {
			t = t.Elem
		}
		return t.Struct
	}
	return nil
}

// rules adds what the Rules method of the type rejects. A type that has one
// and no vectors here is an error.
func (s *set) rules() {
	before := len(s.vectors)
	base := sampleStruct(s.of, minimal, 0)
	switch s.of.GoName {
	case "Case":
		s.caseRules(base)
	case "Verdict":
		s.verdictRules(base)
	case "DefenseBrief":
		s.briefRules(base)
	case "RemandFeedback":
		s.feedbackRules(base)
	case "CourtConfig":
		s.reject("rule thresholds", with(with(base, "rejection_threshold", mt.FloatNode(0.86)), "activation_threshold", mt.FloatNode(0.85)),
			path("rejection_threshold").is(abi.CodeThresholds))
	case "Artifact":
		s.artifactRules()
	case "NodeResponse":
		both := mt.MapNode(mt.F("artifact", sampleStruct(s.sub("artifact"), minimal, 0)), mt.F("failure", sampleStruct(s.sub("failure"), minimal, 0)))
		s.reject("rule exactly_one: neither", mt.MapNode(), root.is(abi.CodeExactlyOne))
		s.reject("rule exactly_one: both", both, root.is(abi.CodeExactlyOne))
		s.reject("rule exactly_one: experiment and failure", mt.MapNode(mt.F("failure", sampleStruct(s.sub("failure"), minimal, 0)),
			mt.F("experiment", sampleStruct(s.sub("experiment"), minimal, 0))), root.is(abi.CodeExactlyOne))
		s.reject("rule exactly_one: experiment and completion", mt.MapNode(mt.F("experiment", sampleStruct(s.sub("experiment"), minimal, 0)),
			mt.F("completion", sampleStruct(s.sub("completion"), minimal, 0))), root.is(abi.CodeExactlyOne))
	case "ContestResponse":
		s.failureRule("challenges")
	case "EdgeResponse":
		s.failureRule("answers")
	case "JudgeResponse":
		s.failureRule("opinions")
	case "Param":
		s.paramRules(base)
	case "SourceStatement":
		s.weightRules(base, "given")
		s.labelsOnce(base, "given")
		s.twice(base, "elements", "element")
	case "ElementLikelihood":
		s.weightRules(base, "given")
		s.labelsOnce(base, "given")
	case "SourceReliability":
		s.statementRules(base)
	case "OutcomeLikelihood":
		s.weightRules(base, "given")
		s.labelsOnce(base, "given")
	case "ExperimentTable":
		s.twice(base, "outcomes", "outcome")
	case "Signal":
		s.labelsOnce(base, "weights")
	case "AuditReport":
		s.reportRules(base)
	case "Profile":
		s.profileRules(base)
	}
	if s.of.HasRules && len(s.vectors) == before {
		s.err = errNoRuleVectors
	}
}

func (s *set) caseRules(base mt.Node) {
	text := mt.StringNode
	label := path("labels")
	set := func(name string, v mt.Node) mt.Node { return with(base, name, v) }
	s.reject("rule empty label", set("labels", mt.ListNode(text("pb001"), text(""))), label.index(1).is(abi.CodeEmpty))
	s.reject("rule duplicate_label", set("labels", mt.ListNode(text("a"), text("b"), text("a"), text("a"))),
		label.index(2).is(abi.CodeDuplicateLabel), label.index(3).is(abi.CodeDuplicateLabel))
	light := with(sampleStruct(s.sub("light"), minimal, 0), "classification", text("zz999"))
	s.reject("rule not_a_label: light", set("light", light), path("light.classification").is(abi.CodeNotALabel))
	item := sampleStruct(s.sub("evidence"), minimal, 0)
	s.reject("rule not_a_label: evidence", set("evidence", mt.ListNode(item, with(item, "supports", text("zz999")))),
		path("evidence[1].supports").is(abi.CodeNotALabel))
	document := func(name string) mt.Node {
		return with(sampleStruct(s.sub("documents"), minimal, 0), "name", text(name))
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
	asked := sampleStruct(s.sub("remand_feedback"), minimal, 0)
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
	question := mt.MapNode(mt.F("id", mt.StringNode("q")), mt.F("question", mt.StringNode("x")))
	again := with(asked, "questions", mt.ListNode(question, question))
	s.reject("rules, those inside first", with(label(decide("remand")), "remand_feedback", again),
		path("remand_feedback.questions[1].id").is(abi.CodeDuplicateID), final.is(abi.CodeClassification))
	s.reject("rules inside, after another problem", with(with(decide("remand"), "confidence", mt.FloatNode(1.5)), "remand_feedback", again),
		path("confidence").is(abi.CodeOutOfRange), path("remand_feedback.questions[1].id").is(abi.CodeDuplicateID))
	s.reject("rules, none of a decision that was not read", label(with(decide("nonsense"), "remand_feedback", asked)),
		path("decision").is(abi.CodeInvalidValue))
}

func (s *set) briefRules(base mt.Node) {
	plea := with(base, "plea_deal", mt.BoolNode(true))
	alternative := sampleStruct(s.sub("alternative_hypothesis"), minimal, 0)
	motion, other := path("motion_to_dismiss").is(abi.CodeConcedesAndFights), path("alternative_hypothesis").is(abi.CodeConcedesAndFights)
	moving := with(plea, "motion_to_dismiss", mt.BoolNode(true))
	s.reject("rule concedes_and_fights: motion", moving, motion)
	s.reject("rule concedes_and_fights: alternative", with(plea, "alternative_hypothesis", alternative), other)
	s.reject("rule concedes_and_fights: both", with(moving, "alternative_hypothesis", alternative), motion, other)
}

func (s *set) feedbackRules(base mt.Node) {
	question := func(id string) mt.Node {
		return mt.MapNode(mt.F("id", mt.StringNode(id)), mt.F("question", mt.StringNode("x")))
	}
	s.reject("rule duplicate_id", with(base, "questions", mt.ListNode(question("a"), question("b"), question("a"), question("b"))),
		path("questions[2].id").is(abi.CodeDuplicateID), path("questions[3].id").is(abi.CodeDuplicateID))
}

func (s *set) artifactRules() {
	s.reject("rule exactly_one: none", mt.MapNode(), root.is(abi.CodeExactlyOne))
	for i, f := range s.of.Fields {
		next := s.of.Fields[(i+1)%len(s.of.Fields)]
		s.reject("rule exactly_one: "+f.WireName+" and "+next.WireName, mt.MapNode(
			mt.F(f.WireName, sampleStruct(f.Type.Struct, minimal, 0)),
			mt.F(next.WireName, sampleStruct(next.Type.Struct, minimal, 0))), root.is(abi.CodeExactlyOne))
	}
}

func (s *set) failureRule(list string) {
	s.reject("rule exactly_one: a failure beside "+list, mt.MapNode(
		mt.F(list, mt.ListNode(sampleStruct(s.sub(list), minimal, 0))),
		mt.F("failure", sampleStruct(s.sub("failure"), minimal, 0))), path(list).is(abi.CodeExactlyOne))
}

func (s *set) paramRules(base mt.Node) {
	text, flag := mt.F("text", mt.StringNode("")), mt.F("flag", mt.BoolNode(false))
	none := without(base, "number")
	s.reject("rule exactly_one: none", none, root.is(abi.CodeExactlyOne))
	s.reject("rule exactly_one: number and text", appended(base, text), root.is(abi.CodeExactlyOne))
	s.reject("rule exactly_one: number and flag", appended(base, flag), root.is(abi.CodeExactlyOne))
	s.reject("rule exactly_one: text and flag", appended(appended(none, text), flag), root.is(abi.CodeExactlyOne))
	s.reject("rule exactly_one: all", appended(appended(base, text), flag), root.is(abi.CodeExactlyOne))
}

// weightRules shows that weights are probabilities above 0.
func (s *set) weightRules(base mt.Node, list string) {
	weight := func(label string, w mt.Node) mt.Node {
		return mt.MapNode(mt.F("label", mt.StringNode(label)), mt.F("weight", w))
	}
	at := func(i int) problem { return path(list).index(i).field("weight").is(abi.CodeProbability) }
	s.reject("rule probability: "+list, with(base, list, mt.ListNode(
		weight("a", mt.FloatNode(0)), weight("b", mt.FloatNode(1)), weight("c", mt.FloatNode(1.0000000000000002)), weight("d", mt.FloatNode(-0.1)),
		weight("e", mt.FloatNode(5e-324)), weight("f", mt.IntNode(2)))), at(0), at(2), at(3), at(5))
}

func (s *set) profileRules(base mt.Node) {
	s.weightRules(base, "base_rates")
	s.labelsOnce(base, "base_rates")
	source := sampleStruct(s.sub("sources"), minimal, 0)
	s.reject("rule duplicate_name", with(base, "sources", mt.ListNode(source, source)), path("sources[1].source").is(abi.CodeDuplicateName))
	cause := sampleStruct(s.sub("causes"), minimal, 0)
	s.reject("rule duplicate_name: causes", with(base, "causes", mt.ListNode(cause, cause)), path("causes[1].name").is(abi.CodeDuplicateName))
	phrase := func(p string) mt.Node {
		return with(sampleStruct(s.sub("signals"), minimal, 0), "phrase", mt.StringNode(p))
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

// labelsOnce shows that a label has one weight.
func (s *set) labelsOnce(base mt.Node, list string) {
	weight := sampleStruct(s.sub(list), minimal, 0)
	weight = with(weight, "weight", mt.FloatNode(0.5))
	s.reject("rule duplicate_label: "+list, with(base, list, mt.ListNode(weight, weight, weight)),
		path(list).index(1).field("label").is(abi.CodeDuplicateLabel), path(list).index(2).field("label").is(abi.CodeDuplicateLabel))
}

// twice shows that no two elements of a list may have the same value in a field.
func (s *set) twice(base mt.Node, list, field string) {
	element := sampleStruct(s.sub(list), minimal, 0)
	s.reject("rule duplicate_name: "+list, with(base, list, mt.ListNode(element, element)), path(list).index(1).field(field).is(abi.CodeDuplicateName))
}

// statementRules shows that a source says the same once.
func (s *set) statementRules(base mt.Node) {
	statement := sampleStruct(s.sub("statements"), minimal, 0)
	s.reject("rule duplicate_label: statements", with(base, "statements", mt.ListNode(statement, statement)),
		path("statements[1].says").is(abi.CodeDuplicateLabel))
}
