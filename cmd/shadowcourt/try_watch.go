package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host"
)

// watchInterval is how often the folder of --watch is looked at. A change is
// taken when two looks saw the same, so that it takes one to two intervals.
const watchInterval = 500 * time.Millisecond

func (o *tryOptions) watchFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.watch, "watch", false, "with --modules: go on with newer modules when the folder has them; each result names its own")
}

func (o *tryOptions) checkWatch() error {
	if o.watch && o.modules == "" {
		return errors.New("--watch needs --modules, the folder to look at")
	}
	return nil
}

// follow follows the folder of --watch until stop is called, which waits for
// the end of a swap that goes on.
func (o *tryOptions) follow(ctx context.Context, stderr io.Writer, h *host.Host) (stop func()) {
	if !o.watch {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ticker := time.NewTicker(watchInterval)
	// Each message is one write, so that it stands whole beside those of the docket.
	say := func(text string) {
		clearLine := ""
		if terminalFile(stderr) != nil {
			clearLine = "\r\x1b[K"
		}
		_, _ = io.WriteString(stderr, clearLine+text)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Follow(ctx, host.Watch{
			Modules: os.DirFS(o.modules), Ticks: ticker.C,
			Swapped: func(changes []host.Change) {
				var b strings.Builder
				for _, c := range changes {
					fmt.Fprintf(&b, "swapped %s\n", inertLine(changeLine(c.Module, c.Before, c.After)))
				}
				say(b.String())
			},
			Refused: func(err error) {
				say(inertBlock("refused, the modules before go on:\n"+o.openError(err).Error()) + "\n")
			},
		})
	}()
	return func() {
		ticker.Stop()
		cancel()
		<-ended
	}
}
