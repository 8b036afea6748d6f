package abi

// Rules across the fields of one type. The decoders call Rules after all
// fields of the value were read without a problem; paths are relative to it.

// Rules checks that labels are not empty and differ, that Light and the items
// name labels of the case, and that document names differ.
func (v *Case) Rules(c *Collector) {
	checkLabels(c, v.Labels)
	if v.Light != nil && !IsLabel(v.Labels, v.Light.Classification) {
		c.Add(CodeNotALabel, notALabel(v.Light.Classification), Field("light"), Field("classification"))
	}
	for i := range v.Evidence {
		if s := v.Evidence[i].Supports; s != "" && !IsLabel(v.Labels, s) {
			c.Add(CodeNotALabel, notALabel(s), Field("evidence"), Index(i), Field("supports"))
		}
	}
	eachRepeat(len(v.Documents), func(i int) string { return v.Documents[i].Name }, func(i int) {
		c.Add(CodeDuplicateName, "a document of this name stands before", Field("documents"), Index(i), Field("name"))
	})
}

// Rules checks that a verdict does not contradict itself: affirm and amend
// carry a classification, the others carry none; remand, and only remand,
// carries feedback.
func (v *Verdict) Rules(c *Collector) {
	decides := v.Decision == Affirm || v.Decision == Amend
	if decides && v.FinalClassification == "" {
		c.Add(CodeClassification, string(v.Decision)+" needs a final classification", Field("final_classification"))
	}
	if !decides && v.FinalClassification != "" {
		c.Add(CodeClassification, string(v.Decision)+" carries no final classification", Field("final_classification"))
	}
	if v.Decision == Remand && v.RemandFeedback == nil {
		c.Add(CodeRemandFeedback, "remand needs feedback", Field("remand_feedback"))
	}
	if v.Decision != Remand && v.RemandFeedback != nil {
		c.Add(CodeRemandFeedback, string(v.Decision)+" carries no feedback", Field("remand_feedback"))
	}
}

// Rules checks that a defense that concedes neither moves to dismiss nor
// holds an alternative.
func (v *DefenseBrief) Rules(c *Collector) {
	if v.PleaDeal && v.MotionToDismiss {
		c.Add(CodeConcedesAndFights, "a plea deal excludes a motion to dismiss", Field("motion_to_dismiss"))
	}
	if v.PleaDeal && v.AlternativeHypothesis != nil {
		c.Add(CodeConcedesAndFights, "a plea deal excludes an alternative hypothesis", Field("alternative_hypothesis"))
	}
}

// Rules checks that question ids differ.
func (v *RemandFeedback) Rules(c *Collector) {
	eachRepeat(len(v.Questions), func(i int) string { return v.Questions[i].ID }, func(i int) {
		c.Add(CodeDuplicateID, "a question of this id stands before", Field("questions"), Index(i), Field("id"))
	})
}

// Rules checks that the rejection threshold is not above the activation threshold.
func (v *CourtConfig) Rules(c *Collector) {
	if v.RejectionThreshold > v.ActivationThreshold {
		c.Add(CodeThresholds, "is above activation_threshold", Field("rejection_threshold"))
	}
}

// Rules checks that exactly one artifact is there.
func (v *Artifact) Rules(c *Collector) {
	n := 0
	for _, there := range [...]bool{
		v.Indictment != nil, v.Discovery != nil, v.DefenseBrief != nil, v.HearingTurn != nil, v.Hearing != nil, v.Verdict != nil,
		v.Recall != nil, v.Triage != nil, v.Resolve != nil, v.Investigate != nil, v.Correlate != nil, v.Review != nil, v.Report != nil,
	} {
		if there {
			n++
		}
	}
	exactlyOne(c, n, "artifact")
}

// Rules checks that there is an artifact or a failure, not both.
func (v *NodeResponse) Rules(c *Collector) {
	n := 0
	if v.Artifact != nil {
		n++
	}
	if v.Failure != nil {
		n++
	}
	exactlyOne(c, n, "of artifact and failure")
}

// Rules checks that a failure brings no challenges.
func (v *ContestResponse) Rules(c *Collector) {
	if v.Failure != nil && len(v.Challenges) > 0 {
		c.Add(CodeExactlyOne, "a failure excludes challenges", Field("challenges"))
	}
}

// Rules checks that a failure brings no answers.
func (v *EdgeResponse) Rules(c *Collector) {
	if v.Failure != nil && len(v.Answers) > 0 {
		c.Add(CodeExactlyOne, "a failure excludes answers", Field("answers"))
	}
}

// Rules checks that a failure brings no opinions.
func (v *JudgeResponse) Rules(c *Collector) {
	if v.Failure != nil && len(v.Opinions) > 0 {
		c.Add(CodeExactlyOne, "a failure excludes opinions", Field("opinions"))
	}
}

// Rules checks that exactly one value is there.
func (v *Param) Rules(c *Collector) {
	n := 0
	for _, there := range [...]bool{v.Number != nil, v.Text != nil, v.Flag != nil} {
		if there {
			n++
		}
	}
	exactlyOne(c, n, "of number, text and flag")
}

// Rules checks that likelihoods are probabilities above 0, one for a label.
func (v *SourceSaying) Rules(c *Collector) {
	probabilities(c, v.Given, "given")
}

// Rules checks that a source says the same once.
func (v *SourceReliability) Rules(c *Collector) {
	eachRepeat(len(v.Sayings), func(i int) string { return v.Sayings[i].Says }, func(i int) {
		c.Add(CodeDuplicateLabel, "this saying stands before", Field("sayings"), Index(i), Field("says"))
	})
}

// Rules checks that a label has one weight.
func (v *Signal) Rules(c *Collector) { labelsOnce(c, v.Weights, "weights") }

// Rules checks that base rates are probabilities above 0, and that labels,
// sources and phrases are named once, phrases in any case.
func (v *Profile) Rules(c *Collector) {
	probabilities(c, v.BaseRates, "base_rates")
	eachRepeat(len(v.Sources), func(i int) string { return v.Sources[i].Source }, func(i int) {
		c.Add(CodeDuplicateName, "this source stands before", Field("sources"), Index(i), Field("source"))
	})
	phrases := make([]string, len(v.Signals))
	for i := range v.Signals {
		phrases[i] = lower(v.Signals[i].Phrase)
	}
	eachRepeat(len(phrases), func(i int) string { return phrases[i] }, func(i int) {
		c.Add(CodeDuplicateName, "this phrase stands before", Field("signals"), Index(i), Field("phrase"))
	})
}

func probabilities(c *Collector, list []LabelWeight, field string) {
	for i := range list {
		if w := list[i].Weight; w <= 0 || w > 1 {
			c.Add(CodeProbability, "is outside (0, 1]", Field(field), Index(i), Field("weight"))
		}
	}
	labelsOnce(c, list, field)
}

func labelsOnce(c *Collector, list []LabelWeight, field string) {
	eachRepeat(len(list), func(i int) string { return list[i].Label }, func(i int) {
		c.Add(CodeDuplicateLabel, "this label stands before", Field(field), Index(i), Field("label"))
	})
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

func checkLabels(c *Collector, labels []string) {
	for i, label := range labels {
		if label == "" {
			c.Add(CodeEmpty, "is empty", Field("labels"), Index(i))
		}
	}
	eachRepeat(len(labels), func(i int) string { return labels[i] }, func(i int) {
		if labels[i] != "" {
			c.Add(CodeDuplicateLabel, "this label stands before", Field("labels"), Index(i))
		}
	})
}

// fewNames are compared with each other, which takes no memory: guests check
// what they are sent as well.
const fewNames = 64

// eachRepeat calls found for each name that an earlier one equals, in time
// that is linear beyond a few: the lists come from modules.
func eachRepeat(n int, name func(int) string, found func(int)) {
	if n > fewNames {
		seen := make(map[string]struct{}, n)
		for i := range n {
			if _, repeats := seen[name(i)]; repeats {
				found(i)
			}
			seen[name(i)] = struct{}{}
		}
		return
	}
	for i := 1; i < n; i++ {
		for j := range i {
			if name(i) == name(j) {
				found(i)
				break
			}
		}
	}
}

func exactlyOne(c *Collector, n int, what string) {
	if n == 0 {
		c.Add(CodeExactlyOne, "there is no "+what)
	}
	if n > 1 {
		c.Add(CodeExactlyOne, "there is more than one "+what)
	}
}
