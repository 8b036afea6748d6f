package testcmd

import (
	"slices"
	"strings"
)

// Passed is what of a command others need that run its tests again.
type Passed struct {
	// Build are flags of builds of Go, Test arguments of its test binaries.
	Build, Test []string
	// Env are the assignments that the command begins with, or has before its runner.
	Env []string
	// Left are other options that may change what comes of tests.
	Left []string
}

// Passed tells them. What a script of the project adds is left.
func (c *Command) Passed() Passed {
	v := c.line
	p := Passed{Env: slices.Clone(c.env)}
	for _, word := range v.words[:v.start] {
		if isAssignment(word) {
			p.Env = append(p.Env, word)
		}
	}
	if v.runner.name == runnerGo {
		if p.ofGo(v.args); v.script {
			p.Build, p.Test, p.Left = nil, nil, slices.Concat(p.Build, p.Test, p.Left)
		}
		return p
	}
	plain := strings.Fields(v.runner.plain)
	for _, arg := range v.args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(arg, "-") && !slices.Contains(plain, name) && strings.Trim(arg, "-vqxs") != "" {
			p.Left = append(p.Left, arg)
		}
	}
	return p
}

// What is done with a flag of go test.
type goFlag int

const (
	goIgnored goFlag = iota // it chooses tests, or says how results are shown
	goBuild
	goTest
	goLeft
	goUnknown // a flag of the tests
)

// goFlags are those of go test, by what is done with them: first those without a value, then the others.
var goFlags = map[goFlag][2]string{
	goIgnored: {
		"a n x v i work json failfast benchmem cover buildvcs modcacherw fullpath artifacts",
		"C p o run skip count shuffle vet timeout list bench benchtime fuzz fuzztime fuzzminimizetime coverprofile covermode coverpkg outputdir trace " +
			"blockprofile blockprofilerate cpuprofile memprofile memprofilerate mutexprofile mutexprofilefraction pkgdir",
	},
	goBuild: {"race msan asan trimpath", "tags mod ldflags gcflags asmflags gccgoflags"},
	goTest:  {"short", "cpu parallel"},
	goLeft:  {"linkshared", "modfile overlay exec toolexec compiler installsuffix pgo buildmode"},
}

// goFlagOf looks a flag up. takes: the next word is its value.
func goFlagOf(word string) (kind goFlag, takes bool) {
	name, _, assigned := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	name = strings.TrimPrefix(name, "test.")
	for kind, named := range goFlags {
		for i, list := range named {
			if slices.Contains(strings.Fields(list), name) {
				return kind, i == 1 && !assigned
			}
		}
	}
	return goUnknown, false
}

// ofGo reads arguments as go test does: a flag that it does not know is the tests' own, and so is all from the next word on that is no flag.
func (p *Passed) ofGo(args []string) {
	listed, own := false, false // packages were listed; a flag of the tests was given
	packages := false           // the last word was one
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "-args" || word == "--args":
			p.literal(args[i+1:])
			return
		case !strings.HasPrefix(word, "-") || word == "-":
			if own || listed && !packages {
				p.literal(args[i:])
				return
			}
			listed, packages = true, true
			continue
		}
		packages = false
		kind, takes := goFlagOf(word)
		if kind == goUnknown {
			own = true
		}
		if p.add(kind, word); takes && i+1 < len(args) {
			i++
			p.value(kind, args[i])
		}
	}
}

// add adds a flag, in its form with one dash.
func (p *Passed) add(kind goFlag, word string) {
	switch kind {
	case goBuild:
		p.Build = append(p.Build, word)
	case goTest:
		p.Test = append(p.Test, "-test."+strings.TrimPrefix(strings.TrimLeft(word, "-"), "test."))
	case goUnknown:
		p.Test = append(p.Test, word)
	case goLeft:
		p.Left = append(p.Left, word)
	case goIgnored:
	}
}

// value joins a value to the flag before it.
func (p *Passed) value(kind goFlag, value string) {
	switch kind {
	case goBuild:
		p.Build[len(p.Build)-1] += "=" + value
	case goTest:
		p.Test[len(p.Test)-1] += "=" + value
	case goLeft:
		p.Left[len(p.Left)-1] += "=" + value
	case goIgnored, goUnknown:
	}
}

// literal adds what goes to the tests as it is, without what chooses tests: reruns do that.
func (p *Passed) literal(args []string) {
	for i := 0; i < len(args); i++ {
		kind, takes := goUnknown, false
		if strings.HasPrefix(args[i], "-test.") || strings.HasPrefix(args[i], "--test.") {
			kind, takes = goFlagOf(args[i])
		}
		if p.add(kind, args[i]); takes && i+1 < len(args) {
			i++
			p.value(kind, args[i])
		}
	}
}
