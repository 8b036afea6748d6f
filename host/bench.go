package host

import (
	"context"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/plugbench"
	"github.com/shadowcourt/shadowcourt/host/internal/registry"
)

// BenchOptions say how a module is measured. The zero value is useful.
type BenchOptions struct {
	// Call and Request are what is sent. Request nil: small valid requests of
	// each kind that the manifest promises.
	Call    abi.Call
	Request []byte
	// Time for each figure. Default: 200 ms.
	Time time.Duration
	// CacheDir keeps compiled modules between runs. Default: none.
	CacheDir string
	// Now is the clock that measures. Default: time.Now.
	Now func() time.Time
	// Progress is told what comes next, and how much of that kind is done. Optional.
	Progress func(what string, done, of int)
}

// BenchReport is what was measured of a module: a BenchRequest for each kind of
// request, with a BenchFigure for each way of calling it. The first figure is
// what the others are held against: a call in an instance that is not put back.
type (
	BenchReport  = plugbench.Report
	BenchRequest = plugbench.Request
	BenchFigure  = plugbench.Figure
)

// ErrNothingToBench: the module has no manifest to make requests from, and
// there is none to send.
var ErrNothingToBench = plugbench.ErrNothingToSend

// Bench measures the calls of one module side by side: in an instance that is
// not put back, pristine in each way that works on this machine, without
// metering and with the runtime's own interruption instead. It takes as long as
// compiling the module three times, and some seconds for each kind of request.
// A call that fails has its error in the report. Bench's own error is a
// *RefusedError if the module is not loaded, ErrNothingToBench, a fault of the
// file with its offset, or of the machine or the context.
//
// The module has to be trusted to end: some calls are made without anything
// that would end them.
func Bench(ctx context.Context, wasm []byte, options BenchOptions) (*BenchReport, error) {
	info, err := Inspect(wasm)
	if err != nil {
		return nil, err
	}
	if options.Now == nil {
		options.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	o := plugbench.Options{Time: options.Time, CacheDir: options.CacheDir, Now: options.Now, Progress: options.Progress}
	if options.Request != nil {
		o.Requests = []registry.Sample{{Name: string(options.Call), Call: options.Call, Request: options.Request}}
	}
	return plugbench.Run(ctx, wasm, info.Manifest, o)
}
