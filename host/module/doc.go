// Package module looks at modules without a trial: it inspects and annotates them, checks them against the pipelines and
// rubrics that name them, measures their calls, and manages the cache of compiled modules. It reads profiles, too.
package module
