// Package pipeline is the language in which a court, or any other traversal, is written down.
//
// A pipeline is a YAML file: nodes in the order in which they follow each other, edges with conditions, zones that
// group nodes, the personas that act at the nodes, and the limits of the court. [Parse] turns a file into a checked
// [Definition] and reports every fault at once, with file, line, column and data path. [Lint] finds what is legal but
// probably a slip. [NewGraph] indexes a Definition for a traversal. [Marshal] writes a Definition as YAML that means the
// same. [Mermaid] draws it, with a path if one is given.
//
// What the court does at a node follows from the node's family, never from its name, so that all nodes may be renamed.
// A file that names no personas gets those of its families (see [Families] and [BuiltinPersonas]).
//
// Values of this package are not changed after they were made, and may be read by several goroutines at once.
package pipeline
