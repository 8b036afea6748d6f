package experiment

import (
	"slices"
	"strconv"
	"testing"
)

// The search finds the tests without which one passes, wherever they are, and names none where it finds none.
func TestPollutersAreFoundByHalves(t *testing.T) {
	t.Parallel()
	names := make([]string, 200)
	for i := range names {
		names[i] = "Test" + strconv.Itoa(i)
	}
	for name, tc := range map[string]struct {
		of       int
		guilty   []string
		most     int
		unstable bool // it fails in the first run only
	}{
		"the first":             {200, []string{"Test0"}, 25, false},
		"the last":              {200, []string{"Test199"}, 25, false},
		"the only one":          {1, []string{"Test0"}, 5, false},
		"two together":          {40, []string{"Test3", "Test30"}, mostProbes + 4, false},
		"none":                  {40, nil, 1, false},
		"does not happen again": {40, []string{"Test3"}, mostProbes + 4, true},
		"nothing before it":     {0, nil, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			s := orderSearch{fails: func(tests []string) (bool, []string, error) {
				runs++
				if tests == nil {
					tests = names[:tc.of]
				}
				failed := len(tc.guilty) > 0 && (!tc.unstable || runs == 1)
				for _, g := range tc.guilty {
					failed = failed && slices.Contains(tests, g)
				}
				return failed, names[:tc.of], nil
			}}
			found, err := s.search()
			if err != nil {
				t.Fatal(err)
			}
			want := tc.guilty
			if tc.unstable {
				want = nil
			}
			if !slices.Equal(found, want) || runs > tc.most {
				t.Errorf("%q after %d runs, want %q", found, runs, want)
			}
		})
	}
}
