package abi

import "strconv"

// Rules across the fields of one type. The decoders call Rules after the value was read; paths are relative to it. A part that was rejected
// has a value that means nothing: before a rule reports, it asks the collector whether the parts that it compares are sound. It reports all
// the same where other parts are not.

// Rules checks that labels are not empty and differ, that Light and the items name labels of the case, and that document names differ.
func (v *Case) Rules(c *Collector) {
	for i, label := range v.Labels {
		if label == "" && c.Sound(Field("labels"), Index(i)) {
			c.Add(CodeEmpty, "is empty", Field("labels"), Index(i))
		}
	}
	differ(c, "labels", "", len(v.Labels), func(i int) string { return v.Labels[i] }, CodeDuplicateLabel, "this label")
	v.namesLabels(c)
	differ(c, "documents", "name", len(v.Documents), func(i int) string { return v.Documents[i].Name }, CodeDuplicateName, "a document of this name")
}

func (v *Case) namesLabels(c *Collector) {
	if !c.Whole(Field("labels")) {
		return
	}
	if v.Light != nil && !IsLabel(v.Labels, v.Light.Classification) && c.Sound(Field("light"), Field("classification")) {
		c.Add(CodeNotALabel, notALabel(v.Light.Classification), Field("light"), Field("classification"))
	}
	for i := range v.Evidence {
		if s := v.Evidence[i].Supports; s != "" && !IsLabel(v.Labels, s) && c.Sound(Field("evidence"), Index(i), Field("supports")) {
			c.Add(CodeNotALabel, notALabel(s), Field("evidence"), Index(i), Field("supports"))
		}
	}
}

// Rules checks that a verdict does not contradict itself: affirm and amend carry a classification, the others carry none; remand, and only
// remand, carries feedback.
func (v *Verdict) Rules(c *Collector) {
	if !c.Sound(Field("decision")) {
		return
	}
	if c.Sound(Field("final_classification")) {
		decides := v.Decision == Affirm || v.Decision == Amend
		if decides && v.FinalClassification == "" {
			c.Add(CodeClassification, string(v.Decision)+" needs a final classification", Field("final_classification"))
		}
		if !decides && v.FinalClassification != "" {
			c.Add(CodeClassification, string(v.Decision)+" carries no final classification", Field("final_classification"))
		}
	}
	if !c.Sound(Field("remand_feedback")) {
		return
	}
	if v.Decision == Remand && v.RemandFeedback == nil {
		c.Add(CodeRemandFeedback, "remand needs feedback", Field("remand_feedback"))
	}
	if v.Decision != Remand && v.RemandFeedback != nil {
		c.Add(CodeRemandFeedback, string(v.Decision)+" carries no feedback", Field("remand_feedback"))
	}
}

// Rules checks that a defense that concedes neither moves to dismiss nor holds an alternative.
func (v *DefenseBrief) Rules(c *Collector) {
	if !v.PleaDeal || !c.Sound(Field("plea_deal")) {
		return
	}
	if v.MotionToDismiss && c.Sound(Field("motion_to_dismiss")) {
		c.Add(CodeConcedesAndFights, "a plea deal excludes a motion to dismiss", Field("motion_to_dismiss"))
	}
	if v.AlternativeHypothesis != nil && c.Sound(Field("alternative_hypothesis")) {
		c.Add(CodeConcedesAndFights, "a plea deal excludes an alternative hypothesis", Field("alternative_hypothesis"))
	}
}

// Rules checks that question ids differ.
func (v *RemandFeedback) Rules(c *Collector) {
	differ(c, "questions", "id", len(v.Questions), func(i int) string { return v.Questions[i].ID }, CodeDuplicateID, "a question of this id")
}

// Rules checks that the rejection threshold is not above the activation threshold.
func (v *CourtConfig) Rules(c *Collector) {
	if v.RejectionThreshold > v.ActivationThreshold && c.Sound(Field("rejection_threshold")) && c.Sound(Field("activation_threshold")) {
		c.Add(CodeThresholds, "is above activation_threshold", Field("rejection_threshold"))
	}
}

// Rules checks that exactly one artifact is there.
func (v *Artifact) Rules(c *Collector) {
	exactlyOne(
		c, "artifact",
		part{"indictment", v.Indictment != nil}, part{"discovery", v.Discovery != nil}, part{"defense_brief", v.DefenseBrief != nil},
		part{"hearing_turn", v.HearingTurn != nil}, part{"hearing", v.Hearing != nil}, part{"verdict", v.Verdict != nil},
		part{"recall", v.Recall != nil}, part{"triage", v.Triage != nil}, part{"resolve", v.Resolve != nil},
		part{"investigate", v.Investigate != nil}, part{"correlate", v.Correlate != nil}, part{"review", v.Review != nil},
		part{"report", v.Report != nil},
	)
}

// Rules checks that there is an artifact, a failure, an experiment or a completion, and one of them alone.
func (v *NodeResponse) Rules(c *Collector) {
	exactlyOne(c, "of artifact, failure, experiment and completion", part{"artifact", v.Artifact != nil}, part{"failure", v.Failure != nil},
		part{"experiment", v.Experiment != nil}, part{"completion", v.Completion != nil})
}

// Rules checks that a failure brings no challenges.
func (v *ContestResponse) Rules(c *Collector) {
	failsAlone(c, v.Failure, "challenges", len(v.Challenges))
}

// Rules checks that a failure brings no answers.
func (v *EdgeResponse) Rules(c *Collector) { failsAlone(c, v.Failure, "answers", len(v.Answers)) }

// Rules checks that a failure brings no opinions.
func (v *JudgeResponse) Rules(c *Collector) { failsAlone(c, v.Failure, "opinions", len(v.Opinions)) }

func failsAlone(c *Collector, failure *Failure, list string, n int) {
	if failure != nil && n > 0 && c.Sound(Field("failure")) && c.Sound(Field(list)) {
		c.Add(CodeExactlyOne, "a failure excludes "+list, Field(list))
	}
}

// Rules checks that exactly one value is there.
func (v *Param) Rules(c *Collector) {
	exactlyOne(c, "of number, text and flag", part{"number", v.Number != nil}, part{"text", v.Text != nil}, part{"flag", v.Flag != nil})
}

// Rules checks that likelihoods are probabilities above 0, one for a label, and that an element is listed once.
func (v *SourceStatement) Rules(c *Collector) {
	probabilities(c, v.Given, "given")
	differ(c, "elements", "element", len(v.Elements), func(i int) string { return string(v.Elements[i].Element) }, CodeDuplicateName, "this element")
}

// Rules checks that likelihoods are probabilities above 0, one for a label.
func (v *ElementLikelihood) Rules(c *Collector) { probabilities(c, v.Given, "given") }

// Rules checks that shapes and patterns have names of their own.
func (v *OutcomeModel) Rules(c *Collector) {
	differ(c, "shapes", "name", len(v.Shapes), func(i int) string { return v.Shapes[i].Name }, CodeDuplicateName, "this shape")
	differ(c, "patterns", "name", len(v.Patterns), func(i int) string { return v.Patterns[i].Name }, CodeDuplicateName, "this pattern")
}

// Rules checks that a label has one weight.
func (v *OutcomePattern) Rules(c *Collector) { labelsOnce(c, v.Labels, "labels") }

// Rules checks that a source says the same once.
func (v *SourceReliability) Rules(c *Collector) {
	differ(c, "statements", "says", len(v.Statements), func(i int) string { return v.Statements[i].Says }, CodeDuplicateLabel, "this statement")
}

// Rules checks that a label has one weight.
func (v *Signal) Rules(c *Collector) { labelsOnce(c, v.Weights, "weights") }

// Rules checks that base rates are probabilities above 0, and that labels, sources and phrases are named once, phrases in any case.
func (v *Profile) Rules(c *Collector) {
	probabilities(c, v.BaseRates, "base_rates")
	differ(c, "sources", "source", len(v.Sources), func(i int) string { return v.Sources[i].Source }, CodeDuplicateName, "this source")
	phrases := make([]string, len(v.Signals))
	for i := range v.Signals {
		phrases[i] = lower(v.Signals[i].Phrase)
	}
	differ(c, "signals", "phrase", len(phrases), func(i int) string { return phrases[i] }, CodeDuplicateName, "this phrase")
}

// Rules checks that a criterion has one result, and that the global score can be a mean of the results. Which of them it is depends on the
// weights, which are the rubric's: see SPEC.md §9.3.
func (v *AuditReport) Rules(c *Collector) {
	differ(c, "results", "criterion_id", len(v.Results), func(i int) string { return v.Results[i].CriterionID }, CodeDuplicateID, "a result of this criterion")
	if !c.Sound(Field("results")) || !c.Sound(Field("global_score")) {
		return
	}
	least, most := 0, 0
	for i := range v.Results {
		if !c.Sound(Field("results"), Index(i), Field("numeric_score")) || !c.Sound(Field("results"), Index(i), Field("security_violation_found")) {
			return
		}
		n := v.Results[i].Counted()
		if i == 0 {
			least = n
		}
		least, most = min(least, n), max(most, n)
	}
	tenths := int(v.GlobalScore*10 + 0.5)
	if float64(tenths)/10 != v.GlobalScore || tenths < 10*least || tenths > 10*most {
		c.Add(CodeGlobalScore, "is no mean of results from "+strconv.Itoa(least)+" to "+strconv.Itoa(most)+", with one decimal", Field("global_score"))
	}
}

func probabilities(c *Collector, list []LabelWeight, field string) {
	for i := range list {
		if w := list[i].Weight; (w <= 0 || w > 1) && c.Sound(Field(field), Index(i), Field("weight")) {
			c.Add(CodeProbability, "is outside (0, 1]", Field(field), Index(i), Field("weight"))
		}
	}
	labelsOnce(c, list, field)
}

func labelsOnce(c *Collector, list []LabelWeight, field string) {
	differ(c, field, "label", len(list), func(i int) string { return list[i].Label }, CodeDuplicateLabel, "this label")
}

// lower folds ASCII letters; what has none that are large stays what it is.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return folded(s)
		}
	}
	return s
}

func folded(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if 'A' <= ch && ch <= 'Z' {
			b[i] = ch + 'a' - 'A'
		}
	}
	return string(b)
}

// part is an optional field, and whether it is there.
type part struct {
	field string
	there bool
}

// exactlyOne counts parts. One that was rejected may have been meant or not.
func exactlyOne(c *Collector, what string, parts ...part) {
	least, most := 0, 0
	for _, p := range parts {
		switch {
		case !c.Sound(Field(p.field)):
			most++
		case p.there:
			least++
			most++
		}
	}
	if most == 0 {
		c.Add(CodeExactlyOne, "there is no "+what)
	}
	if least > 1 {
		c.Add(CodeExactlyOne, "there is more than one "+what)
	}
}

// few texts are compared with each other, which takes no memory: guests check what they are sent as well.
const few = 64

// differ reports each of n texts that an earlier one equals, in time that is linear beyond a few: the lists come from modules. The
// texts are those of a field of a list's elements, or the elements themselves where field is empty, which are no problem where they are empty.
func differ(c *Collector, list, field string, n int, value func(int) string, code Code, what string) {
	path := func(i int) []PathElement {
		if field == "" {
			return []PathElement{Field(list), Index(i)}
		}
		return []PathElement{Field(list), Index(i), Field(field)}
	}
	var seen map[string]bool
	if n > few {
		seen = make(map[string]bool, n)
	}
	for i := range n {
		text, repeats := value(i), false
		switch {
		case field == "" && text == "":
		case seen != nil && c.Sound(path(i)...):
			repeats, seen[text] = seen[text], true
		case seen == nil:
			for j := 0; j < i && !repeats; j++ {
				repeats = value(j) == text && c.Sound(path(i)...) && c.Sound(path(j)...)
			}
		}
		if repeats {
			c.Add(code, what+" stands before", path(i)...)
		}
	}
}
