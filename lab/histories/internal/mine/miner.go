// Package mine finds failures in the histories of repositories, makes cases of them, and runs them. It reads snapshots of the
// repositories, checks trees out in folders of its own, and runs tests in isolation alone.
package mine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// Config says what is mined.
type Config struct {
	// Snapshot is the git directory of the repository, Name its owner/name, and Half what its cases may be used for.
	Snapshot, Name string
	Half           history.Half
	// Work is a folder for trees and for what was done already; Saved has the results.
	Work, Saved string
	// Since is how far back the history is read.
	Since time.Time
	// Time is how long the search may take. What was begun is ended.
	Time time.Duration
	Log  io.Writer
}

// Miner mines one repository.
type Miner struct {
	Config
	repository *history.Repository
	suite      suite
	log        []commit
	at         map[string]int // commits by their ids
	found      *history.Repo
	done       map[string]bool // candidates that need not be looked at again
	slow       map[string]int  // how often the tests of a unit took too long
	until      time.Time       // when the search for the present kinds ends
	copied     bool            // the launcher is where tests see it
}

// Open prepares the search.
func Open(ctx context.Context, c Config) (*Miner, error) {
	folder := filepath.Join(c.Work, history.Slug(c.Name))
	m := &Miner{Config: c, at: map[string]int{}, done: map[string]bool{}, slow: map[string]int{}}
	var err error
	if m.repository, err = history.OpenRepository(ctx, c.Snapshot, filepath.Join(folder, "tree"), Planters()); err != nil {
		return nil, err
	}
	if m.found, err = history.ReadRepo(c.Saved, c.Half, c.Name); err != nil {
		return nil, err
	}
	if data, err := os.ReadFile(m.doneFile()); err == nil {
		if err := json.Unmarshal(data, &m.done); err != nil {
			return nil, err
		}
	}
	head, err := m.repository.Tip(ctx)
	if err != nil {
		return nil, err
	}
	if m.suite, err = openSuite(ctx, m.repository, head, folder); err != nil {
		return nil, err
	}
	if m.log, err = readLog(ctx, m.repository, head, c.Since); err != nil {
		return nil, err
	}
	for i := range m.log {
		m.at[m.log[i].id] = i
	}
	return m, nil
}

func (m *Miner) doneFile() string {
	return filepath.Join(filepath.Dir(m.repository.Folder()), "done.json")
}

// Mine looks for cases of all kinds until there are enough or the time is over.
func (m *Miner) Mine(ctx context.Context) error {
	looks := []struct {
		share float64 // of the time
		look  func(context.Context) error
	}{{4, m.fixes}, {1.5, m.environments}, {2.5, m.plants}, {0.5, m.reverts}, {0.7, m.loadsHead}}
	end, shares := time.Now().Add(m.Time), 0.0
	for _, l := range looks {
		shares += l.share
	}
	for _, l := range looks {
		// What one search leaves of its share, those behind it have.
		m.until = time.Now().Add(time.Duration(float64(time.Until(end)) * l.share / shares))
		shares -= l.share
		if err := l.look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// count counts the cases of a kind. Planted ones have their own numbers; broken environments are all planted.
func (m *Miner) count(kind history.Kind) int {
	n := 0
	for i := range m.found.Cases {
		if c := &m.found.Cases[i]; c.Kind == kind && (!c.Planted || kind == history.Environment) {
			n++
		}
	}
	return n
}

// wants says whether cases of a kind are looked for.
func (m *Miner) wants(kinds ...history.Kind) bool {
	return m.inTime() && slices.ContainsFunc(kinds, func(k history.Kind) bool { return m.count(k) < quota[k] })
}

func (m *Miner) inTime() bool { return time.Now().Before(m.until) }

// candidate does something once, and never again unless it is interrupted or the machine or git fails.
func (m *Miner) candidate(ctx context.Context, kind history.Kind, name string, look func() error) error {
	key := string(kind) + " " + name
	if m.done[key] {
		return nil
	}
	began := time.Now()
	err := look()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var why dropped
	switch {
	case errors.As(err, &why):
		m.drop(kind, string(why))
		fmt.Fprintf(m.Log, "%s: %s dropped in %.0f s: %s\n", m.Name, key, time.Since(began).Seconds(), why)
	case err != nil:
		fmt.Fprintf(m.Log, "%s: %s: %v\n", m.Name, key, err)
		return nil
	}
	m.done[key] = true
	data, err := json.Marshal(m.done)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(m.doneFile(), data, 0o644), history.Save(m.Saved, m.found))
}

func (m *Miner) drop(kind history.Kind, why string) {
	if m.found.Dropped[kind] == nil {
		m.found.Dropped[kind] = map[string]int{}
	}
	m.found.Dropped[kind][why]++
}

// keep runs a case in its cells and saves it if they show what its recipe says.
func (m *Miner) keep(ctx context.Context, c *history.Case) error {
	return m.keepWith(ctx, c, manyRuns)
}

// keepWith keeps a case whose test runs so often in each of its trees.
func (m *Miner) keepWith(ctx context.Context, c *history.Case, runs int) error {
	if slices.ContainsFunc(m.found.Cases, func(other history.Case) bool { return other.ID == c.ID }) {
		return nil
	}
	c.Repository = m.Name
	began := time.Now()
	if err := m.innocent(ctx, c); err != nil {
		return err
	}
	if err := m.sample(ctx, c, runs); err != nil {
		return err
	}
	m.found.Cases = append(m.found.Cases, *c)
	fmt.Fprintf(m.Log, "%s: %s in %.0f s: %v\n", c.ID, c.Failure.Test, time.Since(began).Seconds(), c.Truth)
	return history.Save(m.Saved, m.found)
}

// traps adds those that the runs show.
func (m *Miner) traps(c *history.Case) {
	add := func(t history.Trap) {
		if !slices.Contains(c.Traps, t) {
			c.Traps = append(c.Traps, t)
		}
	}
	if history.Differs(c) {
		add(history.Varies)
	}
	base := c.Cell(history.Base)
	switch passed, same, other, absent := base.Count(0); {
	case absent > 0 || base.Why == abi.OutcomeNoTest:
		add(history.AbsentOnBase)
		if c.Kind == history.Environment {
			add(history.BrokenNewTest)
		}
	case base.Why == abi.OutcomeNotBuilt:
		add(history.NotBuilt)
	case same == 0 && other > 0 && passed == 0:
		add(history.OtherOnBase)
	}
}

// innocent adds a trap where the report of a failure that no change made names a file that was changed.
func (m *Miner) innocent(ctx context.Context, c *history.Case) error {
	if c.Kind != history.Environment && c.Kind != history.RedBase || slices.Contains(c.Traps, history.InnocentDiff) {
		return nil
	}
	paths, err := m.repository.Git(ctx, "diff", "--name-only", "--no-renames", c.Trees[history.Base].Commit, c.Trees[history.Head].Commit)
	if err != nil {
		return err
	}
	if names(&c.Failure, strings.Fields(paths)) {
		c.Traps = append(c.Traps, history.InnocentDiff)
	}
	return nil
}

// folder is where trees are checked out.
func (m *Miner) folder() string { return m.repository.Folder() }

// checkout makes a tree and checks it out in a folder that all trees of the repository share, so that what is compiled is shared.
func (m *Miner) checkout(ctx context.Context, t *history.Tree) (string, error) {
	commit, err := m.repository.Make(ctx, t)
	if err != nil {
		return "", err
	}
	t.Commit = commit
	for _, args := range [][]string{{"checkout", "-q", "-f", "--detach", commit}, {"clean", "-q", "-f", "-f", "-d", "-x", "-e", "/.venv", "-e", "/node_modules"}} {
		if _, err := m.repository.Git(ctx, args...); err != nil {
			return "", err
		}
	}
	if i, ok := m.suite.(installer); ok {
		if err := i.install(ctx, m.folder()); err != nil {
			return "", err
		}
	}
	return m.folder(), nil
}

// runTree runs the tests of a tree's units, those of each unit a number of times. The map is by unit.
func (m *Miner) runTree(ctx context.Context, t *history.Tree, units []string, in surroundings) (map[string]*outcome, error) {
	folder, err := m.checkout(ctx, t)
	if err != nil {
		return nil, err
	}
	all := map[string]*outcome{}
	for _, unit := range units {
		if m.slow[unit] >= mostSlow {
			all[unit] = &outcome{problem: "its tests take too long"}
			continue
		}
		o, err := m.suite.run(ctx, folder, unit, in)
		if err != nil {
			return nil, err
		}
		if o.slow {
			m.slow[unit]++
		}
		all[unit] = o
	}
	return all, nil
}

// mostSlow is how often the tests of a unit may take too long before it is left out.
const mostSlow = 2

// units are the parts of a tree that have some of the test files.
func (m *Miner) units(ctx context.Context, t *history.Tree, tests []string) ([]string, error) {
	folder, err := m.checkout(ctx, t)
	if err != nil {
		return nil, err
	}
	return m.suite.units(folder, tests), nil
}

// failure is a failing test of a unit.
type failure struct {
	unit   string
	report history.Report
}

// failuresOf lists what fails, in one order.
func failuresOf(all map[string]*outcome, wanted func(unit, test string) bool) []failure {
	var list []failure
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		for _, test := range slices.Sorted(maps.Keys(all[unit].failed)) {
			if wanted(unit, test) {
				list = append(list, failure{unit, all[unit].failed[test]})
			}
		}
	}
	return list
}

// problems is why nothing of a tree was run; empty where something was.
func problems(all map[string]*outcome) string {
	why := "it has no tests in the packages that changed"
	for _, o := range all {
		if o.problem == "" {
			return ""
		}
		why = "it does not build or ends"
	}
	return why
}
