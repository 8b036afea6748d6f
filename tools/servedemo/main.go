// Command servedemo starts the docket service with a fresh database, submits example dockets, waits until they are tried, and says what
// to look at. The service runs until the command is interrupted.
//
//	go run ./tools/servedemo -program bin/shadowcourt
package main

import (
	"bufio"
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

// stopTime is how long the service may take to stop.
const stopTime = 40 * time.Second

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
	running, end := context.WithCancel(ctx)
	defer end()
	server, done, err := d.start(running, data, d.listen)
	if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "in use") {
		host, _, _ := strings.Cut(d.listen, ":")
		server, done, err = d.start(running, data, host+":0")
	}
	if err != nil {
		return err
	}
	own, err := client.FindOwn(server)
	c := &caller{server: server, token: own.Token}
	if err == nil {
		err = d.fill(ctx, out, c)
	}
	if err == nil {
		err = d.tell(ctx, out, c)
	}
	if err != nil {
		end()
	}
	ended := <-done
	switch {
	case ctx.Err() != nil:
		return nil // it was to end
	case err != nil:
		return err
	}
	return fmt.Errorf("the service ended: %w", ended)
}

// start starts the service, and waits until it says where it is. done tells how it ended; the end of the context stops it.
func (d *demo) start(ctx context.Context, data, listen string) (server string, done <-chan error, err error) {
	cmd := exec.CommandContext(ctx, d.program, "serve", "--data", data, "--listen", listen)
	// A second signal, after that of the terminal, ends the service at once: its data is not needed any more.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTime
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	lines := bufio.NewReader(stderr)
	var said strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if server, ok := strings.CutPrefix(line, "serving at "); ok {
			go func() {
				_, _ = io.Copy(os.Stderr, lines)
				ended <- cmd.Wait()
			}()
			return strings.TrimSpace(server), ended, nil
		}
		said.WriteString(line)
		if err != nil {
			return "", nil, errors.Join(fmt.Errorf("the service did not start: %w", cmd.Wait()), errors.New(said.String()))
		}
	}
}
