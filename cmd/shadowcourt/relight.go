package main

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/relight"
)

// asker has a Light answer for cases outside of the court.
type asker struct {
	options  *tryOptions
	streams  stdio
	config   *host.Config
	progress *progress
	// doing is said on the terminal before the number of cases.
	doing string

	last *host.Host
}

// close closes the last host that was asked.
func (a *asker) close(ctx context.Context) {
	if a.last != nil {
		_ = a.last.Close(context.WithoutCancel(ctx))
	}
}

// asks says whether there is a Light that answers in place of the cases' own.
func asks(config *host.Config) bool { return config.LightPath != nil || config.Light != nil }

// ask asks Light, which is told a profile, about all entries.
func (a *asker) ask(ctx context.Context, profile *abi.Profile, entries []docket.Entry) ([]docket.Entry, error) {
	config := relight.Config(*a.config)
	config.Profile = profile
	h, err := a.options.open(ctx, a.streams, &config)
	if err != nil {
		return nil, a.options.openError(err)
	}
	a.close(ctx) // only now: the hosts of a process share the modules that they compiled
	a.last = h
	n := 0
	lit, err := relight.All(ctx, h, entries, a.options.workers, func() {
		n++
		a.progress.say(fmt.Sprintf("%s: %d of %d", a.doing, n, len(entries)))
	})
	a.progress.clear()
	return lit, err
}
