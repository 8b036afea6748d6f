// Command servedemo starts the docket service with a fresh database, submits example dockets, waits until they are tried, and says what
// to look at. The service runs until the command is interrupted.
//
//	go run ./tools/servedemo -program bin/shadowcourt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/client"
)

func main() {
	var d demo
	flag.StringVar(&d.program, "program", filepath.Join("bin", "shadowcourt"), "shadowcourt itself")
	flag.StringVar(&d.examples, "examples", filepath.Join("examples", "dockets"), "folder of the example dockets")
	flag.StringVar(&d.out, "out", "out", "folder for the database; the report of 'make demo' is read there")
	flag.StringVar(&d.listen, "listen", "127.0.0.1:8712", "address of the service; where it is taken, another port")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := d.run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "servedemo:", err)
		os.Exit(1)
	}
}

// demo is what the flags say.
type demo struct{ program, examples, out, listen string }

// run serves until the context ends.
func (d *demo) run(ctx context.Context, out io.Writer) error {
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return err
	}
	data, err := os.MkdirTemp(d.out, "serve-demo-") // its own, beside that of another demo that still runs
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(data) }()
	server, err := d.start(ctx, data)
	if err != nil {
		return err
	}
	own, err := client.FindOwn(server.url)
	c := &caller{server: server.url, token: own.Token}
	if err == nil {
		err = d.fill(ctx, out, c)
	}
	if err == nil {
		err = d.tell(ctx, out, c)
	}
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, server.end())
	}
	return server.wait(ctx)
}

// server is the service, a process of its own.
type server struct {
	url  string
	cmd  *exec.Cmd
	done chan error
}

// stopTime is how long the service may take to stop.
const stopTime = 40 * time.Second

// start starts the service, at a free port where the address is taken.
func (d *demo) start(ctx context.Context, data string) (*server, error) {
	first, err := d.startAt(ctx, data, d.listen)
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "in use") {
		return first, err
	}
	host, _, _ := strings.Cut(d.listen, ":")
	return d.startAt(ctx, data, host+":0")
}

// startAt waits until the service says where it is.
func (d *demo) startAt(ctx context.Context, data, listen string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, d.program, "serve", "--data", data, "--listen", listen), done: make(chan error, 1)}
	// A second signal, after that of the terminal, ends the service at once: its data is not needed any more.
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = stopTime
	said := &announced{url: make(chan string, 1)}
	s.cmd.Stderr = said
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.done <- s.cmd.Wait() }()
	select {
	case s.url = <-said.url:
		return s, nil
	case err := <-s.done:
		return nil, fmt.Errorf("the service did not start: %w\n%s", err, said.text())
	}
}

// wait waits until the service ends. That it was interrupted is no fault.
func (s *server) wait(ctx context.Context) error {
	err := <-s.done
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	return fmt.Errorf("the service ended: %w", err)
}

// end stops the service, whatever it does.
func (s *server) end() error {
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	if err := <-s.done; err == nil {
		return errors.New("the service ended before it was killed")
	}
	return nil
}
