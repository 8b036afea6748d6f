package open

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/relight"
)

// Asker has a Light answer for cases outside of the court.
type Asker struct {
	Flags    *Flags
	Streams  cli.Streams
	Config   *host.Config
	Progress *cli.Progress
	Workers  int
	// doing is said on the terminal before the number of cases.
	Doing string

	last *host.Host
}

// Close closes the last host that was asked.
func (a *Asker) Close(ctx context.Context) {
	if a.last != nil {
		_ = a.last.Close(context.WithoutCancel(ctx))
	}
}

// Asks says whether there is a Light that answers in place of the cases' own.
func Asks(config *host.Config) bool { return config.LightPath != nil || config.Light != nil }

// Ask asks Light, which is told a profile, about all entries.
func (a *Asker) Ask(ctx context.Context, profile *abi.Profile, entries []docket.Entry) ([]docket.Entry, error) {
	config := relight.Config(*a.Config)
	config.Profile = profile
	h, err := a.Flags.Host(ctx, a.Streams, &config)
	if err != nil {
		return nil, a.Flags.Error(err)
	}
	a.Close(ctx) // only now: the hosts of a process share the modules that they compiled
	a.last = h
	n := 0
	lit, err := relight.All(ctx, h, entries, a.Workers, func() {
		n++
		a.Progress.Say(fmt.Sprintf("%s: %d of %d", a.Doing, n, len(entries)))
	})
	a.Progress.Clear()
	return lit, err
}
