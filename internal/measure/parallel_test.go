package measure

import (
	"bytes"
	"testing"
)

func TestFitIsTheSameAtAnyParallelism(t *testing.T) {
	t.Parallel()
	shape := shape("texts and witnesses")
	var written [2]bytes.Buffer
	for i := range written {
		result, err := Fit(t.Context(), shape.Docket(1, 80), FitConfig{Workers: 1 + 3*i})
		if err != nil {
			t.Fatal(err)
		}
		if err := result.WriteYAML(&written[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(written[0].Bytes(), written[1].Bytes()) {
		t.Error("four workers write another profile than one")
	}
}
