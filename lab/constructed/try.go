package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// result is what came out of one case.
type result struct {
	Kind, Truth, Runner, Outcome, Form       string
	Row, Answer, Why, Next, Conclusion, Kept string
	Case, Exit, Tries                        int
	Red                                      bool
	Seconds                                  float64
}

// The outcomes of a case.
const (
	falseAlibi = "false alibi"
	falseBlame = "false blame"
	right      = "right"
	open       = "open"
	broken     = "broken" // the template made no failure, or the command ended with an error
)

// mostTries is how often a command is given until a test that fails by chance does.
const mostTries = 40

// answers is what the study reads of the answers as JSON.
type answers struct {
	Conclusion string
	Failures   []struct{ ID, Verdict, Attribution, Why, Next string }
}

// try makes a case and asks the command about it.
func (k *kind) try(ctx context.Context, o *options, i int) (r result, err error) {
	d := k.draw(o.seed, i)
	v := d.variant
	r = result{Kind: k.name, Truth: k.truth, Runner: v.runner, Case: i, Form: d.form, Red: d.red}
	top, err := os.MkdirTemp("", "constructed")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(top) }() // a folder for temporary files
	keep := func(out, told []byte, command string) error {
		r.Kept = filepath.Join(o.keep, k.name, fmt.Sprintf("%s-%d-%d", v.runner, o.seed, i))
		return errors.Join(os.RemoveAll(r.Kept), os.MkdirAll(filepath.Dir(r.Kept), 0o700), exec.CommandContext(ctx, "cp", "-a", top, r.Kept).Run(),
			os.WriteFile(filepath.Join(r.Kept, "command.sh"), []byte("cd repo\n"+command+"\n"), 0o600),
			os.WriteFile(filepath.Join(r.Kept, "answer.json"), out, 0o600), os.WriteFile(filepath.Join(r.Kept, "stderr.txt"), told, 0o600))
	}
	folder := filepath.Join(top, "repo")
	if err := d.repository(ctx, o, folder); err != nil {
		return r, err
	}
	field := map[string]string{}
	for _, name := range []string{"with", "run", "flags", "row"} {
		if field[name], err = d.render(v.fields[name], true); err != nil {
			return r, err
		}
	}
	if k.truth == environment {
		field["flags"] += " " + o.more
	}
	base := map[string]string{committed: "HEAD~1", uncommitted: "HEAD", twoCommits: "HEAD~2"}[d.form]
	command := fmt.Sprintf("%s\n%s alibi --base %s --format json %s -- %s", field["with"], o.program, base, field["flags"], field["run"])
	direct := field["with"] + "\n" + field["run"]
	about, err := regexp.Compile("(?i)" + field["row"])
	if err != nil {
		return r, err
	}
	if o.make {
		return r, keep(nil, nil, direct)
	}
	begun := time.Now()
	var out, told []byte
	for r.Tries = 1; ; r.Tries++ {
		if out, told, r.Exit, err = shell(ctx, folder, command); err != nil {
			return r, err
		}
		if d.fields["chance"] == "" || r.Exit != 0 || bytes.Contains(out, []byte(`"id"`)) || r.Tries == mostTries {
			break
		}
	}
	r.Seconds = float64(time.Since(begun).Milliseconds()) / 1000
	var a answers
	if err := json.Unmarshal(out, &a); err != nil && r.Exit != 1 && r.Exit != 2 {
		return r, fmt.Errorf("%w: %s", err, told)
	}
	r.judge(&a, about)
	if r.Exit == 0 && len(a.Failures) == 0 {
		r.Outcome = broken
		if _, _, exit, err := shell(ctx, folder, direct); err == nil && exit != 0 && d.fields["chance"] == "" {
			r.Outcome, r.Why = falseAlibi, "the command fails, and the answer has no failure"
		}
	}
	if r.Exit == 1 || r.Exit == 2 { // an error is neither an alibi nor blame
		r.Outcome, r.Why = broken, string(told[max(0, len(told)-600):])
	}
	if r.Outcome != right && r.Outcome != open {
		err = keep(out, told, command)
	}
	return r, err
}

// judge compares the answers with the truth: of the row that the kind is about, or by the exit code where there is none.
func (r *result) judge(a *answers, about *regexp.Regexp) {
	r.Conclusion = a.Conclusion
	verdicts := map[string]int{}
	blamed := false // what is no failure of the change
	for _, f := range a.Failures {
		if strings.Contains(strings.ToLower(f.ID), "archive") {
			blamed = blamed || f.Verdict == "yours"
			continue
		}
		// The row of several that tells most: a false one, else a decided one.
		if about.MatchString(f.ID) {
			verdicts[f.Verdict]++
			if r.Row == "" || f.Verdict != "open" {
				r.Row, r.Answer, r.Why, r.Next = f.ID, cmp.Or(f.Attribution, f.Verdict), f.Why, f.Next
			}
		} else if r.Row == "" && len(verdicts) == 0 {
			r.Why += f.ID + ": " + f.Verdict + ": " + f.Why + "; "
		}
	}
	yours, alibi := verdicts["yours"] > 0 || len(verdicts) == 0 && r.Exit == 3 && !blamed, verdicts["not yours"] > 0 || r.Exit == 0
	r.Outcome = open
	switch {
	case blamed:
		r.Outcome, r.Why = falseBlame, "the old failure beside is blamed; "+r.Why
	case r.Truth == caused && yours && r.Exit == 3, (r.Truth == old || r.Truth == environment) && alibi && !yours:
		r.Outcome = right
	case r.Truth == caused && alibi && (r.Exit == 0 || verdicts["open"] == 0), r.Truth == cannot && alibi:
		// Of several rows with one name an old one may have its alibi.
		r.Outcome = falseAlibi
	case r.Truth != caused && yours:
		r.Outcome = falseBlame
	}
}

// repository writes the base, commits it, and writes the change over it.
func (d *draw) repository(ctx context.Context, o *options, folder string) error {
	const commit = "git add -A; git commit -q --allow-empty -m "
	begin := "git init -q -b main; git config user.name Dev; git config user.email dev@example.com\n"
	if d.script() {
		begin += "cp -al '" + o.node + "/node_modules' .\n"
	}
	after := map[string]string{committed: commit + "change", uncommitted: "git add -A -N", twoCommits: commit + "change; " + commit + "note"}[d.form]
	stamp := strconv.FormatInt(time.Now().UnixNano(), 36)
	for head, text := range []string{begin + d.fields["begin"] + "\n" + commit + "base", d.fields["change"] + "\n" + after + "\n" + d.fields["setup"]} {
		text, err := d.render(text, head == 1)
		if err := errors.Join(err, d.write(folder, stamp, head == 1)); err != nil {
			return err
		}
		if _, told, exit, err := shell(ctx, folder, "set -e\n"+text); err != nil || exit != 0 {
			return fmt.Errorf("make the repository: %w: %s", err, told)
		}
	}
	return nil
}

// shell runs a text of the shell, in the environment of this command without what a CI platform sets.
func shell(ctx context.Context, folder, text string) (out, told []byte, exit int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", text) //nolint:gosec // the templates' own text
	c.Dir, c.WaitDelay = folder, time.Second
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); name != "CI" && !strings.HasPrefix(name, "GITHUB_") && name != "GOFLAGS" {
			c.Env = append(c.Env, pair)
		}
	}
	err = c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ctx.Err() == nil {
		err = nil
	}
	return o.Bytes(), e.Bytes(), c.ProcessState.ExitCode(), err
}
