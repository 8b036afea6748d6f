package main

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// maxAnswerItems bounds the evidence of one answer.
const maxAnswerItems = 6

// answerRemand answers every question of the court with what the investigation
// brought since, and says of every challenged item whether it still stands.
func answerRemand(r *abi.NodeRequest) *abi.RemandAnswer {
	v := &abi.RemandAnswer{Answers: []abi.RemandReply{}, Challenged: []abi.ChallengedReply{}}
	withdrawn := make(map[int]bool)
	for i := range r.File.Feedback.Challenged {
		index := r.File.Feedback.Challenged[i].EvidenceIndex
		if _, seen := withdrawn[index]; seen {
			continue
		}
		status := abi.ItemStands
		if withdrawn[index] = !stands(r, index); withdrawn[index] {
			status = abi.ItemWithdrawn
		}
		v.Challenged = append(v.Challenged, abi.ChallengedReply{EvidenceIndex: index, Status: status})
	}
	topics := inquiry.Topics(r)
	for i := range topics {
		v.Answers = append(v.Answers, reply(r, r.File.Feedback.Questions[i].ID, &topics[i], withdrawn))
	}
	return v
}

// reply answers a question: with new evidence that concerns it, or by
// withdrawing what it asks about, or not at all.
func reply(r *abi.NodeRequest, id string, topic *inquiry.Topic, withdrawn map[int]bool) abi.RemandReply {
	v := abi.RemandReply{QuestionID: id, Status: abi.NotFound, Evidence: []abi.Evidence{}}
	if f := r.File.Investigate; f != nil {
		for i := range f.Evidence {
			if len(v.Evidence) < maxAnswerItems && topic.Concerns(&f.Evidence[i]) {
				v.Evidence = append(v.Evidence, f.Evidence[i])
			}
		}
	}
	switch {
	case len(v.Evidence) > 0:
		v.Status = abi.Found
	case len(topic.Items) > 0 && !slices.ContainsFunc(topic.Items, func(i int) bool { return !withdrawn[i] }):
		v.Status = abi.Withdrawn
	}
	return v
}

// stands says whether a challenged item can be held: it is there, it is what
// it says where it claims to quote a document, and it says something that no
// unchallenged item says.
func stands(r *abi.NodeRequest, index int) bool {
	if index < 0 || index >= len(r.Case.Evidence) {
		return false
	}
	e := &r.Case.Evidence[index]
	if text.Blank(e.Content) || misquotes(r.Case.Documents, e) {
		return false
	}
	substance := strings.Join(text.Substance(e.Content), "\n")
	for i := range r.Case.Evidence {
		other := &r.Case.Evidence[i]
		if i != index && !inquiry.Challenged(r, i) && other.Supports == e.Supports && strings.Join(text.Substance(other.Content), "\n") == substance {
			return false
		}
	}
	return true
}

// misquotes says whether an item names a document in which none of its lines stands.
func misquotes(documents []abi.Document, e *abi.Evidence) bool {
	for i := range documents {
		d := &documents[i]
		if !inquiry.Names(e.SourceRef, d.Name) {
			continue
		}
		for line := range strings.SplitSeq(e.Content, "\n") {
			if line = strings.TrimSpace(line); line != "" && strings.Contains(d.Text, line) {
				return false
			}
		}
		return true
	}
	return false
}
