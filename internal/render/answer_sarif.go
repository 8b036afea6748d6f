package render

import (
	"io"
	"net/url"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// The part of SARIF 2.1.0 that answers need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   map[string]any     `json:"properties"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// attributions are the rules, with what each means.
var attributions = [][2]string{
	{alibi.Caused, "The change makes the test fail."},
	{alibi.Conflict, "Head and the target pass apart, their merge fails."},
	{"open", "Nothing is decided yet."},
	{alibi.Preexisting, "The test failed before the change in the same way."},
	{alibi.Flaky, "The test passes and fails by chance, with or without the change."},
	{alibi.Environment, "Something outside of the code makes the test fail."},
}

// writeSARIF writes a result for each failure: an error where it is yours, a warning where it is open, a note where it is not yours.
func writeSARIF(w io.Writer, d *answers.Document) error {
	r := sarifRun{Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "shadowcourt alibi", InformationURI: "https://github.com/shadowcourt/shadowcourt"}}}
	for _, a := range attributions {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, sarifRule{a[0], sarifText{a[1]}})
	}
	known := namesakesOf(d)
	for i := range d.Failures {
		f := &d.Failures[i]
		where := sarifLocation{Logical: []sarifLogical{{sanitize.Line(f.ID), "function"}}}
		if f.File != "" {
			where.Physical = &sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: f.File}).String()}}
			if f.Line > 0 {
				where.Physical.Region = &sarifRegion{f.Line}
			}
		}
		result := sarifResult{
			RuleID: ruleOf(f), Level: level(f.Verdict, "error", "warning", "note"), Message: sarifText{sanitize.Line(known.name(f.Test, f.ID)) + ": " + string(f.Verdict) + ". " + sanitize.Line(f.Conclusion)},
			Locations: []sarifLocation{where}, Fingerprints: map[string]string{"shadowcourt/v1": f.Fingerprint},
			Properties: map[string]any{"verdict": f.Verdict, "confidence": f.Confidence, "failure": sanitize.Block(f.Message)},
		}
		if f.Part != "" {
			result.Properties["part"] = f.Part
		}
		if len(f.Owners) > 0 {
			result.Properties["owners"] = f.Owners
		}
		if commit, title, author, _ := culpritOf(f); commit != "" {
			result.Properties["culprit"] = map[string]any{"commit": commit, "title": title, "author": author, "probability": f.Culprit.Probability}
		}
		if d.Link != "" {
			result.Properties["link"] = d.Link
		}
		if q := f.Quarantined; q != nil {
			result.Suppressions = []sarifSuppression{{"external", "in quarantine until " + q.Expires + ": " + sanitize.Line(q.Reason)}}
		}
		r.Results = append(r.Results, result)
	}
	return writeJSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{r}})
}
