package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
)

// preparedCases are the first cases of the held-out docket that are tried.
const preparedCases = 40

// heldOut reads them.
func heldOut() ([]abi.Case, error) {
	path := filepath.Join("..", "..", "examples", "dockets", "go-test-1.jsonl")
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var cases []abi.Case
	var reader docket.Reader
	for entry, err := range reader.JSONL(path, f) {
		if err != nil {
			return nil, err
		}
		if cases = append(cases, entry.Case); len(cases) == preparedCases {
			break
		}
	}
	return cases, nil
}

// prepared measures trials with profiles, by modules that are prepared and by the same ones with whole requests, on one processor.
func (b *bench) prepared(ctx context.Context) error {
	var rivals []Rival
	kinds := []struct {
		name string
		file []string // of the profile
	}{
		{"no profile", nil},
		{"shipped profile", []string{"pipelines", "profiles", "go-test.yaml"}},
		{"fitted profile", []string{"examples", "dockets", "demo.yaml"}},
	}
	for _, kind := range kinds {
		config := host.Config{CacheDir: filepath.Join(b.dir, "cache")}
		if kind.file != nil {
			p, err := module.LoadProfile(filepath.Join(append([]string{"..", ".."}, kind.file...)...))
			if err != nil {
				return err
			}
			config.Profile = p
		}
		cases, err := heldOut()
		if err != nil {
			return err
		}
		for _, whole := range []bool{true, false} {
			config.Unprepared = whole
			h, err := host.Open(ctx, config)
			if err != nil {
				return err
			}
			defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
			rivals = append(rivals, Rival{Name: preparedName(kind.name, whole), Processors: 1, Do: Once(func() error {
				for i := range cases {
					if _, err := h.Try(ctx, cases[i]); err != nil {
						return err
					}
				}
				return nil
			})})
		}
	}
	medians, err := Interleave(b.rounds, b.turn, rivals)
	if err != nil {
		return err
	}
	for _, r := range rivals {
		b.add(r.Name, float64(medians[r.Name])/1e3/preparedCases, "us")
	}
	for _, kind := range kinds {
		b.against(preparedName(kind.name, false), preparedName(kind.name, true))
	}
	return nil
}

func preparedName(profile string, whole bool) string {
	if whole {
		return fmt.Sprintf("case of go-test-1, %s, whole requests", profile)
	}
	return fmt.Sprintf("case of go-test-1, %s, prepared modules", profile)
}
