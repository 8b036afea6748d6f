package fit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit/testkit/simulate"
)

// echo is a Light that says what the profile that it is told makes of the
// evidence, and knows nothing else.
func echo(_ context.Context, p *abi.Profile, entries []docket.Entry) ([]docket.Entry, error) {
	out, model := slices.Clone(entries), NewModel(p)
	for i := range out {
		c := &out[i].Case
		c.Light = nil
		q := model.Posterior(c)
		top := best(q)
		c.Light = &abi.LightAnswer{Classification: c.Labels[top], Confidence: q[top]}
	}
	return out, nil
}

func grouped(entries []docket.Entry) []docket.Entry {
	for i := range entries {
		entries[i].Case.Group = string(rune('a' + i%20))
	}
	return entries
}

// lightMoves is how far Light's word moves labels apart, at most.
func lightMoves(p *abi.Profile, entries []docket.Entry) float64 {
	most := 0.0
	for i := range entries {
		c := &entries[i].Case
		most = max(most, spread(heardLight(p.Light, c)))
	}
	return most
}

// What a Light says that only adds up the profile's own figures must not count
// a second time; told the profile that the fit gives, the court is as sure as it is right.
func TestAnEchoCountsNothing(t *testing.T) {
	t.Parallel()
	shape := simulate.Shapes(2)[4]
	result, err := Relit(t.Context(), grouped(shape.Docket(3, 300)), echo, Config{})
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := echo(t.Context(), result.Profile, shape.Docket(4, 600))
	if err != nil {
		t.Fatal(err)
	}
	if moved := lightMoves(result.Profile, fresh); moved > 1 {
		t.Errorf("an echo moves labels %v nats apart", moved)
	}
	model, right, sure := NewModel(result.Profile), 0.0, 0.0
	for i := range fresh {
		q := model.Posterior(&fresh[i].Case)
		sure += q[best(q)] / float64(len(fresh))
		if fresh[i].Case.Labels[best(q)] == fresh[i].Truth.Classification {
			right += 1 / float64(len(fresh))
		}
	}
	if math.Abs(right-sure) > 0.06 {
		t.Errorf("right %.3f, sure %.3f", right, sure)
	}
	if !result.Report.Relit || result.Report.Figures[2].Accuracy <= 0.25 {
		t.Errorf("report %+v", result.Report)
	}
}

// A Light that knows more than the evidence is worth something.
func TestALightThatKnowsMoreCounts(t *testing.T) {
	t.Parallel()
	shape := simulate.Shapes(2)[1]
	random := rand.New(rand.NewPCG(1, 2))
	knows := func(_ context.Context, _ *abi.Profile, entries []docket.Entry) ([]docket.Entry, error) {
		out := slices.Clone(entries)
		for i := range out {
			c := &out[i].Case
			says := c.Labels[random.IntN(len(c.Labels))]
			if random.Float64() < 0.8 {
				says = out[i].Truth.Classification
			}
			c.Light = &abi.LightAnswer{Classification: says, Confidence: 0.7}
		}
		return out, nil
	}
	result, err := Relit(t.Context(), grouped(shape.Docket(3, 300)), knows, Config{})
	if err != nil {
		t.Fatal(err)
	}
	lit, _ := knows(t.Context(), nil, shape.Docket(5, 50))
	if moved := lightMoves(result.Profile, lit); moved < 1.5 {
		t.Errorf("a Light that is right in 4 of 5 moves labels %v nats apart", moved)
	}
}

// Light is asked about each case twice, each time told what cases of other
// groups taught.
func TestLightIsToldWhatOtherGroupsTaught(t *testing.T) {
	t.Parallel()
	entries := simulate.Shapes(2)[0].Docket(3, 60)
	// A source that names the group's own label is right in that group alone.
	for i := range entries {
		e := &entries[i]
		e.Case.Group = string(rune('a' + i%6))
		e.Case.Evidence = append(e.Case.Evidence, abi.Evidence{SourceRef: "of-" + e.Case.Group, Supports: e.Truth.Classification, RelevanceConfidence: 0.9})
	}
	asked := make(map[string]int)
	_, err := Relit(t.Context(), entries, func(ctx context.Context, p *abi.Profile, own []docket.Entry) ([]docket.Entry, error) {
		for i := range own {
			c := &own[i].Case
			asked[c.ID]++
			for k := range p.Sources {
				if p.Sources[k].Source == "of-"+c.Group {
					t.Errorf("%s: the profile knows its group", c.ID)
				}
			}
		}
		return echo(ctx, p, own)
	}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if n := asked[entries[i].Case.ID]; n != relightings {
			t.Errorf("%s was asked about %d times", entries[i].Case.ID, n)
		}
	}
}

func TestWhatGoesWrongWithLight(t *testing.T) {
	t.Parallel()
	entries := grouped(simulate.Shapes(2)[2].Docket(3, 40))
	broken := errors.New("broken")
	if _, err := Relit(t.Context(), entries, func(context.Context, *abi.Profile, []docket.Entry) ([]docket.Entry, error) {
		return nil, broken
	}, Config{}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := Relit(t.Context(), entries, func(context.Context, *abi.Profile, []docket.Entry) ([]docket.Entry, error) {
		return nil, nil
	}, Config{}); err == nil {
		t.Error("a Light that leaves cases out is accepted")
	}
	// One that has no answer is worth nothing, and the rest is fitted.
	silent := func(_ context.Context, _ *abi.Profile, own []docket.Entry) ([]docket.Entry, error) {
		return withoutLight(own), nil
	}
	result, err := Relit(t.Context(), entries, silent, Config{})
	if err != nil || result.Profile.Light == nil || len(result.Profile.Light.Statements) != 0 {
		t.Errorf("error %v, %+v", err, result)
	}
}

// One group can't be left out: its cases are, and no figure is of other groups.
func TestOneGroupIsNotHeldOut(t *testing.T) {
	t.Parallel()
	entries := simulate.Shapes(2)[0].Docket(3, 100)
	for i := range entries {
		entries[i].Case.Group = "all"
	}
	one, err := Fit(t.Context(), entries, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if one.Report.Groups != 1 || one.Report.Parts != 10 {
		t.Errorf("%d groups, %d parts", one.Report.Groups, one.Report.Parts)
	}
	if f := one.Report.Figures; f[0].Accuracy < f[2].Accuracy {
		t.Errorf("the model %v, Light %v", f[0], f[1])
	}
}
