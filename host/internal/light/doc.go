// Package light traverses the graph of a Light path: it takes a case from the first
// look at it to a classification, with a persona's module at each node and the
// clerk at the edges, as the court does. Every item of evidence that is
// gathered there carries the element of its node.
//
// A court may send the case back. Then the traversal begins at the node of the
// family resolve, with the court's feedback, and its answer accounts for every
// question and every challenged item.
package light
