// Package registry knows which module plays which persona. It checks modules against what a pipeline needs of them before anybody sees
// them, and keeps generations: a trial acquires one and keeps its modules, whatever is installed meanwhile; a generation closes when its
// last trial released it.
package registry
