package render

import (
	"io"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Document is a page of figures: sentences, tables, facts and pictures. All of it is our own text, with nothing that acts.
type Document struct {
	Sentences []string
	// Class colours the sentences.
	Class string
	// Tables stand first, Details after the facts.
	Tables, Details []Figures
	Facts           []SummaryLine
	// Pictures are shown by HTML alone.
	Pictures []Picture
	// Foot stands last in HTML.
	Foot string
}

// Figures are a table. Chips is the column whose cells are coloured by what they say; 0 for none.
type Figures struct {
	Title string
	Head  []string
	Rows  [][]string
	Chips int
	Note  string
}

// Picture is a drawing with its words.
type Picture struct {
	Title   string
	Drawing trial.SVG
	Caption string
}

// documentPage is a document with its head.
type documentPage struct {
	pageTop
	*Document
}

// HTML writes the document as a self-contained page.
func (d *Document) HTML(w io.Writer, title string, options PageOptions) error {
	return htmlTemplates().ExecuteTemplate(w, "document", documentPage{options.top(title, documentStyle), d})
}

// Markdown writes the document without the pictures.
func (d *Document) Markdown(w io.Writer, title string, options PageOptions) error {
	return markdownTemplates().ExecuteTemplate(w, "document", documentPage{options.top(title, ""), d})
}

// Text writes the first table of the document, which is laid out by the grid, its facts and its sentences.
func (d *Document) Text(w io.Writer, g *Grid, o TerminalOptions) error {
	var b strings.Builder
	b.WriteString(g.Text(o))
	for _, t := range d.Tables {
		if t.Note != "" {
			b.WriteString(t.Note + "\n")
		}
	}
	b.WriteByte('\n')
	for _, f := range d.Facts {
		b.WriteString(o.Named(f.Name, f.Text))
	}
	for _, sentence := range d.Sentences {
		b.WriteString("\n" + strings.Join(wrap(sentence, o.columns()), "\n"))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
