package promises_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// readers names, for each function that takes bytes or text of others, the fuzz target that
// feeds it, as "package Target", or says after "no: " why there is none.
var readers = map[string]string{ //nolint:gochecknoglobals // a table
	"abi/abitest read":                                    "abi/codec FuzzAgree",
	"abi/codec decodeMessage":                             "abi/codec FuzzAgree",
	"abi/prompt Parse":                                    "abi/prompt FuzzParse",
	"abi/codec readCanonical":                             "abi/codec FuzzAgree",
	"host/internal/court parseAnswer":                     "host/internal/court FuzzParseAnswer",
	"host/audit Load":                                     "no: takes the name of a file; Parse reads it",
	"host/audit LoadFS":                                   "no: takes the name of a file; Parse reads it",
	"internal/answers Read":                               "internal/answers FuzzRead",
	"internal/measure ReadBands":                          "internal/measure FuzzReadBands",
	"internal/publish ReadResults":                        "internal/publish FuzzReadResults",
	"internal/publish/testkit decode":                     "no: requests of a test",
	"internal/publish ReadToken":                          "no: a token, up to a limit, of which the form is checked",
	"internal/publish ParseServer":                        "no: an address from the command line",
	"internal/publish ReadEvent":                          "no: takes the name of a file; it bounds the size",
	"internal/publish parseEvent":                         "internal/publish FuzzParseEvent",
	"abi/abitest decode":                                  "abi/codec FuzzAgree",
	"host/audit Parse":                                    "host/audit FuzzParse",
	"host/audit load":                                     "no: takes the name of a file; Parse reads it",
	"host/audit ReadYAML":                                 "host/audit FuzzParse",
	"host/docket ParseLightLine":                          "host/execlight FuzzDecode",
	"host/docket ReadDocument":                            "host/docket FuzzReadDocument",
	"host/docket read":                                    "host/docket FuzzReadDocument",
	"host/docket readCase":                                "host/docket FuzzJSONL",
	"host/docket readOpinion":                             "host/docket FuzzReadOpinion",
	"host/docket/gotest Read":                             "host/docket/gotest FuzzRead",
	"host/docket/gotest parseEvent":                       "host/docket/gotest FuzzRead",
	"host/docket/junit Read":                              "host/docket/junit FuzzRead",
	"host/docket/reportportal Read":                       "host/docket/reportportal FuzzRead",
	"host/execlight decode":                               "host/execlight FuzzDecode",
	"host/internal/court/registry LoadOne":                "host/internal/sandbox FuzzLoad",
	"host/internal/court/registry loadFaults":             "no: takes the name of a module, for its faults",
	"host/internal/court/registry readManifest":           "abi/codec FuzzAgree",
	"host/internal/court ReadModule":                      "no: copies bytes up to a limit",
	"host/internal/court readFile":                        "no: takes the name of a file; it bounds the size",
	"host/internal/sandbox Load":                          "host/internal/sandbox FuzzLoad",
	"host/internal/sandbox readStub":                      "no: takes the name of an own file, of which a checksum is compared",
	"host/internal/sandbox/instrument load":               "host/internal/sandbox/instrument FuzzRewrite",
	"host/internal/sandbox/wasmfile Parse":                "host/internal/sandbox/wasmfile FuzzParse",
	"internal/strictyaml ReadFile":                        "no: takes the name of a file; it bounds the size",
	"internal/strictyaml readFile":                        "no: bounds the size of a file",
	"internal/strictyaml Message":                         "internal/strictyaml FuzzMessage",
	"internal/strictyaml parse":                           "internal/strictyaml FuzzMessage",
	"internal/mcp read":                                   "internal/mcp FuzzMessages",
	"host/module Read":                                    "no: copies bytes up to a limit",
	"host/module load":                                    "host/internal/sandbox FuzzLoad",
	"internal/testcmd read":                               "no: takes paths; the readers of host/docket read the files",
	"internal/testcmd Parse":                              "internal/testcmd FuzzParse",
	"internal/quarantine Load":                            "internal/quarantine FuzzParse",
	"internal/quarantine Parse":                           "internal/quarantine FuzzParse",
	"internal/quarantine ReadYAML":                        "internal/quarantine FuzzParse",
	"cmd/shadowcourt/internal/alibi load":                 "internal/quarantine FuzzParse",
	"cmd/shadowcourt/internal/alibi readDocument":         "internal/answers FuzzRead",
	"cmd/shadowcourt/internal/alibi readReport":           "internal/quarantine FuzzRead",
	"internal/quarantine Read":                            "internal/quarantine FuzzRead",
	"internal/trust ParseLock":                            "internal/trust FuzzParseLock",
	"cmd/shadowcourt/internal/plugin parseRef":            "internal/moduleref FuzzParse",
	"internal/moduleref Parse":                            "internal/moduleref FuzzParse",
	"internal/oci parseManifest":                          "internal/oci FuzzManifest",
	"internal/oci parseModule":                            "internal/oci FuzzManifest",
	"internal/oci parseAttachment":                        "internal/oci FuzzManifest",
	"internal/oci parseIndex":                             "internal/oci FuzzManifest",
	"internal/oci read":                                   "no: takes the name of a file; it bounds the size",
	"internal/oci readAll":                                "no: copies bytes up to a limit",
	"internal/answers parseOwners":                        "internal/answers FuzzParseOwners",
	"internal/answers parseRule":                          "internal/answers FuzzParseOwners",
	"internal/run decode":                                 "internal/run FuzzReader",
	"internal/run DecodeTrial":                            "internal/run FuzzDecodeTrial",
	"internal/service/api unmarshal":                      "no: encoding/json reads it, up to a limit, and then figures of known fields",
	"host/experiment readRows":                            "no: the reader of JUnit reports reads them, up to a limit",
	"host/experiment readOf":                              "no: the reader of JUnit reports reads them, up to a limit",
	"cmd/shadowcourt/internal/testkit/killtest parseCall": "no: what strace wrote of a program of a test",
	"cmd/shadowcourt/internal/testkit/killtest readCalls": "no: what strace wrote of a program of a test",
	"cmd/shadowcourt/internal/testkit/killtest load":      "no: takes the name of a file of a test",
	"internal/service/api readPush":                       "internal/service/api FuzzPush",
	"internal/service/wire readOwn":                       "no: a token, up to a limit, of which the form is checked",
	"internal/service/auth ParseScopes":                   "no: a list of words from a form or the command line, each compared with three",
	"internal/service/store ParseTrialID":                 "internal/service/store FuzzIDs",
	"internal/service/store UnmarshalText":                "internal/service/store FuzzIDs",
	"internal/service/store parseInboxCursor":             "internal/service/store FuzzIDs",
	"internal/service/store decodeCase":                   "abi/codec FuzzAgree",
	"internal/service/store decodeTrial":                  "internal/run FuzzDecodeTrial",
	"internal/service/store parse":                        "no: a column of JSON that the store wrote itself",
	"internal/service/store parseEvent":                   "internal/service/store FuzzIDs",
	"cmd/shadowcourt/internal/serve readToken":            "no: a token, up to a limit, of which the form is checked",
	"cmd/shadowcourt/internal/open ParseToken":            "no: its form is checked, nothing is parsed",
	"cmd/shadowcourt/internal/open ReadToken":             "no: copies bytes up to a limit",
	"internal/service/wire parse":                         "no: an address from the command line",
	"cmd/shadowcourt/internal/try readReport":             "no: takes the name of a file; it bounds the size",
	"cmd/shadowcourt/internal/try readReports":            "no: takes the names of files",
	"internal/service/wire Parse":                         "internal/service/wire FuzzParse",
	"internal/service/work ReadHooks":                     "internal/service/work FuzzParseHooks",
	"internal/service/work parseHooks":                    "internal/service/work FuzzParseHooks",
	"internal/service/work parseSecret":                   "internal/service/work FuzzParseHooks",
	"internal/service/work read":                          "internal/service/work FuzzParseHooks",
	"host/casebook read":                                  "no: takes the name of a database; SQLite reads it",
	"host/moduledir read":                                 "no: takes the name of a file; the sandbox reads it",
	"host/moduledir readBounded":                          "no: takes the name of a file; it bounds the size",
	"host/pipeline Load":                                  "no: takes the name of a file; Parse reads it",
	"host/pipeline LoadBytes":                             "host/pipeline FuzzParse",
	"host/pipeline LoadFS":                                "no: takes the name of a file; Parse reads it",
	"host/pipeline Parse":                                 "host/pipeline FuzzParse",
	"host/pipeline parse":                                 "host/pipeline FuzzParse",
	"host/pipeline readPrompt":                            "no: takes the name of a file; what it has is a text, cut at a limit",
	"host/pipeline parseMove":                             "no: a path of nodes from the command line or from an own record",
	"host/pipeline load":                                  "no: takes the name of a file; Parse reads it",
	"host/pipeline ReadYAML":                              "host/pipeline FuzzParse",
	"host/module LoadProfile":                             "no: takes the name of a file; ParseProfile reads it",
	"host/module ParseProfile":                            "internal/strictyaml FuzzMessage",
	"host/rules Load":                                     "no: takes the name of a file; Parse reads it",
	"host/rules Parse":                                    "host/rules FuzzParse",
	"host/rules ReadYAML":                                 "host/rules FuzzParse",
	"host/record ParseKey":                                "host/record FuzzParseKey",
	"host/record decodeBase64":                            "host/record FuzzVerify",
	"host/alibi parseProof":                               "host/alibi FuzzParseProof",
	"host/record decodeEntry":                             "host/record FuzzDecodePayload",
	"host/record decodeStatement":                         "host/record FuzzDecodePayload",
	"host/record decodePayload":                           "host/record FuzzDecodePayload",
	"host/experiment LoadDefinition":                      "no: takes the name of a file; ParseDefinition reads it",
	"host/experiment ParseDefinition":                     "host/experiment FuzzParse",
	"host/experiment ReadYAML":                            "host/experiment FuzzParse",
	"host/experiment read":                                "no: a cached result, which the codec reads up to a limit; a report of JUnit; go tool test2json's stream, which readStream reads",
	"host/experiment readAll":                             "no: copies bytes up to a limit",
	"host/experiment readStream":                          "host/experiment FuzzReadStream",
	"host/model Load":                                     "no: takes the name of a file; Parse reads it",
	"host/model UnmarshalJSON":                            "host/model FuzzReply",
	"host/model Parse":                                    "host/model FuzzParse",
	"host/model ReadYAML":                                 "host/model FuzzParse",
	"host/model decode":                                   "host/model FuzzReply",
	"host/model decodeInto":                               "host/model FuzzReply",
	"host/model parseCassette":                            "host/model FuzzCassette",
	"host/model parseEntry":                               "host/model FuzzCassette",
	"host/model parseJSON":                                "host/model FuzzAnswer",
	"repo parse":                                          "repo FuzzParse",
	"repo read":                                           "repo FuzzTree",
	"repo readFile":                                       "repo FuzzTree",

	"cmd/shadowcourt/internal/measure readDocument": "no: takes the name of a file; docket.ReadDocument reads it",
	"internal/disk ReadBounded":                     "no: takes the name of a file; it bounds the size",
	"cmd/shadowcourt/internal/alibi readAnswers":    "internal/answers FuzzRead",

	"internal/trust Load":           "no: takes the name of a file; Parse reads it",
	"internal/trust Parse":          "internal/trust FuzzParse",
	"internal/trust ReadYAML":       "internal/trust FuzzParse",
	"internal/trust parse":          "internal/trust FuzzParse",
	"internal/trust parseBundle":    "internal/trust FuzzVerify",
	"internal/trust parseRoot":      "internal/trust FuzzParse",
	"internal/trust parseStatement": "internal/trust FuzzVerify",

	// These are not found by their names.
	"host/record OpenEnvelope":               "internal/trust FuzzVerify",
	"internal/trust verifySimple":            "internal/trust FuzzVerify",
	"internal/trust verifyBundle":            "internal/trust FuzzVerify",
	"internal/publish taken":                 "internal/publish FuzzItem",
	"host/experiment needsOf":                "host/experiment FuzzNeeds",
	"host/experiment loadedModules":          "host/experiment FuzzTraces",
	"host/model compileSchema":               "host/model FuzzAnswer",
	"host/model faultText":                   "host/model FuzzReply",
	"host/model findJSON":                    "host/model FuzzAnswer",
	"host/internal/sandbox extismCalls":      "host/internal/sandbox FuzzKernel",
	"host/internal/sandbox systemCalls":      "host/internal/sandbox FuzzSystem",
	"repo tokensOf":                          "repo FuzzCode",
	"repo/testcode Parse":                    "repo/testcode FuzzParse",
	"host/internal/sandbox/complexity Check": "host/internal/sandbox/complexity FuzzCheck",
	"host/moduledir ReadGeneration":          "host/moduledir FuzzGeneration",
	"host/moduledir order":                   "host/moduledir FuzzHistory",
	"internal/run stream":                    "internal/run FuzzInput",
	"host/trial message":                     "host/trial FuzzMessage",
	"internal/testcmd take":                  "internal/testcmd FuzzGoText",
	"internal/testcmd writeJest":             "internal/testcmd FuzzJest",
}

var readerName = regexp.MustCompile(`^(?i:read|parse|decode|load|unmarshal)([A-Z]|$)`)

// Every function that reads bytes or text has a fuzz target, or a reason why not.
func TestAccept_FX10_EveryParserOfUntrustedBytesHasAFuzzTarget(t *testing.T) {
	t.Parallel()
	targets, found, all := map[string]bool{}, map[string]bool{}, map[string]bool{}
	eachFile(t, func(pkg string, file *ast.File, test bool) {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && !test {
				all[pkg+" "+fn.Name.Name] = true
			}
			switch {
			case !ok, fn.Recv != nil && fn.Name.Name == "Read" && fn.Type.Results.NumFields() == 2: // an io.Reader
			case test && strings.HasPrefix(fn.Name.Name, "Fuzz"):
				targets[pkg+" "+fn.Name.Name] = true
			case !test && readerName.MatchString(fn.Name.Name) && slices.ContainsFunc(fn.Type.Params.List, isText):
				found[pkg+" "+fn.Name.Name] = true
			}
		}
	})
	for name := range found {
		if readers[name] == "" {
			t.Errorf("%s reads bytes or text: name its fuzz target in readers, or say why it has none", name)
		}
	}
	for name, by := range readers {
		if !all[name] {
			t.Errorf("there is no %s any more", name)
		}
		if !strings.HasPrefix(by, "no: ") && !targets[by] {
			t.Errorf("%s: there is no fuzz target %s", name, by)
		}
	}
}

// isText says whether a parameter is bytes, a string or a reader.
func isText(field *ast.Field) bool {
	switch t := field.Type.(type) {
	case *ast.ArrayType:
		elem, ok := t.Elt.(*ast.Ident)
		return ok && t.Len == nil && elem.Name == "byte"
	case *ast.SelectorExpr:
		from, ok := t.X.(*ast.Ident)
		return ok && from.Name == "io" && strings.HasPrefix(t.Sel.Name, "Reader")
	case *ast.Ident:
		return t.Name == "string"
	default:
		return false
	}
}

// eachFile parses the Go files of the contract, the host and the command. Generators are left out: they read what this repository holds.
func eachFile(t *testing.T, visit func(pkg string, file *ast.File, test bool)) {
	t.Helper()
	const top = "../../../.."
	for _, root := range []string{"abi", "host", "repo", "internal", "cmd"} {
		must.Do(t, filepath.WalkDir(filepath.Join(top, root), func(path string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Clean(top)+string(filepath.Separator)))
			if entry.IsDir() && (entry.Name() == "testdata" || name == "abi/internal") {
				return filepath.SkipDir
			}
			if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_gen.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			visit(name[:strings.LastIndexByte(name, '/')], file, strings.HasSuffix(name, "_test.go"))
			return nil
		}))
	}
}
