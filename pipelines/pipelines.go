// Package pipelines holds the graphs that come with Shadowcourt, as data.
package pipelines

import "embed"

// RCAInvestigation is the name of the Light path's pipeline within FS.
const RCAInvestigation = "rca-investigation.yaml"

// DefectCourt is the name of the court's pipeline within FS.
const DefectCourt = "defect-court.yaml"

// FS holds all pipeline files by file name, and the profiles of domains in profiles/.
//
//go:embed *.yaml profiles/*.yaml
var FS embed.FS
