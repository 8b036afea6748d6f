// Package module looks at modules without a trial: it inspects and annotates them, checks them against the pipelines and
// rubrics that name them, and manages the cache of compiled modules. Package bench measures their calls.
package module
