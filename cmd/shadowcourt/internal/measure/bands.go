package measure

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
)

// bandFlags ask for certified thresholds.
type bandFlags struct {
	bands                bool
	maxError, confidence float64
}

// add adds the flags to a command.
func (b *bandFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&b.bands, "bands", false, "propose thresholds whose error is bounded")
	f.Float64Var(&b.maxError, "max-error", calibrate.DefaultMaxError, "with --bands: the largest share of wrong answers among the accepted")
	f.Float64Var(&b.confidence, "confidence", calibrate.DefaultConfidence, "with --bands: the confidence that the bound holds")
}

// check reports all faults of the flags at once.
func (b *bandFlags) check() error {
	var faults []error
	for _, f := range []struct {
		name         string
		value, usual float64
	}{{"max-error", b.maxError, calibrate.DefaultMaxError}, {"confidence", b.confidence, calibrate.DefaultConfidence}} {
		switch {
		case !(f.value > 0 && f.value < 1): // NaN too
			faults = append(faults, fmt.Errorf("--%s %v: use a number between 0 and 1", f.name, f.value))
		case f.value != f.usual && !b.bands:
			faults = append(faults, fmt.Errorf("--%s %v changes nothing without --bands", f.name, f.value))
		}
	}
	return errors.Join(faults...)
}

// options are nil unless thresholds are asked for.
func (b *bandFlags) options() *calibrate.BandOptions {
	if !b.bands {
		return nil
	}
	return &calibrate.BandOptions{MaxError: b.maxError, Confidence: b.confidence}
}
