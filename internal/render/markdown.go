package render

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

//go:embed markdown.tmpl
var markdownFile string

// markdown is text with nothing in it that acts unless a template meant it to.
type markdown string

// escaped makes a value fit for a line of prose; what is Markdown already stays as it is.
func escaped(v any) markdown {
	switch v := v.(type) {
	case markdown:
		return v
	case nil:
		return ""
	}
	return markdown(sanitize.Markdown(fmt.Sprint(v)))
}

// filled puts escaped values into a format that a template states.
func filled(format string, values ...any) markdown {
	for i, v := range values {
		values[i] = escaped(v)
	}
	return markdown(fmt.Sprintf(format, values...))
}

func boldText(v any) markdown { return filled("**%s**", v) }

// code puts what fits into a cell into a code span, and span all of it.
func code(v any) markdown { return span(clipLine(fmt.Sprint(v))) }
func span(v any) markdown { return markdown(sanitize.MarkdownCode(fmt.Sprint(v))) }

// said is a paragraph of somebody's prose behind our prefix; without prose that alone, and without both nothing.
func said(v caseView, prefix any, text string) markdown {
	parts := []string{fmt.Sprint(prefix), string(escaped(clip(v.Named(text))))}
	if strings.TrimSpace(text) == "" {
		parts[1] = ""
	}
	if paragraph := strings.TrimSpace(strings.Join(parts, " ")); paragraph != "" {
		return markdown(paragraph + "\n\n")
	}
	return ""
}

// markdownTemplates escape all that they print, as html/template does: every action ends in escaped.
var markdownTemplates = sync.OnceValue(func() *template.Template {
	label := func(v caseView, label string) markdown { return escaped(clipLine(v.LabelName(label))) }
	t := template.Must(template.New("").Funcs(viewFuncs()).Funcs(template.FuncMap{
		"md": escaped, "f": filled, "bold": boldText, "code": code, "span": span, "say": said, "label": label, "whole": whole, "line": clipLine,
		// raw is for what is ours.
		"raw":   func(v any) markdown { return markdown(fmt.Sprint(v)) },
		"fence": func(text string) markdown { return markdown(sanitize.MarkdownBlock(text)) },
		"cell":  func(v any) markdown { return markdown(sanitize.MarkdownCell(string(escaped(v)))) },
		"answer": func(v caseView, of string, confidence float64) markdown {
			return label(v, of) + markdown(" "+number(confidence))
		},
		"who":    func(v caseView, name string) markdown { return boldText(v.Persona(name).Name) },
		"number": func(v float64) markdown { return markdown(number(v)) },
		"weight": func(v float64) markdown { return markdown(weight(v)) },
		"count":  func(n int, one, many string) markdown { return markdown(plural(n, one, many)) },
		"brief":  func(b *abi.DefenseBrief) markdown { return markdown(briefWhat(b)) },
		"bar":    func(v float64) string { return strings.Repeat("█", width(v)/10) },
		"next":   func(i int) int { return i + 1 },
		"joined": func(list []string, by string) string { return strings.Join(list, by) },
		"lines": func(text string) (list []markdown) {
			for line := range strings.SplitSeq(whole(text), "\n") {
				if line := escaped(line); line != "" {
					list = append(list, line)
				}
			}
			return list
		},
	}).Parse(markdownFile))
	for _, t := range t.Templates() {
		if t.Tree != nil {
			escapeAll(t.Root)
		}
	}
	return t
})

// escapeAll appends md to the pipelines of all actions that print.
func escapeAll(n parse.Node) {
	branch := func(b *parse.BranchNode) {
		escapeAll(b.List)
		if b.ElseList != nil {
			escapeAll(b.ElseList)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			escapeAll(child)
		}
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 {
			n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Args: []parse.Node{parse.NewIdentifier("md").SetPos(n.Pos)}})
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	}
}

// clipLine keeps what fits into a cell.
func clipLine(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// clip keeps the beginning of a text too long for a page, and says how much is left out.
func clip(s string) string { return clipAt(s, 4000) }

// whole is clip for what a reader came for: it keeps texts whole that a person could read.
func whole(s string) string { return clipAt(s, 256<<10) }

func clipAt(s string, most int) string {
	if len(s) <= most {
		return s
	}
	kept := strings.ToValidUTF8(s[:most], "")
	return kept + " [... " + strconv.Itoa(len(s)-len(kept)) + " bytes more]"
}
