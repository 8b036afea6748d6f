package module

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// Options of a measurement. The zero value is useful.
type Options struct {
	// Call and Request are what is sent. Request nil: small valid requests of each kind that the manifest promises.
	Call    abi.Call
	Request []byte
	// Time for each figure. Default: 200 ms.
	Time time.Duration
	// CacheDir keeps compiled modules. Default: a folder of its own, which is removed at the end.
	CacheDir string
	// Now is the clock that measures. Default: time.Now.
	Now func() time.Time
	// Progress is called before each step with its name, and how many of that kind are done. Optional.
	Progress func(what string, done, of int)
}

// Report is what was measured.
type Report struct {
	Digest   string    `json:"digest"`
	Requests []Request `json:"requests"`
}

// Request is one request, and the figures of its call.
type Request struct {
	Name          string `json:"name"`
	RequestBytes  int    `json:"request_bytes"`
	ResponseBytes int    `json:"response_bytes"`
	Fuel          uint64 `json:"fuel"`
	// Answer is "ok", or what is wrong with the response: the module's own failure, or that it keeps no rule of the contract.
	Answer string `json:"answer"`
	// Error says why the call failed; then there are no figures.
	Error   string   `json:"error,omitempty"`
	Figures []Figure `json:"figures"`
}

// Figure is what calls of one kind took. The first one of a request is what all others are compared with.
type Figure struct {
	Name        string  `json:"name"`
	Calls       int     `json:"calls"`
	MedianNanos int64   `json:"median_ns"`
	P99Nanos    int64   `json:"p99_ns"`
	Allocs      float64 `json:"allocs"` // of the host, for each call
}

// The names of the figures that every request has.
const (
	Warm        = "warm, not reset"
	Unmetered   = "warm, without fuel"
	Interrupted = "warm, wazero's interruption"
	pristine    = "pristine, "
)

const defaultTime = 200 * time.Millisecond

// ErrNothingToSend: there is no request, and no manifest to make one from.
var ErrNothingToSend = errors.New("the module has no manifest that says what it serves, and there is no request to send")

// Run measures the calls of one module side by side: in an instance that is not reset, pristine in each way that works on this machine,
// without metering and with the runtime's own interruption instead. It takes as long as compiling the module three times, and some seconds
// for each kind of request. A call that fails has its error in the report. Run's own error lists every fault of a module that is not
// loaded, or is ErrNothingToSend, a fault of the file with its offset, or of the machine or the context.
//
// The module has to be trusted to end: some calls are made without anything that would end them.
func Run(ctx context.Context, wasm []byte, o Options) (*Report, error) {
	info, err := Inspect(wasm)
	if err != nil {
		return nil, err
	}
	var samples []registry.Sample
	switch {
	case o.Request != nil:
		samples = []registry.Sample{{Name: string(o.Call), Call: o.Call, Request: o.Request}}
	case info.Manifest != nil:
		samples = registry.Samples(info.Manifest)
	}
	if len(samples) == 0 {
		return nil, ErrNothingToSend
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if o.CacheDir == "" {
		dir, err := disk.TempDir("shadowcourt-bench")
		if err != nil {
			return nil, err
		}
		defer func() { _ = dir.Remove() }()
		o.CacheDir = dir.Path
	}
	if o.Time <= 0 {
		o.Time = defaultTime
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	s := &stand{options: o}
	defer s.close(context.WithoutCancel(ctx))
	if err := s.load(ctx, wasm, info.Manifest); err != nil {
		return nil, err
	}
	report := &Report{Digest: s.entries[0].module.Info().Digest.String()}
	for i, sample := range samples {
		o.Progress("measuring "+sample.Name, i, len(samples))
		r, err := s.request(ctx, sample)
		if err != nil {
			return nil, err
		}
		report.Requests = append(report.Requests, *r)
	}
	return report, nil
}

// request measures the calls of one request.
func (s *stand) request(ctx context.Context, sample registry.Sample) (*Request, error) {
	r := &Request{Name: sample.Name, RequestBytes: len(sample.Request), Figures: []Figure{}}
	// Metered first: whatever ends here does not spin where nothing ends it.
	output, err := s.entries[0].module.Call(ctx, sample.Call, sample.Request)
	if err != nil {
		r.Error = err.Error()
		return r, ctx.Err()
	}
	r.ResponseBytes, r.Fuel, r.Answer = len(output.Bytes), *output.Fuel, answer(sample.Call, output.Bytes)
	rivals, done, err := s.rivals(ctx, sample)
	defer done()
	if err != nil {
		return nil, err
	}
	for range rounds {
		for _, rival := range rivals {
			if err := rival.turn(s.options.Now, s.options.Time/rounds); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", sample.Name, rival.name, err)
			}
		}
	}
	for _, rival := range rivals {
		r.Figures = append(r.Figures, rival.figure())
	}
	return r, nil
}

// answer says what a response is.
func answer(call abi.Call, response []byte) string {
	failure, err := abitest.FailureOf(call, response)
	switch {
	case err != nil:
		return "invalid: " + err.Error()
	case failure != nil:
		return "failure " + failure.Code + ": " + failure.Message
	}
	return "ok"
}

// rival is one way of making the call that all rivals make.
type rival struct {
	name string
	call func() error

	took   []time.Duration
	allocs uint64
}

// rounds that each rival gets a turn in, so that whatever disturbs the machine disturbs them alike.
const rounds = 5

// maxSamples bounds what is kept of one rival.
const maxSamples = 1 << 20

// turn makes calls for some time, at least two.
func (r *rival) turn(now func() time.Time, length time.Duration) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for begin, n := now(), 0; n < 2 || now().Sub(begin) < length; n++ {
		start := now()
		if err := r.call(); err != nil {
			return err
		}
		if len(r.took) < maxSamples {
			r.took = append(r.took, now().Sub(start))
		}
	}
	runtime.ReadMemStats(&after)
	r.allocs += after.Mallocs - before.Mallocs
	return nil
}

// figure sums the turns up.
func (r *rival) figure() Figure {
	slices.Sort(r.took)
	at := func(quantile float64) int64 { return int64(r.took[int(quantile*float64(len(r.took)-1))]) }
	return Figure{
		Name: r.name, Calls: len(r.took), MedianNanos: at(0.5), P99Nanos: at(0.99),
		Allocs: float64(r.allocs) / float64(len(r.took)),
	}
}
