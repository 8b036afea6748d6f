package abi

import (
	"slices"
	"strconv"
)

// IsLabel says whether label is one of labels.
func IsLabel(labels []string, label string) bool {
	return slices.Contains(labels, label)
}

// CheckIndictment checks an Indictment against the case: the charge is Light's
// classification, and every item repeats an item of the case unchanged, none twice.
func CheckIndictment(v *Indictment, light *LightAnswer, evidence []Evidence, c *Collector) {
	if light != nil && v.ChargedDefectType != light.Classification {
		c.Add(CodeCharge, "is "+strconv.Quote(v.ChargedDefectType)+", Light's classification is "+strconv.Quote(light.Classification), Field("charged_defect_type"))
	}
	left := make(map[IndictmentItem]int, len(evidence))
	for i := range evidence {
		e := &evidence[i]
		left[IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Supports: e.Supports, Element: e.Element}]++
	}
	for i := range v.Evidence {
		item := v.Evidence[i]
		item.Weight = 0
		if left[item] == 0 {
			c.Add(CodeNotInCase, "repeats no item of the case", Field("evidence"), Index(i))
			continue
		}
		left[item]--
	}
}

// CheckDiscovery checks a Discovery against the documents: each finding names a document and quotes it word for word, and supports a label
// of the case. contains reports whether the named document is there and has the quote. sources are those that a finding may name: see
// [ModelSources].
func CheckDiscovery(v *Discovery, labels, sources []string, contains func(document, quote string) (known, stands bool), c *Collector) {
	for i := range v.Findings {
		f := &v.Findings[i]
		checkLabel(f.Supports, labels, c, Field("findings"), Index(i), Field("supports"))
		if f.Source != "" && !slices.Contains(sources, f.Source) {
			c.Add(CodeIdentity, strconv.Quote(f.Source)+" has not answered this call", Field("findings"), Index(i), Field("source"))
		}
		switch known, stands := contains(f.Document, f.Quote); {
		case !known:
			c.Add(CodeNotInDocuments, "there is no document "+strconv.Quote(f.Document), Field("findings"), Index(i), Field("document"))
		case !stands:
			c.Add(CodeNotInDocuments, "does not stand in the document", Field("findings"), Index(i), Field("quote"))
		}
	}
}

// ModelSources are the sources that findings may name after completions: the models that gave an answer.
func ModelSources(completions []CompletionResult) []string {
	var sources []string
	for i := range completions {
		if name := ModelSource + completions[i].Model; len(completions[i].Answers) > 0 && !slices.Contains(sources, name) {
			sources = append(sources, name)
		}
	}
	return sources
}

// ModelSource begins the names of sources that are language models.
const ModelSource = "model:"

// CheckChallenges checks challenges against the Indictment: each points at one of its items, and By is empty, the speaker's own name, or a
// repetition of a challenge of the contest. allowed, when not nil, lists the only indexes that may be challenged.
func CheckChallenges(field string, v []Challenge, items int, allowed []int, speaker string, contested []Challenge, c *Collector) {
	may := make(map[int]bool, len(allowed))
	for _, index := range allowed {
		may[index] = true
	}
	known := make(map[Challenge]bool, len(contested))
	for i := range contested {
		known[contested[i]] = true
	}
	for i := range v {
		ch := &v[i]
		if ch.EvidenceIndex >= items || (allowed != nil && !may[ch.EvidenceIndex]) {
			c.Add(CodeEvidenceIndex, strconv.Itoa(ch.EvidenceIndex)+" is no item that may be challenged here", Field(field), Index(i), Field("evidence_index"))
		}
		if ch.By != "" && ch.By != speaker && !known[*ch] {
			c.Add(CodeIdentity, strconv.Quote(speaker)+" may not speak as "+strconv.Quote(ch.By), Field(field), Index(i), Field("by"))
		}
	}
}

// CheckBrief checks a DefenseBrief against the Indictment and the labels.
func CheckBrief(v *DefenseBrief, indictment *Indictment, labels []string, speaker string, contested []Challenge, c *Collector) {
	CheckChallenges("challenges", v.Challenges, len(indictment.Evidence), nil, speaker, contested, c)
	if v.AlternativeHypothesis != nil {
		mark := c.Mark()
		checkAlternative(v.AlternativeHypothesis, indictment, labels, c)
		c.Nest(mark, Field("alternative_hypothesis"))
	}
}

func checkAlternative(v *AlternativeHypothesis, indictment *Indictment, labels []string, c *Collector) {
	if !IsLabel(labels, v.Label) {
		c.Add(CodeNotALabel, notALabel(v.Label), Field("label"))
	}
	if v.Label == indictment.ChargedDefectType {
		c.Add(CodeCharge, "is the charge itself", Field("label"))
	}
	for i, index := range v.Support {
		if index >= len(indictment.Evidence) {
			c.Add(CodeEvidenceIndex, strconv.Itoa(index)+" is beyond the indictment's items", Field("support"), Index(i))
		}
	}
}

// CheckTurn checks a turn of the hearing against the case: challenges point into the Indictment, and a new item is an item of the case or
// quotes word for word the document that its source_ref names. stands reports whether an item does.
func CheckTurn(v *HearingTurn, items int, labels []string, speaker string, contested []Challenge, stands func(*IndictmentItem) bool, c *Collector) {
	CheckChallenges("new_challenges", v.NewChallenges, items, nil, speaker, contested, c)
	for i := range v.NewItems {
		item := &v.NewItems[i]
		checkLabel(item.Supports, labels, c, Field("new_items"), Index(i), Field("supports"))
		if !stands(item) {
			c.Add(CodeNotInDocuments, "is no item of the case, and doesn't quote the document that its source_ref names", Field("new_items"), Index(i))
		}
	}
}

// CheckVerdict checks a Verdict against the charge, the labels and the Indictment: affirm keeps the charge, amend names another label.
func CheckVerdict(v *Verdict, indictment *Indictment, labels []string, c *Collector) {
	charge := indictment.ChargedDefectType
	final := v.FinalClassification
	switch {
	case v.Decision == Affirm && final != charge:
		c.Add(CodeClassification, "affirm keeps the charge "+strconv.Quote(charge), Field("final_classification"))
	case v.Decision == Amend && final == charge:
		c.Add(CodeClassification, "amend names another label than the charge", Field("final_classification"))
	case v.Decision == Amend && !IsLabel(labels, final):
		c.Add(CodeNotALabel, notALabel(final), Field("final_classification"))
	}
	if v.RemandFeedback == nil {
		return
	}
	mark := c.Mark()
	for i := range v.RemandFeedback.Challenged {
		if index := v.RemandFeedback.Challenged[i].EvidenceIndex; index >= len(indictment.Evidence) {
			c.Add(CodeEvidenceIndex, strconv.Itoa(index)+" is beyond the indictment's items", Field("challenged"), Index(i), Field("evidence_index"))
		}
	}
	if alt := v.RemandFeedback.AlternativeHypothesis; alt != nil {
		inner := c.Mark()
		checkAlternative(alt, indictment, labels, c)
		c.Nest(inner, Field("alternative_hypothesis"))
	}
	c.Nest(mark, Field("remand_feedback"))
}

// CheckRemandAnswer checks Light's answer against the feedback: every question
// and every challenged item is accounted for once, and nothing else.
func CheckRemandAnswer(v *RemandAnswer, feedback *RemandFeedback, c *Collector) {
	asked := make(map[string]int, len(feedback.Questions))
	for i := range feedback.Questions {
		asked[feedback.Questions[i].ID] = 0
	}
	for i := range v.Answers {
		id := v.Answers[i].QuestionID
		n, ok := asked[id]
		if !ok {
			c.Add(CodeWrongAnswers, "answers "+strconv.Quote(id)+", which was not asked", Field("answers"), Index(i), Field("question_id"))
			continue
		}
		asked[id] = n + 1
	}
	for i := range feedback.Questions {
		if id := feedback.Questions[i].ID; asked[id] != 1 {
			c.Add(CodeUnanswered, "question "+strconv.Quote(id)+" has "+strconv.Itoa(asked[id])+" answers", Field("answers"))
		}
	}
	checkAccounts(v.Challenged, feedback.Challenged, c)
}

// checkAccounts checks the replies against the challenged items, of which two may be about the same index: one reply accounts for both.
func checkAccounts(replies []ChallengedReply, challenged []ChallengedItem, c *Collector) {
	times := make(map[int]int, len(challenged))
	for i := range challenged {
		times[challenged[i].EvidenceIndex] = 0
	}
	for i := range replies {
		index := replies[i].EvidenceIndex
		n, ok := times[index]
		if !ok {
			c.Add(CodeWrongAnswers, "item "+strconv.Itoa(index)+" was not challenged", Field("challenged"), Index(i), Field("evidence_index"))
			continue
		}
		times[index] = n + 1
	}
	for i := range challenged {
		index := challenged[i].EvidenceIndex
		if n := times[index]; n != 1 {
			c.Add(CodeUnanswered, "item "+strconv.Itoa(index)+" is accounted for "+strconv.Itoa(n)+" times", Field("challenged"))
			times[index] = 1 // said once
		}
	}
}

// CheckLight checks an artifact of a Light path: what it concludes are labels, what it brings bears no name of the host's, unless it
// repeats one of the items that are there, and a report accounts for a remand where there was feedback. Paths begin at the artifact.
func CheckLight(v *Artifact, feedback *RemandFeedback, labels []string, there []Evidence, c *Collector) {
	classification, mark := Field("classification"), c.Mark()
	switch {
	case v.Recall != nil:
		checkLabel(v.Recall.Classification, labels, c, classification)
	case v.Triage != nil:
		checkLabel(v.Triage.ClassificationHypothesis, labels, c, Field("classification_hypothesis"))
	case v.Investigate != nil:
		checkLabel(v.Investigate.Classification, labels, c, classification)
		checkBrought(v.Investigate.Evidence, labels, there, c)
	case v.Correlate != nil:
		checkLabel(v.Correlate.Classification, labels, c, classification)
	case v.Report != nil:
		checkLabel(v.Report.Classification, labels, c, classification)
		checkRemand(v.Report.Remand, feedback, labels, there, c)
	}
	c.Nest(mark, Field(string(v.Family()))) // the field is named as the family
}

// checkBrought checks the evidence that a persona of a Light path brings.
func checkBrought(items []Evidence, labels []string, there []Evidence, c *Collector) {
	for i := range items {
		checkLabel(items[i].Supports, labels, c, Field("evidence"), Index(i), Field("supports"))
		if ref := items[i].SourceRef; IsReserved(ref) && FindEvidence(there, ref, items[i].Content) == nil {
			c.Add(CodeIdentity, strconv.Quote(ref)+" is an item that only the host writes", Field("evidence"), Index(i), Field("source_ref"))
		}
	}
}

func checkRemand(answer *RemandAnswer, feedback *RemandFeedback, labels []string, there []Evidence, c *Collector) {
	switch {
	case feedback == nil && answer == nil:
		return
	case feedback == nil:
		c.Add(CodeWrongAnswers, "answers a remand that there was not", Field("remand"))
		return
	case answer == nil:
		c.Add(CodeUnanswered, "does not account for the remand", Field("remand"))
		return
	}
	mark := c.Mark()
	CheckRemandAnswer(answer, feedback, c)
	for i := range answer.Answers {
		inner := c.Mark()
		checkBrought(answer.Answers[i].Evidence, labels, there, c)
		c.Nest(inner, Index(i))
		c.Nest(inner, Field("answers"))
	}
	c.Nest(mark, Field("remand"))
}

// CheckOpinions checks opinions against the request: one on each criterion, in order, by the judge that was asked.
func CheckOpinions(v []CriterionOpinion, req *JudgeRequest, c *Collector) {
	if len(v) != len(req.Criteria) {
		c.Add(CodeWrongAnswers, strconv.Itoa(len(v))+" opinions on "+strconv.Itoa(len(req.Criteria))+" criteria", Field("opinions"))
		return
	}
	for i := range v {
		if want := req.Criteria[i].CriterionID; v[i].CriterionID != want {
			c.Add(CodeWrongAnswers, "is not the criterion at this place, "+strconv.Quote(want), Field("opinions"), Index(i), Field("criterion_id"))
		}
		if v[i].Judge != req.Judge {
			c.Add(CodeWrongAnswers, "is not the judge that was asked, "+strconv.Quote(req.Judge), Field("opinions"), Index(i), Field("judge"))
		}
	}
}

// CheckEdgeAnswers checks answers against the questions: one each, in order.
func CheckEdgeAnswers(v []EdgeAnswer, questions []EdgeQuestion, c *Collector) {
	if len(v) != len(questions) {
		c.Add(CodeWrongAnswers, strconv.Itoa(len(v))+" answers to "+strconv.Itoa(len(questions))+" questions", Field("answers"))
		return
	}
	for i := range v {
		if v[i].ID != questions[i].ID {
			c.Add(CodeWrongAnswers, "is "+strconv.Quote(v[i].ID)+", the question was "+strconv.Quote(questions[i].ID), Field("answers"), Index(i), Field("id"))
		}
	}
}

// CheckExperiment checks that an experiment is one of the offers of the request. Paths begin at the response.
func CheckExperiment(v *Experiment, offers []ExperimentOffer, c *Collector) {
	for i := range offers {
		if offers[i].Experiment == *v {
			return
		}
	}
	c.Add(CodeNotOffered, v.String()+" is not among the offers", Field("experiment"))
}

// CheckCompletion checks that a completion asks one of the models of the request, within what it may answer. Paths begin at the response.
func CheckCompletion(v *Completion, models []ModelOffer, c *Collector) {
	i := slices.IndexFunc(models, func(m ModelOffer) bool { return m.Model == v.Model })
	switch {
	case i < 0:
		c.Add(CodeNotOffered, strconv.Quote(v.Model)+" is not among the models", Field("completion"), Field("model"))
	case v.AnswerTokens > models[i].AnswerTokens:
		c.Add(CodeNotOffered, "is more than the "+strconv.Itoa(models[i].AnswerTokens)+" of the model", Field("completion"), Field("answer_tokens"))
	}
}

// checkLabel checks that a label, where there is one, is one of the case.
func checkLabel(label string, labels []string, c *Collector, path ...PathElement) {
	if label != "" && !IsLabel(labels, label) {
		c.Add(CodeNotALabel, notALabel(label), path...)
	}
}

func notALabel(s string) string { return strconv.Quote(s) + " is no label of the case" }
