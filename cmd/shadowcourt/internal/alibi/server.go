package alibi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// serverOptions are the flags about a service that gets the answers.
type serverOptions struct {
	url, key, repository, name string

	results *open.Results // nil without a service
}

func (o *serverOptions) flags(cmd *cobra.Command) {
	cli.OptionVar(cmd.Flags(), &o.url, "server", "also send the answers, with their trials, runs and proof, to the docket service at this `URL`, such as https://court.example; "+
		"shadowcourt login keeps its token",
		cli.TextOption(&o.repository, "repository", "NAME", "the repository of the code under test, for the service's inbox"),
		cli.TextOption(&o.key, "key", "TEXT", "the same key and answers are kept once (default: made of the answers)"))
}

func (o *serverOptions) check() error {
	if o.url == "" {
		if o.key != "" || o.repository != "" {
			return errors.New("--server: name the URL before its options")
		}
		return nil
	}
	_, err := wire.Origin(o.url)
	if err != nil {
		err = fmt.Errorf("--server: %w", err)
	}
	return errors.Join(err, open.CheckServerText("key", o.key), open.CheckServerText("repository", o.repository))
}

// open connects to the service, before anything runs.
func (o *serverOptions) open(ctx context.Context, stderr io.Writer, program string, args []string) (err error) {
	if o.url == "" {
		return nil
	}
	if o.name = filepath.Base(args[0]); len(args) > 1 {
		o.name = strings.Join(args, " ")
	}
	const most = 100 // characters
	if name := []rune(strings.ToValidUTF8(o.name, "?")); len(name) > most {
		o.name = string(name[:most])
	}
	o.results, err = open.NewResults(ctx, stderr, o.url, program)
	return err
}

func (o *serverOptions) add(asked *alibi.Asked, took time.Duration) error {
	if o.results == nil {
		return nil
	}
	return o.results.Add(asked.Trial, asked.Answer, took)
}

// send sends the answers of a run that came to its end.
func (o *serverOptions) send(ctx context.Context, stderr io.Writer, court *alibi.Court, p *proof) error {
	if o.results == nil {
		return nil
	}
	graph, err := pipeline.Marshal(court.Pipeline())
	if err != nil {
		return err
	}
	head := wire.Push{Pipeline: string(graph), Change: &p.change}
	if p.key != nil {
		public, err := p.key.PublicPEM()
		if err != nil {
			return err
		}
		head.Key = string(public)
	}
	return o.results.Send(ctx, stderr, &wire.Submission{Name: o.name, Repository: o.repository, Key: o.key}, head, p.text.Bytes())
}
