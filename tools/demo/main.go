// Command demo makes the project that `make demo` asks about: the releases of a public Go module as a git repository, one commit each, a
// change of several commits on top, and a test run in which six tests fail. Then it compares the answers with what was planted.
//
//	go run ./tools/demo -out out/demo
//	go run ./tools/demo -out out/demo -check
//
// OUT/uuid is the repository with the branches main and change, OUT/report.json the true output of go test -json on change, and
// OUT/planted.json what was planted. All commits have the same ids everywhere. Only the module proxy is asked for something. With -check
// OUT/answers.jsonl are the answers of shadowcourt alibi --format jsonl; the exit code is 0 only if all are right.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", filepath.Join("out", "demo"), "folder to write to")
	check := flag.Bool("check", false, "compare answers.jsonl with what was planted")
	flag.Parse()
	var err error
	if *check {
		err = compare(*out, os.Stdout)
	} else {
		err = run(context.Background(), *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string) error {
	dir := filepath.Join(out, "uuid")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	history, err := build(ctx, repository(dir))
	if err != nil {
		return err
	}
	truth, err := json.MarshalIndent(history.truth(), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, plantedFile), append(truth, '\n'), 0o644); err != nil {
		return err
	}
	report, err := failingRun(ctx, dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "report.json"), report, 0o644)
}
