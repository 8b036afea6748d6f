package alibi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// NewPublish is the command of the program's version.
func NewPublish(s cli.Streams, version string) *cobra.Command {
	return cli.Parent("publish", "Write answers of alibi to GitHub and other places where people work",
		newIssues(s, version), newReportPortal(s, version), newGitLab(s, version), newGitHub(s, version))
}

// oneDocument is the argument of every subcommand.
var oneDocument = cli.ExactArgs(1, "the document that `alibi --report FILE.json` writes, or - for the standard input")

// openInput opens a file, or the standard input where the name is -.
func openInput(s cli.Streams, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.In), nil
	}
	return os.Open(name)
}

// readAnswers reads a document of answers from a file, or from the standard input where the name is -. Whoever wrote it, its texts are hostile.
func readAnswers(s cli.Streams, name string) (*answers.Document, error) {
	in, err := openInput(s, name)
	if err != nil {
		return nil, cli.InputError(err)
	}
	defer func() { _ = in.Close() }()
	if name == "-" {
		name = "the standard input"
	}
	d, err := answers.Read(in)
	if err != nil {
		return nil, cli.InputError(errors.New(sanitize.Log(name + ": " + err.Error())))
	}
	return publish.Recount(d)
}

// comment is what the comment on a change takes from flags.
type comment struct {
	name, token    string
	number         int
	dryRun, strict bool
	agent          string
}

const usualName = "alibi"

// job is the name to show: none where there is only one job.
func (c *comment) job() string {
	if c.name == usualName {
		return ""
	}
	return c.name
}

func (c *comment) flags(f *pflag.FlagSet, what, tokens string) {
	f.StringVar(&c.name, "name", usualName, "name of this job: several jobs of one "+what+" have a comment each")
	f.StringVar(&c.token, "token", "", "where the token is: env:NAME, or a file (default: the variable "+tokens+")")
	f.IntVar(&c.number, "number", 0, "number of the "+what+" (default: that of this run)")
	f.BoolVar(&c.dryRun, "dry-run", false, "print what would be written, and write and send nothing; needs no token")
	f.BoolVar(&c.strict, "strict", false, "fail where the comment can't be written for want of a token or of its permission; else that is a warning")
}

var errNumber = errors.New("--number: use a number above 0")

// place is where the comment goes.
type place struct {
	what   string // such as "acme/shop#12"
	hint   string // what helps where the token may not write
	token  publish.Token
	author string // empty: that of the token
	open   func() (*publish.Notes, error)
}

// keep writes or updates the comment.
func (c *comment) keep(ctx context.Context, s cli.Streams, d *answers.Document, body string, p *place) error {
	marker, err := publish.Marker(c.name)
	if err != nil {
		return cli.InputError(err)
	}
	quiet := len(d.Failures)+d.Unanswered == 0
	if c.dryRun {
		condition := ""
		if quiet {
			condition = ", if there is one already: nothing failed"
		}
		fmt.Fprintf(s.Out, "would write the comment %s on %s%s:\n%s\n", c.name, p.what, condition, sanitize.Log(body))
		return nil
	}
	if p.token.Empty() {
		return c.lacks(s, errors.New("there is no token"), p)
	}
	notes, err := p.open()
	if err != nil {
		return cli.InputError(err)
	}
	author := p.author
	if author == "" {
		if author, err = notes.Self(ctx); err != nil {
			return cli.OrInterrupted(ctx, fmt.Errorf("comment on %s: %w", p.what, err))
		}
	}
	kept, err := publish.Keep(ctx, notes, author, publish.Note{Marker: marker, Body: body, Quiet: quiet})
	switch {
	case errors.Is(err, publish.ErrForbidden):
		return c.lacks(s, err, p)
	case err != nil:
		return cli.OrInterrupted(ctx, fmt.Errorf("comment on %s: %w", p.what, err))
	case kept.Did == "":
		fmt.Fprintf(s.Err, "comment on %s: none, since nothing failed\n", p.what)
	default:
		fmt.Fprintf(s.Err, "comment %d on %s: %s\n", kept.ID, p.what, kept.Did)
	}
	if kept.Removed > 0 {
		fmt.Fprintf(s.Err, "%s removed\n", cli.Count(kept.Removed, "older comment", "older comments"))
	}
	return nil
}

// lacks says that the comment can't be written: an error or a warning.
func (c *comment) lacks(s cli.Streams, err error, p *place) error {
	err = fmt.Errorf("comment on %s: %w; %s", p.what, err, p.hint)
	if c.strict {
		return err
	}
	fmt.Fprintln(s.Err, "warning: "+sanitize.Log(sanitize.Line(strings.ReplaceAll(err.Error(), "\n", "; "))))
	return nil
}

// appendTo appends to a file that a platform names in a variable, where it does, and says so.
func (c *comment) appendTo(s cli.Streams, variable, what, text string, most int64) error {
	name := os.Getenv(variable)
	switch {
	case name == "":
		return nil
	case c.dryRun:
		fmt.Fprintf(s.Out, "would append %s (%s):\n%s", what, variable, sanitize.Log(text))
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the platform names the file, and reads it as another user
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	if info, err := f.Stat(); err == nil && info.Size()+int64(len(text)) > most {
		fmt.Fprintf(s.Err, "warning: %s: left out, since the file would have more than %d bytes\n", what, most)
		return f.Close()
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	fmt.Fprintf(s.Err, "%s: %d bytes\n", what, len(text))
	return nil
}

// writeFlags are those of commands that write to a tracker only where they are told to.
type writeFlags struct {
	write, dry bool
	token      string
}

func (w *writeFlags) add(f *pflag.FlagSet, variables ...string) {
	f.BoolVar(&w.write, "write", false, "write; without it nothing is changed, and what would be is printed")
	f.BoolVar(&w.dry, "dry-run", false, "only print what would be written: the default")
	f.StringVar(&w.token, "token", "", "the token: a file, or env:NAME for a variable that holds it (default: the variable "+cli.OrList(variables)+")")
}

func (w *writeFlags) check() error {
	if w.write && w.dry {
		return errors.New("--write and --dry-run exclude each other")
	}
	return nil
}

// conclude prints what was done, or what would be, and counts failures.
func (w *writeFlags) conclude(s cli.Streams, written, planned, failed int) error {
	var err error
	switch {
	case w.write:
		_, err = fmt.Fprintf(s.Out, "written: %d\n", written)
	case planned > 0:
		_, err = fmt.Fprintf(s.Out, "would write: %d; nothing was written, use --write\n", planned)
	default:
		_, err = fmt.Fprintln(s.Out, "nothing to write")
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("failed: %d, as the table says", failed)
	}
	return err
}

// actionWords say whether something was done, would be, or failed.
func actionWords(action string, done, write bool) string {
	switch {
	case action == "failed" && done:
		return "failed in part"
	case action == "failed" || action == "keep" || action == "leave" || done:
		return action
	case write:
		return "not " + action
	}
	return "would " + action
}

// server is one of an address, with the token.
func (w *writeFlags) server(address, version string, variables ...string) (*publish.Server, error) {
	s, err := publish.ParseServer(address, false)
	if err != nil {
		return nil, err
	}
	if s.Token, err = publish.ReadToken(w.token, variables...); err != nil {
		return nil, fmt.Errorf("--token: %w", err)
	}
	if w.write && s.Token.Empty() {
		return nil, errors.New("--write needs a token: set the variable " + cli.OrList(variables) + ", or use --token")
	}
	s.Header, s.Prefix, s.Agent = "Authorization", "Bearer ", "shadowcourt/"+version
	return s, nil
}

// orVariable is a value, or that of the first variable which is set.
func orVariable(value string, names ...string) string {
	for _, name := range names {
		if value == "" {
			value = strings.TrimSpace(os.Getenv(name))
		}
	}
	return value
}
