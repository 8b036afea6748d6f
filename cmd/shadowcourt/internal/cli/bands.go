package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/internal/calibrate/bands"
)

// BandFlags ask for certified thresholds.
type BandFlags struct {
	Bands                bool
	maxError, confidence float64
}

// Add adds the flags to a command.
func (b *BandFlags) Add(f *pflag.FlagSet) {
	f.BoolVar(&b.Bands, "bands", false, "propose thresholds whose error is bounded")
	f.Float64Var(&b.maxError, "max-error", bands.DefaultMaxError, "with --bands: the largest share of wrong answers among the accepted")
	f.Float64Var(&b.confidence, "confidence", bands.DefaultConfidence, "with --bands: the confidence that the bound holds")
}

// Check reports all faults of the flags at once.
func (b *BandFlags) Check() error {
	var faults []error
	for _, f := range []struct {
		name         string
		value, usual float64
	}{{"max-error", b.maxError, bands.DefaultMaxError}, {"confidence", b.confidence, bands.DefaultConfidence}} {
		switch {
		case !(f.value > 0 && f.value < 1): // NaN too
			faults = append(faults, fmt.Errorf("--%s %v: use a number between 0 and 1", f.name, f.value))
		case f.value != f.usual && !b.Bands:
			faults = append(faults, fmt.Errorf("--%s %v changes nothing without --bands", f.name, f.value))
		}
	}
	return errors.Join(faults...)
}

// Options are nil unless thresholds are asked for.
func (b *BandFlags) Options() *bands.Options {
	if !b.Bands {
		return nil
	}
	return &bands.Options{MaxError: b.maxError, Confidence: b.confidence}
}
