package web

import (
	"net/http"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// qualityView is the page of quality: verdicts compared with the truth. The counts are of all that is no answer of the alibi.
type qualityView struct {
	// Cases that were tried in all.
	Cases int
	// Known truths, and how many answers of the court and of Light are right.
	Known, Right, LightRight int
	// Corrections is how many of the known labels people set.
	Corrections int
	// Took is the time that the trials took.
	Took time.Duration

	Decided decided
	Filters []filter
	// Stated are the court's answers whose truth is known, by tenths of the confidence that it states.
	Stated [10]statedRow
	// Meaning says what the shares mean.
	Meaning string
}

// statedRow is a row of the table of reliability.
type statedRow struct {
	sum          float64 // of the confidences
	Right, Cases int
}

// Mean of the stated confidences.
func (r statedRow) Mean() float64 { return r.sum / float64(r.Cases) }

func (s *site) quality(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	tallies, err := s.Store.Tallies(r.Context(), q.Get("repository"), s.since(q.Get("age")))
	if err != nil {
		return err
	}
	repositories, err := s.Store.Repositories(r.Context())
	if err != nil {
		return err
	}
	v := &qualityView{Filters: []filter{
		repositoryFilter(q, repositories),
		newFilter(q, "age", "Age", "any age", option{Value: "7d", Text: "the last week"}, option{Value: "30d", Text: "the last 30 days"}, option{Value: "90d", Text: "the last 90 days"}),
	}}
	v.count(tallies)
	v.Meaning = meaning(v)
	return s.show(w, r, http.StatusOK, &view{Page: "quality", Section: "quality", Title: "Quality", Data: v})
}

// count adds results.
func (v *qualityView) count(tallies []store.Tally) {
	for i := range tallies {
		t := &tallies[i]
		if t.Alibi {
			v.Decided.count(t)
			continue
		}
		v.Cases += t.Results
		v.Took += t.Took
		if t.Truth == "" {
			continue
		}
		v.Known += t.Results
		v.Right += one(t.Label == t.Truth) * t.Results
		v.LightRight += one(t.Light == t.Truth) * t.Results
		v.Corrections += one(t.Corrected) * t.Results
		if t.Label != "" {
			row := &v.Stated[max(min(int(t.Stated*10), 9), 0)]
			row.sum += t.Stated * float64(t.Results)
			row.Cases += t.Results
			row.Right += one(t.Label == t.Truth) * t.Results
		}
	}
}

// meaning says what it means how often the court and Light are right.
func meaning(r *qualityView) string {
	text := "The court and Light are right equally often."
	switch more := r.Right - r.LightRight; {
	case more > 0:
		text = "The court puts right " + plural(more, "answer", "answers") + " of Light more than it spoils."
	case more < 0:
		text = "The court spoils " + plural(-more, "answer", "answers") + " of Light more than it puts right: fit a profile, or go back to an earlier generation."
	}
	stated := r.Known - r.Corrections
	switch {
	case stated == 0:
		return text + " All labels are from people, who are asked about uncertain cases: of all cases more are right."
	case r.Corrections == 0:
		return text + " All labels came with the dockets."
	}
	return text + " " + plural(r.Corrections, "label is", "labels are") + " from people, who are asked about uncertain cases; " + plural(stated, "came", "came") + " with the dockets."
}
