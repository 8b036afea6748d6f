package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// git runs git in a folder.
type git struct {
	dir string
	env []string // in addition
}

func (g git) run(ctx context.Context, args ...string) error {
	_, err := g.output(ctx, args...)
	return err
}

// output returns what git prints, without white space around it.
func (g git) output(ctx context.Context, args ...string) (string, error) {
	return output(ctx, g.dir, g.env, "git", args...)
}

// goCommand runs the Go toolchain in a folder, without settings of the user that change what is built.
func goCommand(ctx context.Context, dir string, args ...string) error {
	_, err := output(ctx, dir, []string{"GOFLAGS=", "GOWORK=off", "GOEXPERIMENT="}, "go", args...)
	return err
}

func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), env)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
