//go:build personas

package main

import (
	"github.com/shadowcourt/shadowcourt/plugins/abyss"
	"github.com/shadowcourt/shadowcourt/plugins/bulwark"
	"github.com/shadowcourt/shadowcourt/plugins/challenger"
	"github.com/shadowcourt/shadowcourt/plugins/clerk"
	"github.com/shadowcourt/shadowcourt/plugins/specter"
)

const personasLinked = true

// personas are the handlers of the shipped modules, by the module's name.
func personas() map[string]persona {
	return map[string]persona{
		"abyss":      {node: abyss.Node, contest: abyss.Contest},
		"bulwark":    {node: bulwark.Node, contest: bulwark.Contest},
		"challenger": {node: challenger.Node, contest: challenger.Contest},
		"clerk":      {edges: clerk.Edges},
		"specter":    {node: specter.Node, contest: specter.Contest},
	}
}
