package measure_test

import (
	"errors"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/bench/internal/measure"
)

func TestMedian(t *testing.T) {
	for want, of := range map[float64][]float64{3: {9, 1, 3}, 2: {1, 3}, 7: {7}, 2.5: {4, 1, 2, 3}} {
		if got := measure.Median(of); got != want {
			t.Errorf("median of %v is %v, want %v", of, got, want)
		}
	}
}

func TestInterleaveTakesTurns(t *testing.T) {
	var order []string
	rival := func(name string) measure.Rival {
		return measure.Rival{Name: name, Do: func(int) error {
			if len(order) == 0 || order[len(order)-1] != name {
				order = append(order, name)
			}
			time.Sleep(time.Millisecond)
			return nil
		}}
	}
	medians, err := measure.Interleave(3, time.Millisecond, []measure.Rival{rival("a"), rival("b")})
	if err != nil {
		t.Fatal(err)
	}
	if len(order) != 8 { // calibration, and three rounds
		t.Errorf("turns %v", order)
	}
	if len(medians) != 2 || medians["a"] == 0 {
		t.Errorf("medians %v", medians)
	}
}

func TestInterleaveStopsAtAWrongResult(t *testing.T) {
	wrong := errors.New("wrong")
	_, err := measure.Interleave(1, time.Millisecond, []measure.Rival{{Name: "x", Do: func(int) error { return wrong }}})
	if !errors.Is(err, wrong) {
		t.Errorf("error %v", err)
	}
}
