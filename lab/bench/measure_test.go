package main

import (
	"errors"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for want, of := range map[float64][]float64{3: {9, 1, 3}, 2: {1, 3}, 7: {7}, 2.5: {4, 1, 2, 3}} {
		if got := Median(of); got != want {
			t.Errorf("median of %v is %v, want %v", of, got, want)
		}
	}
}

func TestInterleaveTakesTurns(t *testing.T) {
	var order []string
	rival := func(name string) Rival {
		return Rival{Name: name, Do: func(int) error {
			if len(order) == 0 || order[len(order)-1] != name {
				order = append(order, name)
			}
			time.Sleep(time.Millisecond)
			return nil
		}}
	}
	medians, err := Interleave(3, time.Millisecond, []Rival{rival("a"), rival("b")})
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
	_, err := Interleave(1, time.Millisecond, []Rival{{Name: "x", Do: func(int) error { return wrong }}})
	if !errors.Is(err, wrong) {
		t.Errorf("error %v", err)
	}
}
