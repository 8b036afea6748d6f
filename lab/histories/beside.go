package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// beside gives saved failures of tests of Go to two builds of the command in turns, and prints what they answer and how long they take. Which of them
// is first alternates, because what it compiles the other one finds.
func beside(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("beside", flag.ContinueOnError)
	var in folders
	in.flags(flags)
	var builds [2]string
	flags.StringVar(&builds[0], "before", "", "the earlier build of shadowcourt")
	flags.StringVar(&builds[1], "now", filepath.Join("bin", "shadowcourt"), "the build that is compared with it")
	most := flags.Int("cases", 100, "how many cases are asked")
	if err := errors.Join(flags.Parse(args), in.check()); err != nil {
		return err
	}
	var faults error
	for i := range builds {
		var err error
		builds[i], err = filepath.Abs(builds[i])
		faults = errors.Join(faults, err)
	}
	repos, err := history.Read(in.saved, history.Reporting)
	if err = errors.Join(faults, err); err != nil {
		return err
	}
	var took [2][]float64
	var ratios []float64
	for _, id := range choose(repos, 1<<30) {
		c := caseOf(repos, id)
		if c.Failure.Runner != "go" || c.Kind == history.Environment || c.Kind == history.Conflict || len(ratios) == *most {
			continue
		}
		if _, err := os.Stat(in.snapshot(c.Repository)); err != nil {
			continue
		}
		folder, base, err := in.lay(ctx, c)
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", id, err)
			continue
		}
		var said [2]string
		var seconds [2]float64
		for n := range builds {
			at := (n + len(ratios)) % 2
			if said[at], seconds[at], err = ask(ctx, builds[at], folder, base); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		for i := range took {
			took[i] = append(took[i], seconds[i])
		}
		ratios = append(ratios, seconds[1]/seconds[0])
		fmt.Fprintf(out, "%s (%s): %.1f s %s, %.1f s %s\n", id, c.Truth.Attribution, seconds[0], said[0], seconds[1], said[1])
	}
	if len(ratios) == 0 {
		return in.noCases()
	}
	fmt.Fprintf(out, "%d cases: median %.1f s before, %.1f s now, of the ratios %.2f\n", len(ratios), median(took[0]), median(took[1]), median(ratios))
	return nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func caseOf(repos []history.Repo, id string) *history.Case {
	for i := range repos {
		for j := range repos[i].Cases {
			if repos[i].Cases[j].ID == id {
				return &repos[i].Cases[j]
			}
		}
	}
	return nil
}

// scratch is the folder for temporary files of the runs that were saved.
var scratch = regexp.MustCompile(`/[\w./+-]*/scratch/run/tmp\b`)

// lay checks the head of a case out beside its report, and gives the commit of its base.
func (f *folders) lay(ctx context.Context, c *history.Case) (folder, base string, err error) {
	work, err := filepath.Abs(filepath.Join(f.work, "beside", history.Slug(c.Repository)))
	if err != nil {
		return "", "", err
	}
	r, err := history.OpenRepository(ctx, f.snapshot(c.Repository), filepath.Join(work, "tree"), mine.Planters())
	if err != nil {
		return "", "", err
	}
	made := map[history.Role]string{}
	for _, role := range []history.Role{history.Head, history.Base} {
		t := c.Trees[role]
		if made[role], err = r.Make(ctx, &t); err != nil {
			return "", "", err
		}
	}
	// The command goes back to the commit that both have in common, and what is planted in a base is in no history.
	head, err := r.Git(ctx, "commit-tree", "-p", made[history.Base], "-m", "change", made[history.Head]+"^{tree}")
	if err == nil {
		_, err = r.Git(ctx, "checkout", "-q", "-f", strings.TrimSpace(head))
	}
	_, clean := r.Git(ctx, "clean", "-q", "-fdx")
	download := exec.CommandContext(ctx, "go", "mod", "download")
	download.Dir = r.Folder()
	_ = download.Run() // what the tests need is there, or their build says what is not
	report := scratch.ReplaceAllLiteralString(c.Failure.Text, os.TempDir())
	return r.Folder(), made[history.Base], errors.Join(err, clean, os.WriteFile(filepath.Join(work, "report.json"), []byte(report), 0o600))
}

// ask has a build answer the report of a checkout.
func ask(ctx context.Context, build, folder, base string) (said string, seconds float64, err error) {
	var written, told bytes.Buffer
	cmd := exec.CommandContext(ctx, build, "alibi", "--base", base, "--format", "json", filepath.Join("..", "report.json"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &written, &told
	begun := time.Now()
	failed := cmd.Run()
	seconds = time.Since(begun).Seconds()
	var answers struct {
		Failures []struct{ Verdict, Attribution string }
	}
	if err := json.Unmarshal(written.Bytes(), &answers); err != nil || len(answers.Failures) != 1 {
		return fmt.Sprintf("no answer (%v)", failed), seconds, ctx.Err()
	}
	a := answers.Failures[0]
	return a.Verdict + " " + a.Attribution, seconds, nil
}
