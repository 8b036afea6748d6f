// Package pipelines holds the graphs that come with Shadowcourt, as data.
package pipelines

import "embed"

// RCAInvestigation is the name of the Light path's pipeline within FS.
const RCAInvestigation = "rca-investigation.yaml"

// DefectCourt is the name of the court's pipeline within FS.
const DefectCourt = "defect-court.yaml"

// LLMDiscovery is the name of the court's pipeline with a language model as forensic reader within FS.
const LLMDiscovery = "llm-discovery.yaml"

// LLMCourt is the name of the court's pipeline with a language model behind each persona within FS.
const LLMCourt = "llm-court.yaml"

// Audit is the name of the audit's pipeline within FS.
const Audit = "audit.yaml"

// Rules is the name of the pipeline that evaluates the rules of a user within FS.
const Rules = "rules.yaml"

// CourtOpinions is the name of the rubric for opinions of courts within FS.
const CourtOpinions = "rubrics/court-opinions.yaml"

// FS holds all pipeline files by file name, the prompts of language models in prompts/, the profiles of domains in profiles/ and the rubrics of audits in rubrics/.
//
//go:embed *.yaml prompts/*.md profiles/*.yaml rubrics/*.yaml
var FS embed.FS
