package alibi

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/owners"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/repo"
)

// places finds where failures are, and who looks after them.
type places struct {
	tree   *repo.Source
	prefix string
	owners *owners.File
}

// openPlaces reads the files' names and CODEOWNERS. What can't be read is told, and is no error: a failure without a place is one, too.
func openPlaces(ctx context.Context, stderr io.Writer, c *investigate.Change) (*places, error) {
	p := &places{prefix: c.Repository.Dir()}
	var err error
	if p.tree, err = repo.OpenSource(ctx, c.Source, ""); err != nil {
		return nil, err
	}
	if p.owners, err = owners.Find(c.Repository.Top()); err != nil {
		fmt.Fprintf(stderr, "warning: CODEOWNERS: %s\n", sanitize.Line(err.Error()))
	}
	return p, nil
}

// of is the place of a failure.
func (p *places) of(t *trial.Trial, test, message string) answers.Place {
	named, _ := junit.Named(&t.Case)
	f := repo.Failing{Group: t.Case.Group, Test: test, File: named.File, Texts: []string{message, t.FailureText()}}
	for i := range t.Case.Documents {
		f.Texts = append(f.Texts, t.Case.Documents[i].Text)
	}
	file, line := p.tree.PlaceOf(f)
	if file == "" {
		return answers.Place{}
	}
	file = path.Join(p.prefix, file)
	return answers.Place{File: file, Line: line, Owners: p.owners.Of(file)}
}

func (p *places) close() error { return p.tree.Close() }
