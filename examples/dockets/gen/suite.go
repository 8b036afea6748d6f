package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// suiteTimeout is how long one run of a module's tests may take, compiling included.
const suiteTimeout = 3 * time.Minute

// shuffleLine is the event in which go test says how it ordered the tests.
var shuffleLine = regexp.MustCompile(`(?m)^.*"Output":"-test\.shuffle \d+\\n"\}\n`)

// plan is one run of a module's tests under one fault.
type plan struct {
	cause   string
	kind    string // the operator or the fault of the environment
	note    string // the site
	launch  string // the fault that the launcher makes, or empty
	shuffle int
}

// outcome is what a run gave.
type outcome struct {
	failed bool
	cannot string // why the machine could not make the fault
	stream string // go test -json, with the paths normalised
}

// test runs the module's tests. The command line is the same for every cause but for the number that orders the tests.
func (c *checkout) test(ctx context.Context, p plan) (outcome, error) {
	if err := c.freshFolders(); err != nil {
		return outcome{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	packages := c.module.packages
	if len(packages) == 0 {
		packages = []string{"."}
	}
	args := append([]string{
		"test", "-json", "-race", "-count=1", "-timeout=20s",
		"-shuffle=" + order(p.shuffle), "-exec=" + self + " " + launchArg,
	}, packages...)
	ctx, cancel := context.WithTimeout(ctx, suiteTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = c.source()
	cmd.WaitDelay = 5 * time.Second
	note := filepath.Join(c.root, "cannot")
	_ = os.Remove(note)
	cmd.Env = c.environment(p.launch, note)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if ctx.Err() != nil {
		return outcome{}, nil // too slow to be of use, or interrupted: the caller looks at its own context
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	cannot, _ := os.ReadFile(note)
	stream := shuffleLine.ReplaceAllString(c.normalise(out.String()), "")
	return outcome{failed: err != nil, cannot: string(cannot), stream: stream}, nil
}

// environment is the same for every run, whoever starts the generator.
func (c *checkout) environment(launch, note string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home(), "USER=ci", "TZ=UTC", "LANG=C.UTF-8",
		tempEnv + "=" + c.temp(), "GOTMPDIR=" + c.buildDir(), "GOFLAGS=-mod=mod", "GOMAXPROCS=4",
		"GOCACHE=" + goEnv("GOCACHE"), "GOMODCACHE=" + goEnv("GOMODCACHE"), "GOPROXY=" + goEnv("GOPROXY"),
		faultEnv + "=" + launch, noteEnv + "=" + note, gorootEnv + "=" + goEnv("GOROOT"),
	}
}

func order(shuffle int) string {
	if shuffle == 0 {
		return "off"
	}
	return strconv.Itoa(shuffle)
}
