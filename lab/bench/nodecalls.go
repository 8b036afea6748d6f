package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// language builds guests of one toolchain.
type language struct {
	name  string
	build func(ctx context.Context, dir, name string) ([]byte, error)
	// prepares: its guests export shadowcourt_prepare.
	prepares bool
}

func languages() []language { return []language{{"Go", buildGo, true}, {"C", buildC, false}} }

// buildGo builds a folder of guests as a module, into dir.
func buildGo(ctx context.Context, dir, name string) ([]byte, error) {
	out := filepath.Join(dir, "go-"+name+".wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", out, "./guests/"+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	return built(cmd, out)
}

// buildC builds a file of guests/c as a module, into dir. It needs clang, wasm-ld
// and wasi-libc.
func buildC(ctx context.Context, dir, name string) ([]byte, error) {
	out := filepath.Join(dir, "c-"+name+".wasm")
	cmd := exec.CommandContext(ctx, "clang", "--target=wasm32-wasi", "-O2", "-Wall", "-mexec-model=reactor",
		"-Wl,--strip-all", "-o", out, "guests/c/"+name+".c")
	return built(cmd, out)
}

func built(cmd *exec.Cmd, out string) ([]byte, error) {
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", filepath.Base(out), err, said)
	}
	return os.ReadFile(out)
}

// nodeCalls measures one call of a node that does next to nothing.
func (b *bench) nodeCalls(ctx context.Context) error {
	x := nodeExchange()
	c := &heat{exchange: x}
	defer c.close()
	c.add("node call, native Go function", affirm, nil)
	engine, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close(ctx) }()
	for _, l := range languages() {
		if err := b.guestCalls(ctx, c, engine, l); err != nil {
			b.miss("node calls, "+l.name+" guest", err)
		}
	}
	if call, closed, err := GoPlugin(); err != nil {
		b.miss("node call, go-plugin over gRPC", err)
	} else {
		c.add("node call, native Go, go-plugin over gRPC", call, closed)
	}
	medians, err := Interleave(b.rounds, b.turn, c.rivals)
	if err != nil {
		return err
	}
	b.add("node call, request", float64(len(x.request)), "bytes")
	for _, r := range c.rivals {
		b.add(r.Name, float64(medians[r.Name])/1e3, "us")
	}
	for _, l := range languages() {
		own := callName(l.name, "direct pristine")
		b.against(own, callName(l.name, "direct warm"))
		b.against(callName(l.name, "direct pristine, latency"), callName(l.name, "direct warm, latency"))
		b.against(callName(l.name, "direct pristine, one processor"), callName(l.name, "direct warm"))
		for _, peer := range []string{"Extism warm", "Extism fresh plugin", "wasmtime warm", "wasmtime fresh instance"} {
			b.against(own, callName(l.name, peer))
		}
		b.against(own, "node call, native Go, go-plugin over gRPC")
		b.against(own, "node call, native Go function")
	}
	return nil
}

// pause between calls whose latency is measured: a reset takes less.
const pause = 50 * time.Microsecond

func callName(language, how string) string {
	return fmt.Sprintf("node call, %s guest, %s", language, how)
}

// guestCalls adds the rivals that run the guest of one language.
func (b *bench) guestCalls(ctx context.Context, c *heat, engine *sandbox.Engine, l language) error {
	wasm, err := l.build(ctx, b.dir, "direct")
	if err != nil {
		return err
	}
	warm, closed, err := Wazero(ctx, wasm, false)
	if err != nil {
		return err
	}
	c.add(callName(l.name, "direct warm"), warm, closed)
	c.add(callName(l.name, "direct warm, latency"), warm, nil)
	c.last().Pause = pause
	pristine, err := Sandbox(ctx, engine, wasm)
	if err != nil {
		return err
	}
	c.add(callName(l.name, "direct pristine"), pristine, nil)
	c.add(callName(l.name, "direct pristine, one processor"), pristine, nil)
	c.last().Processors = 1
	c.add(callName(l.name, "direct pristine, latency"), pristine, nil)
	c.last().Pause = pause

	if warm, fresh, closed, err := b.extism(ctx, l); err != nil {
		b.miss(callName(l.name, "Extism"), err)
	} else {
		c.add(callName(l.name, "Extism warm"), warm, closed)
		c.add(callName(l.name, "Extism fresh plugin"), fresh, nil)
	}
	if warm, fresh, closed, err := Wasmtime(wasm); err != nil {
		b.miss(callName(l.name, "wasmtime"), err)
	} else {
		c.add(callName(l.name, "wasmtime warm"), warm, closed)
		c.add(callName(l.name, "wasmtime fresh instance"), fresh, nil)
	}
	return nil
}

func (b *bench) extism(ctx context.Context, l language) (warm, fresh Call, closed func(), err error) {
	wasm, err := l.build(ctx, b.dir, "extism")
	if err != nil {
		return nil, nil, nil, err
	}
	return Extism(ctx, wasm)
}

// heat gathers rivals that answer the same request.
type heat struct {
	exchange exchange
	rivals   []Rival
	closers  []func()
}

func (c *heat) add(name string, call Call, closed func()) {
	c.rivals = append(c.rivals, Rival{Name: name, Do: Once(c.exchange.once(call))})
	if closed != nil {
		c.closers = append(c.closers, closed)
	}
}

func (c *heat) last() *Rival { return &c.rivals[len(c.rivals)-1] }

func (c *heat) close() {
	for _, closed := range c.closers {
		closed()
	}
}
