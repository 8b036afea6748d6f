package measure

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// report is one of calibrate --bands, with thresholds if there are cases enough.
func reportWithBands(t testing.TB, cases int) []byte {
	t.Helper()
	var points []Point
	for range cases {
		points = append(points, Point{Confidence: .9, Right: true})
	}
	c := Certify(points, BandOptions{})
	data, err := json.Marshal(&Report{Format: ReportFormat, Bands: &Bands{Light: c, Court: c}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAccept_IG6_CertifiedThresholdsAreRead(t *testing.T) {
	t.Parallel()
	for cases, certified := range map[int]bool{200: true, 5: false} {
		bands, err := ReadBands(bytes.NewReader(reportWithBands(t, cases)))
		if err != nil {
			t.Fatal(err)
		}
		if (bands.Court.Threshold != nil) != certified || certified && *bands.Court.Threshold != .9 {
			t.Errorf("%d cases: %s", cases, &bands.Court)
		}
	}
	good := string(reportWithBands(t, 200))
	for name, tc := range map[string]struct{ report, want string }{
		"no JSON":            {"<html>", "not a report"},
		"another format":     {strings.Replace(good, `"format":2`, `"format":1`, 1), "format: 1"},
		"no bands":           {`{"format":2,"bands":null}`, "calibrate --bands"},
		"an odd threshold":   {strings.Replace(good, `"threshold":0.9`, `"threshold":-1`, 1), "bands.light: threshold"},
		"a loose bound":      {strings.Replace(good, `"max_error":0.05`, `"max_error":0.001`, 1), "bands.light: error_bound"},
		"no cases":           {strings.ReplaceAll(good, `"accepted":200`, `"accepted":0`), "don't fit"},
		"errors of everyone": {strings.Replace(good, `"max_error":0.05`, `"max_error":1`, 1), "between 0 and 1"},
	} {
		if _, err := ReadBands(strings.NewReader(tc.report)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadBands(f *testing.F) {
	f.Add(reportWithBands(f, 200))
	f.Add(reportWithBands(f, 5))
	f.Fuzz(func(t *testing.T, data []byte) {
		bands, err := ReadBands(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, c := range []*Certificate{&bands.Light, &bands.Court} {
			if c.Threshold != nil && (*c.Threshold < 0 || *c.Threshold > 1 || *c.ErrorBound > c.MaxError || c.Accepted == 0) {
				t.Errorf("%s passes", c)
			}
		}
	})
}
