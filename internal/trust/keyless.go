package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// keylessProgram verifies keyless signatures. It is a program of its own, since the libraries for that are a quarter of all that a command
// with them links.
const keylessProgram = "shadowcourt-keyless"

// The longest that the program may take for a bundle, and the most bytes that it may answer.
const (
	keylessTime  = 20 * time.Second
	keylessBytes = 8 << 20
)

// keylessAnswer is what a bundle shows by one trusted root. Only this much is taken from the program: the policy decides whose signatures count.
type keylessAnswer struct {
	Fault    string    `json:"fault"` // why the bundle does not hold; empty if it does
	Identity string    `json:"identity"`
	Issuer   string    `json:"issuer"`
	At       time.Time `json:"at"`
	Payload  []byte    `json:"payload"` // what was signed; empty for a signature of the manifest itself
}

// askKeyless has a bundle verified by each of some trusted roots.
func askKeyless(ctx context.Context, bundle []byte, manifest string, roots []json.RawMessage) ([]keylessAnswer, error) {
	program, err := findKeyless()
	if err != nil {
		return nil, err
	}
	question, err := json.Marshal(map[string]any{"bundle": bundle, "manifest": manifest, "roots": roots})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, keylessTime, fmt.Errorf("no answer in %v", keylessTime))
	defer cancel()
	answer, fault := limited{most: keylessBytes}, limited{most: 1 << 10}
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // found beside this program, else in PATH
	cmd.Env = []string{}                     // it needs none
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(question), &answer, &fault
	cmd.WaitDelay = time.Second
	var list []keylessAnswer
	if err = cmd.Run(); err == nil {
		err = strict(answer.kept, &list)
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx) // a caller that gave up is no fault of the program
	case err != nil:
		err = fmt.Errorf("%w %s", err, bytes.TrimSpace(fault.kept))
	case len(list) != len(roots):
		err = fmt.Errorf("%d answers for %d trusted roots: it is of another version", len(list), len(roots))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return list, nil
}

// findKeyless finds the program beside this one, else in PATH.
func findKeyless() (string, error) {
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), keylessProgram)
			if runtime.GOOS == "windows" {
				beside += ".exe"
			}
			if _, err := os.Stat(beside); err == nil {
				return beside, nil
			}
		}
	}
	if found, err := exec.LookPath(keylessProgram); err == nil {
		return found, nil
	}
	return "", errors.New("it has a certificate, and the program " + keylessProgram + ", which verifies keyless signatures, is neither beside shadowcourt nor in PATH: " +
		"it is in the archive of each release, or go install github.com/shadowcourt/shadowcourt/cmd/" + keylessProgram + "@latest")
}

// limited keeps what is written to it up to a limit, and fails beyond it.
type limited struct {
	kept []byte
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(l.kept)+len(p) > l.most {
		return 0, errors.New("it wrote too much")
	}
	l.kept = append(l.kept, p...)
	return len(p), nil
}
