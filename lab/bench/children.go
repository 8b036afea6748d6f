package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// children are what this program does in a process of its own, where memory is
// measured. What they find they write as JSON.
func children() map[string]func(ctx context.Context, args []string, stdout io.Writer) error {
	return map[string]func(ctx context.Context, args []string, stdout io.Writer) error{
		"child-instances": child(holdInstances),
		"child-docket":    child(tryDocket),
	}
}

func child[In, Out any](do func(context.Context, In) (Out, error)) func(context.Context, []string, io.Writer) error {
	return func(ctx context.Context, args []string, stdout io.Writer) error {
		var in In
		if len(args) != 1 {
			return fmt.Errorf("a child has one argument, not %d", len(args))
		}
		if err := json.Unmarshal([]byte(args[0]), &in); err != nil {
			return err
		}
		out, err := do(ctx, in)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(out)
	}
}

// inChild does it in a process of its own.
func inChild[In, Out any](ctx context.Context, name string, in In) (out Out, err error) {
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	argument, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	cmd := exec.CommandContext(ctx, self, name, string(argument))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, json.Unmarshal(text, &out)
}
