package history_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// sound is a case that holds.
func sound() history.Case {
	commit := func(digit string) string { return strings.Repeat(digit, 40) }
	text := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: got 1, want 2\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
`
	return history.Case{
		ID: "a/b/new-test/1", Repository: "a/b", Kind: history.NewTest, Fix: commit("f"), Failure: history.Report{Runner: "go", Group: "p", Test: "TestA", Text: text},
		Trees: map[history.Role]history.Tree{
			history.Base: {Start: commit("a"), Commit: commit("a")},
			history.Head: {Start: commit("a"), Steps: []history.Step{{Take: commit("f"), Paths: []string{"a_test.go"}}}, Commit: commit("b")},
		},
		Truth: caused(history.Tests, "product bug"), Cells: cells("head S*20", "base P*20"),
	}
}

// TestAccept_RH2_WrongRecipesAreFound: so are wrong truths, cells and commits that are options of git.
func TestAccept_RH2_WrongRecipesAreFound(t *testing.T) {
	t.Parallel()
	c := sound()
	if err := history.Validate(&c); err != nil {
		t.Fatal(err)
	}
	head := func(change func(*history.Tree)) func(*history.Case) {
		return func(c *history.Case) {
			tree := c.Trees[history.Head]
			change(&tree)
			c.Trees[history.Head] = tree
		}
	}
	for want, change := range map[string]func(*history.Case){
		"truth: is":              func(c *history.Case) { c.Truth.Part = history.Product },
		"truth: base fails, too": func(c *history.Case) { c.Cells = cells("head S*20", "base S*20") },
		"are not made as those": func(c *history.Case) {
			c.Kind, c.ID, c.Truth = history.Regression, "a/b/regression/1", bug
			c.Fix = strings.Repeat("e", 40)
		},
		"start: \"--output=x\"":       head(func(t *history.Tree) { t.Start = "--output=x" }),
		"\"f\" is no commit":          head(func(t *history.Tree) { t.Steps[0].Take = "f" }),
		"\"\" is no commit of a tree": head(func(t *history.Tree) { t.Commit = "" }),
		"says 2 things":               head(func(t *history.Tree) { t.Steps[0].Pick = t.Steps[0].Take }),
		"says 0 things":               head(func(t *history.Tree) { t.Steps[0].Take = "" }),
		"\"sub/.git/x\" is no path":   head(func(t *history.Tree) { t.Steps[0].Paths = []string{"sub/.git/x"} }),
		"\"../x\" is no path":         head(func(t *history.Tree) { t.Steps[0].Paths = []string{"../x"} }),
		"base is missing":             func(c *history.Case) { delete(c.Trees, history.Base) },
		"there are two of it":         func(c *history.Case) { c.Cells = append(c.Cells, c.Cells[0]) },
		"has other letters":           func(c *history.Case) { c.Cells[0].Runs += "~" },
		"-1 is none":                  func(c *history.Case) { c.Cells[0].Wall = -1 },
		"and there are runs":          func(c *history.Case) { c.Cells[1].Why = "not_built" },
		"id: does not begin":          func(c *history.Case) { c.ID = "zzz" },
		"there is no \"trap\"":        func(c *history.Case) { c.Traps = []history.Trap{"trap"} },
		"is not about p TestB":        func(c *history.Case) { c.Failure.Test = "TestB" },
	} {
		c := sound()
		change(&c)
		if err := history.Validate(&c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}
