package open

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// LightRunner has Light answer cases outside of the court.
type LightRunner struct {
	Flags    *Flags
	Streams  cli.Streams
	Config   *host.Config
	Progress *cli.Progress
	Workers  int
	// doing is said on the terminal before the number of cases.
	Doing string

	last *host.Host
}

// Close closes the last host.
func (r *LightRunner) Close(ctx context.Context) {
	if r.last != nil {
		_ = r.last.Close(context.WithoutCancel(ctx))
	}
}

// HasLight says whether there is a Light that answers in place of the cases' own.
func HasLight(config *host.Config) bool { return config.LightPath != nil || config.Light != nil }

// Run asks Light about all entries; a Light path gets the profile.
func (r *LightRunner) Run(ctx context.Context, profile *abi.Profile, entries []docket.Entry) ([]docket.Entry, error) {
	config := run.LightConfig(*r.Config)
	config.Profile = profile
	h, err := r.Flags.Host(ctx, r.Streams, &config)
	if err != nil {
		return nil, r.Flags.Error(err)
	}
	r.Close(ctx) // only now: the hosts of a process share the modules that they compiled
	r.last = h
	n := 0
	lit, err := run.Light(ctx, h, entries, r.Workers, func() {
		n++
		r.Progress.Say(fmt.Sprintf("%s: %d of %d", r.Doing, n, len(entries)))
	})
	r.Progress.Clear()
	return lit, err
}
