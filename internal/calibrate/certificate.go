package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxReport is the most bytes of a report that is read.
const maxReport = 64 << 20

// ReadBands reads the certified thresholds of a report, as `calibrate --bands --format json` writes it.
func ReadBands(in io.Reader) (*Bands, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxReport {
		return nil, fmt.Errorf("the report has more than %d MiB", maxReport>>20)
	}
	var r struct {
		Format int    `json:"format"`
		Bands  *Bands `json:"bands"`
	}
	switch err := json.Unmarshal(data, &r); {
	case err != nil:
		return nil, fmt.Errorf("not a report of calibrate --format json: %w", err)
	case r.Format != ReportFormat:
		return nil, fmt.Errorf("format: %d is not %d, that of a report of calibrate --format json", r.Format, ReportFormat)
	case r.Bands == nil:
		return nil, errors.New("bands: missing: ask for them with calibrate --bands --format json")
	}
	return r.Bands, errors.Join(named("bands.light", r.Bands.Light.check()), named("bands.court", r.Bands.Court.check()))
}

func named(where string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", where, err)
	}
	return err
}

// check says what of a certificate [Certify] does not write.
func (c *Certificate) check() error {
	inside := func(v float64) bool { return v > 0 && v < 1 }
	switch {
	case !inside(c.MaxError) || !inside(c.Confidence):
		return errors.New("max_error and confidence must be between 0 and 1")
	case c.Threshold == nil:
		return nil
	case !(*c.Threshold >= 0 && *c.Threshold <= 1):
		return errors.New("threshold: outside of [0, 1]")
	case c.ErrorBound == nil || !(*c.ErrorBound >= 0 && *c.ErrorBound <= c.MaxError):
		return errors.New("error_bound: not within [0, max_error]: the threshold is not certified")
	case c.Accepted <= 0 || c.Accepted > c.Cases || c.Wrong < 0 || c.Wrong > c.Accepted:
		return errors.New("cases, accepted and wrong don't fit together")
	}
	return nil
}
