package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// tourFile holds the cases that are tried.
var tourFile = filepath.Join("..", "..", "examples", "dockets", "tour.jsonl")

// tour reads the cases of the example docket, in its order.
func tour() ([]abi.Case, error) {
	f, err := os.Open(tourFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var cases []abi.Case
	var reader docket.Reader
	for entry, err := range reader.JSONL(tourFile, f) {
		if err != nil {
			return nil, err
		}
		cases = append(cases, entry.Case)
	}
	return cases, nil
}

func tourCase(id string) (abi.Case, error) {
	cases, err := tour()
	for i := range cases {
		if cases[i].ID == id {
			return cases[i], err
		}
	}
	return abi.Case{}, errors.Join(err, fmt.Errorf("%s: no case %q", tourFile, id))
}

// nativeCourt is the shipped court with the personas as native Go.
func nativeCourt() (*court.Court, error) {
	return court.New(court.Config{Services: court.Services{Now: time.Now}})
}

// Who plays a trial.
const (
	nativePersonas = ", native Go personas"
	warmModules    = ", modules never reset nor metered"
	modules        = ", modules"
)

// trials measures whole trials, on one processor.
func (b *bench) trials(ctx context.Context) error {
	h, err := host.Open(ctx, host.Config{CacheDir: filepath.Join(b.dir, "cache")})
	if err != nil {
		return err
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	plain, err := nativeCourt()
	if err != nil {
		return err
	}
	warmed, closed, err := warm(ctx)
	if err != nil {
		return err
	}
	defer closed()
	var rivals []Rival
	kinds := []struct{ name, id string }{{"two-round trial", "tour-rounds"}, {"plea deal", "tour-plea"}}
	for _, kind := range kinds {
		subject, err := tourCase(kind.id)
		if err != nil {
			return err
		}
		b.describe(kind.name, &subject)
		want, err := h.Try(ctx, subject)
		if err != nil {
			return err
		}
		for _, other := range []struct {
			name    string
			players *players
		}{{nativePersonas, &players{answers: native(personas())}}, {warmModules, &players{answers: warmed}}} {
			rivals = append(rivals, Rival{Name: kind.name + other.name, Processors: 1, Do: Once(func() error {
				got, err := plain.Try(ctx, subject, court.Options{Modules: other.players})
				if err != nil {
					return err
				}
				return sameTrial(want, got.Trial)
			})})
		}
		rivals = append(rivals, Rival{Name: kind.name + modules, Processors: 1, Do: Once(func() error {
			got, err := h.Try(ctx, subject)
			if err != nil {
				return err
			}
			if got.Result.Final != want.Result.Final {
				return fmt.Errorf("%w: %+v", errWrong, got.Result.Final)
			}
			return nil
		})})
	}
	medians, err := Interleave(b.rounds, 2*b.turn, rivals)
	if err != nil {
		return err
	}
	for _, r := range rivals {
		b.add(r.Name, float64(medians[r.Name])/1e3, "us")
	}
	for _, kind := range kinds {
		b.against(kind.name+modules, kind.name+nativePersonas)
		b.against(kind.name+modules, kind.name+warmModules)
		b.against(kind.name+warmModules, kind.name+nativePersonas)
		b.add(kind.name+modules+", throughput", float64(time.Second)/float64(medians[kind.name+modules]), "trials/s")
	}
	return nil
}

// describe states what is tried.
func (b *bench) describe(name string, subject *abi.Case) {
	size := 0
	for i := range subject.Documents {
		size += len(subject.Documents[i].Text)
	}
	b.add(name+", items of evidence", float64(len(subject.Evidence)), "items")
	b.add(name+", documents", float64(size), "bytes")
}

// sameTrial checks what the native personas came to against what the modules did.
func sameTrial(want, got *trial.Trial) error {
	if !reflect.DeepEqual(want.Result.Path, got.Result.Path) || want.Result.Final != got.Result.Final {
		return fmt.Errorf("%w: %+v by %v, the modules %+v by %v",
			errWrong, got.Result.Final, got.Result.Path, want.Result.Final, want.Result.Path)
	}
	return nil
}
