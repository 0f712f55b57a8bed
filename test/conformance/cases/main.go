// Compiles OPA's own conformance cases to Wasm and to plans, and writes them to standard output, each as one line of JSON followed
// by `wasmBytes` bytes of Wasm. The cases come from OPA's Go module, whose folder is the argument; they are not copied.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"accord/server/rego/compiler/plan"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/test/cases"
)

// header describes a case: what to evaluate, and what OPA's own evaluator gives.
type header struct {
	Note         string            `json:"note"`
	Version      string            `json:"version"`
	Folder       string            `json:"folder"`
	WasmBytes    int               `json:"wasmBytes"`
	Plan         string            `json:"plan,omitempty"`
	CompileError string            `json:"compileError,omitempty"`
	Input        *any              `json:"input,omitempty"`
	Data         *map[string]any   `json:"data,omitempty"`
	WantDefined  *bool             `json:"wantDefined,omitempty"`
	WantResult   *[]map[string]any `json:"wantResult,omitempty"`
	WantError    bool              `json:"wantError,omitempty"`
	WantCode     string            `json:"wantCode,omitempty"`
	Strict       bool              `json:"strict,omitempty"`
}

func main() {
	root := filepath.Join(os.Args[1], "v1", "test", "cases", "testdata")
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for _, version := range []struct {
		name string
		rego ast.RegoVersion
	}{{"v0", ast.RegoV0}, {"v1", ast.RegoV1}} {
		for _, tc := range cases.MustLoad(filepath.Join(root, version.name)).Sorted().Cases {
			if err := write(out, describe(tc, version.name), tc, version.rego); err != nil {
				log.Fatalf("%s: %v", tc.Note, err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func describe(tc cases.TestCase, version string) header {
	h := header{
		Note: tc.Note, Version: version, Folder: filepath.Base(filepath.Dir(tc.Filename)),
		Input: tc.Input, Data: tc.Data, WantDefined: tc.WantDefined, WantResult: tc.WantResult,
		WantError: tc.WantError != nil || tc.WantErrorCode != nil, Strict: tc.StrictError,
	}
	if tc.WantErrorCode != nil {
		h.WantCode = *tc.WantErrorCode
	}
	if tc.InputTerm != nil {
		if input, err := asJSON(*tc.InputTerm); err == nil {
			h.Input = &input
		}
	}
	return h
}

// asJSON reads a Rego term; sets become arrays.
func asJSON(source string) (any, error) {
	term, err := ast.ParseTerm(source)
	if err != nil {
		return nil, err
	}
	return ast.JSON(term.Value)
}

func write(out *bufio.Writer, h header, tc cases.TestCase, version ast.RegoVersion) error {
	wasm, text, err := compile(tc, version)
	h.Plan = string(text)
	if err != nil {
		h.CompileError, _, _ = strings.Cut(err.Error(), "\n")
	}
	h.WasmBytes = len(wasm)
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return err
	}
	_, err = out.Write(wasm)
	return err
}

// compile turns a panic of OPA's into an error: two cases use builtins that only OPA's own tests register.
func compile(tc cases.TestCase, version ast.RegoVersion) (wasm, text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	keywords := ast.CapabilitiesExperimentalKeywords(tc.ExperimentalKeywords)
	options := []func(*rego.Rego){
		rego.Query(tc.Query), rego.SetRegoVersion(version),
		rego.Capabilities(ast.CapabilitiesForThisVersion(keywords)),
	}
	for i, module := range tc.Modules {
		options = append(options, rego.Module(fmt.Sprintf("module-%d.rego", i), module))
	}
	made, err := plan.Compile(plan.Wanted{Text: true}, options...)
	if err != nil {
		return nil, nil, err
	}
	return made.Wasm, made.Text, nil
}
