package gotest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

func TestTheTestsThatACaseNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, subject, log string
		want               []gotest.Test
	}{
		{"the subject of this reader", "TestA/b_c fails in example.com/shop", "", []gotest.Test{{Package: "example.com/shop", Name: "TestA/b_c"}}},
		{"the subject of JUnit", "TestA fails in example.com/shop, and passes when run again", "", []gotest.Test{{Package: "example.com/shop", Name: "TestA"}}},
		{"with the time of the log", "ExampleA fails", "--- FAIL: ExampleA (1.50s)\nFAIL\nFAIL\texample.com/shop\t1.52s\n", []gotest.Test{{"example.com/shop", "ExampleA", 1500 * time.Millisecond}}},
		{"no package that is built", "example.com/shop does not build", "FAIL\texample.com/shop [build failed]\n", nil},
		{"no test", "example.com/shop fails outside its tests", "panic: no\n", nil},
		{"another language", "testTotal fails in com.example.Shop", "", nil},
		{"documents alone", "nightly build", "--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/b (0.01s)\nFAIL\nFAIL\texample.com/a\t0.1s\n--- FAIL: TestC (0.00s)\nFAIL\texample.com/c\t0.1s\n", []gotest.Test{{"example.com/a", "TestA/b", 10 * time.Millisecond}, {"example.com/c", "TestC", 5 * time.Millisecond}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := gotest.TestsOf(&abi.Case{Subject: c.subject, Documents: []abi.Document{{Name: "log", Text: c.log}}})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("tests (-want +got):\n%s", diff)
			}
		})
	}
}
