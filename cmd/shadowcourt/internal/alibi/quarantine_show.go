package alibi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/quarantine"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

func newCheck(s cli.Streams) *cobra.Command {
	var p fileFlag
	var reports []string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Validate the quarantine file, and name what has expired",
		Long: `Validate the quarantine file: all faults at once, with their lines. With --report, tests that
the report does not have are named, too: they may have another name now.

Exit codes: 0 the file is right; 2 it is not, or can't be read; 3 an entry has expired.`,
		Example: "  shadowcourt quarantine check --report report.xml",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := p.needed(cmd.Context(), time.Now())
			if err != nil {
				return err
			}
			var known quarantine.Known
			for _, name := range reports {
				if err := readReport(&known, name); err != nil {
					return cli.InputError(err)
				}
			}
			for i := range f.Tests {
				if e := &f.Tests[i]; len(reports) > 0 && !known.Has(e.Test) {
					fmt.Fprintf(s.Err, "warning: %s:%d: no report has the test %s\n", sanitize.Line(f.Name), e.Line, sanitize.Line(e.Test))
				}
			}
			if err := overdue(f, time.Now()); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "%s: %s in quarantine, none has expired\n", sanitize.Line(f.Name), cli.Count(len(f.Tests), "test", "tests"))
			return nil
		},
	}
	p.flag(cmd)
	cmd.Flags().StringArrayVar(&reports, "report", nil, "a `REPORT` of all tests (go test -json, JUnit XML): name tests in quarantine that it does not have; may be repeated")
	return cmd
}

func readReport(known *quarantine.Known, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return known.Read(name, f)
}

// listed is an entry in the output of list.
type listed struct {
	Test       string `json:"test"`
	Owner      string `json:"owner"`
	Since      string `json:"since"`
	Expires    string `json:"expires"`
	Expired    bool   `json:"expired"`
	Reason     string `json:"reason"`
	Proof      string `json:"proof,omitempty"`
	Link       string `json:"link,omitempty"`
	Failures   int    `json:"failures"`
	LastFailed string `json:"last_failed,omitempty"`
}

func newList(s cli.Streams) *cobra.Command {
	var p fileFlag
	format := "table"
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tests in quarantine",
		Long:    "List the tests in quarantine with owner, dates and reason. A repository without the file has none.",
		Example: "  shadowcourt quarantine list --format json",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "table" && format != "json" {
				return cli.InputError(fmt.Errorf("--format %q: use table or json", format))
			}
			now := time.Now()
			f, err := p.read(cmd.Context(), now)
			if errors.Is(err, fs.ErrNotExist) {
				f, err = &quarantine.File{}, nil
			}
			if err != nil {
				return err
			}
			return list(s, f, format == "json", quarantine.DayOf(now))
		},
	}
	p.flag(cmd)
	cmd.Flags().StringVar(&format, "format", format, "table or json")
	return cmd
}

func list(s cli.Streams, f *quarantine.File, asJSON bool, today quarantine.Day) error {
	entries := []listed{}
	for i := range f.Tests {
		e := &f.Tests[i]
		l := listed{e.Test, e.Owner, string(e.Since), string(e.Expires), e.Expired(today), e.Reason, e.Proof.Runs, e.Proof.Link, e.Failures.Count, ""}
		if e.Failures.Count > 0 {
			l.LastFailed = e.Failures.Last.String()
		}
		entries = append(entries, l)
	}
	if asJSON {
		enc := json.NewEncoder(s.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(s.Err, "No test is in quarantine.")
		return nil
	}
	t := table.NewWriter()
	t.SetStyle(cli.ListStyle())
	t.AppendHeader(table.Row{"Test", "Owner", "Since", "Expires", "Reason"})
	for _, e := range entries {
		expires := e.Expires
		if e.Expired {
			expires += " (expired)"
		}
		t.AppendRow(table.Row{sanitize.Line(e.Test), sanitize.Line(e.Owner), e.Since, expires, sanitize.Line(e.Reason)})
	}
	fmt.Fprintln(s.Out, t.Render())
	return nil
}

func newWrite(s cli.Streams) *cobra.Command {
	var p fileFlag
	var form, pack string
	var names []string
	var uses strings.Builder
	for _, f := range quarantine.Forms() {
		names = append(names, f.Name)
		uses.WriteString("\n  " + f.Name + ":\n    " + f.Use)
	}
	cmd := &cobra.Command{
		Use:   "write --form FORM",
		Short: "Write the tests in quarantine in the form of a test runner",
		Long: `Write the tests in quarantine in the form of a test runner, so that it leaves them out. Names are
escaped. Where a runner can't be told to leave out a test alone, the test is named and run; where it
leaves out more than the file says, a warning says what.

How to use the forms:
` + uses.String() + `

Exit codes: 0 written; 2 the file or the command line is wrong; 3 an entry has expired, and nothing
is written.`,
		Example: "  shadowcourt quarantine write --form gotest",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			forms := quarantine.Forms()
			i := slices.Index(names, form)
			switch {
			case form == "gotestsum":
				return cli.InputError(errors.New(`--form gotestsum: use gotest, as in: gotestsum -- -skip "$(shadowcourt quarantine write --form gotest)"`))
			case i < 0:
				return cli.InputError(fmt.Errorf("--form %q: use %s", form, cli.OrList(names)))
			}
			now := time.Now()
			f, err := p.read(cmd.Context(), now)
			if errors.Is(err, fs.ErrNotExist) {
				f, err = &quarantine.File{}, nil
			}
			if err == nil {
				err = overdue(f, now)
			}
			if err != nil {
				return err
			}
			w := forms[i].Write(f, pack)
			for _, left := range w.Left {
				fmt.Fprintf(s.Err, "warning: %s\n", sanitize.Line(left.Error()))
			}
			if pack != "" && !slices.Contains(w.Packages, pack) { // what is written leaves nothing out
				fmt.Fprintf(s.Err, "warning: %s\n", sanitize.Line(noneOf(pack, w.Packages)))
			}
			if limit := forms[i].Limit; limit != "" && w.Tests > 0 && pack == "" {
				fmt.Fprintf(s.Err, "warning: %s\n", limit)
			}
			_, err = fmt.Fprint(s.Out, w.Text)
			return err
		},
	}
	p.flag(cmd)
	cmd.Flags().StringVar(&form, "form", "", cli.OrList(names))
	cmd.Flags().StringVar(&pack, "package", "", "write the tests of this package (its import path, for Go), class or file alone")
	return cmd
}

// noneOf says that no test of a package is in quarantine, and of which packages there are some.
func noneOf(pack string, packages []string) string {
	text := fmt.Sprintf("--package %s: no test of it is in quarantine", pack)
	const most = 5
	if len(packages) > 0 {
		text += "; there are tests of " + strings.Join(packages[:min(len(packages), most)], ", ")
	}
	if more := len(packages) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
