package run

import (
	"context"
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Casebook answers from a snapshot, which stays the caller's.
func Casebook(s *casebook.Snapshot) host.Casebook { return book{s} }

type book struct{ *casebook.Snapshot }

// nearlyEqual is the most similarity that a case without the same fingerprint has.
const nearlyEqual = 0.99

// confirmedConfidence is how sure a verdict is that somebody knows to be right.
const confirmedConfidence = 0.95

// Recall gives the cases that look like this one. The confidence of one with
// the same fingerprint is that of its verdict, and no more than the match is worth.
func (b book) Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error) {
	matches, err := b.Snapshot.Recall(ctx, casebook.Take(Failure(subject)), limit)
	if err != nil {
		return nil, err
	}
	list := make([]abi.PriorCase, len(matches))
	for i := range matches {
		m := &matches[i]
		list[i] = prior(&m.Case, math.Min(m.Similarity, nearlyEqual))
		if m.Kind == casebook.MatchExact {
			list[i].Similarity = 1
			list[i].Confidence = math.Min(list[i].Confidence, m.Confidence)
		}
	}
	return list, nil
}

// Correlate gives the cases whose text is about the same.
func (b book) Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error) {
	hits, err := b.Snapshot.Correlate(ctx, text, limit)
	if err != nil {
		return nil, err
	}
	list := make([]abi.PriorCase, len(hits))
	for i := range hits {
		list[i] = prior(&hits[i].Case, hits[i].Similarity)
	}
	return list, nil
}

func prior(c *casebook.Case, similarity float64) abi.PriorCase {
	p := abi.PriorCase{
		CaseID: c.ID, Subject: c.Subject, Classification: c.Verdict.Classification, Status: c.Verdict.Status,
		Confidence: c.Verdict.Confidence, Similarity: similarity, Seen: max(c.Seen, 1),
		Confirmed: c.Verdict.Origin == casebook.Confirmed, Absent: c.Absent,
	}
	if p.Confirmed {
		p.Confidence = confirmedConfidence
	}
	return p
}

// Failure is how a case failed, as the casebook recognises it: by its subject
// and its documents.
func Failure(c *abi.Case) casebook.Failure {
	f := casebook.Failure{Subject: c.Subject}
	for i := range c.Documents {
		f.Texts = append(f.Texts, c.Documents[i].Text)
	}
	return f
}

// Entry is a case to remember with what came of it, or what is known to be
// right. Of a mistrial without a truth only the failure is remembered: nothing
// was decided.
func Entry(c *abi.Case, truth *trial.Truth, final *trial.Final) casebook.Entry {
	entry := casebook.Entry{CaseID: c.ID, Group: c.Group, Failure: Failure(c)}
	switch {
	case truth != nil && truth.Classification != "":
		entry.Verdict = &casebook.Verdict{
			Origin: casebook.Confirmed, Status: "confirmed", Classification: truth.Classification, Confidence: final.Confidence,
		}
	case final.Status != trial.Mistrial:
		entry.Verdict = &casebook.Verdict{Status: string(final.Status), Classification: final.Classification, Confidence: final.Confidence}
	}
	return entry
}
