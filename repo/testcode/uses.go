package testcode

import (
	"regexp"
	"strings"
)

// Piece is a part of a file that a test uses: the lines of a block without those of the blocks in it that have pieces of their own, or
// under an empty name what stands outside of all blocks.
type Piece struct {
	Name  string // with the blocks around it
	Lines []int
	Text  string
}

var word = regexp.MustCompile(`[\pL_$][\pL\d_$]*`)

// Uses lists what a test uses of its file, itself first: the groups around it with what they run for each test, and the functions,
// classes and variables that any of them names. Other tests are nothing that it uses.
func (f *File) Uses(index int) []Piece {
	used := map[int]bool{}
	queue := []int{index}
	for p := f.Blocks[index].Parent; p >= 0; p = f.Blocks[p].Parent {
		queue = append(queue, p)
	}
	around := map[int]bool{-1: true}
	for _, i := range queue {
		around[i] = true
	}
	for i := range f.Blocks {
		if f.Blocks[i].Hook && around[f.Blocks[i].Parent] {
			queue = append(queue, i)
		}
	}
	byName := map[string][]int{}
	for i := range f.Blocks {
		if b := &f.Blocks[i]; b.Name != "" && !b.Test {
			byName[b.Name] = append(byName[b.Name], i)
		}
	}
	owner := f.owners()
	rest := f.piece(-1, owner)
	pieces := []Piece{}
	follow := func(p *Piece) {
		for _, w := range word.FindAllString(p.Text, -1) {
			queue = append(queue, byName[w]...)
			delete(byName, w)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if used[i] {
			continue
		}
		used[i] = true
		p := f.piece(i, owner)
		follow(&p)
		pieces = append(pieces, p)
	}
	return append(pieces, rest)
}

// owners are the innermost blocks of the lines. What stands in a function or a test is its own, variables and functions included.
func (f *File) owners() []int {
	owner := make([]int, len(f.lines)+1)
	for i := range owner {
		owner[i] = -1
	}
	for i := range f.Blocks { // outer ones come first
		b := &f.Blocks[i]
		if b.Parent >= 0 && f.inFunction(b.Parent) {
			continue
		}
		for line := b.First; line <= min(b.Last, len(f.lines)); line++ {
			owner[line] = i
		}
	}
	return owner
}

func (f *File) inFunction(i int) bool {
	for ; i >= 0; i = f.Blocks[i].Parent {
		if f.Blocks[i].Callable {
			return true
		}
	}
	return false
}

func (f *File) piece(i int, owner []int) Piece {
	p := Piece{}
	first, last := 1, len(f.lines)
	if i >= 0 {
		first, last = f.Blocks[i].First, min(f.Blocks[i].Last, len(f.lines))
		var names []string
		for k := i; k >= 0; k = f.Blocks[k].Parent {
			names = append(names, f.Blocks[k].Name)
		}
		p.Name = strings.Join(names, " in ")
	}
	var b strings.Builder
	for line := first; line <= last; line++ {
		if owner[line] == i {
			p.Lines = append(p.Lines, line)
			b.WriteString(f.lines[line-1] + "\n")
		}
	}
	p.Text = b.String()
	return p
}
