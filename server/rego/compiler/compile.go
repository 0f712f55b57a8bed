// From source to linked Wasm: syntax version, parse, compile with our entry module, link.
package main

import (
	"regexp"
	"strings"

	"accord/server/rego/compiler/plan"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// attempt is what one version of the syntax made of the source.
type attempt struct {
	version ast.RegoVersion
	caps    *ast.Capabilities
	module  *ast.Module // nil when it did not parse
	errs    error
}

// modern matches what only a writer of the v1 syntax would write; the older syntax's errors would mislead him.
var modern = regexp.MustCompile(`(?m)^\s*import\s+rego\.v1\b|^[^#"\n]*\bif\b`)

// compile tries the v1 syntax, then v0. When both fail it reports the one that got further.
func compile(q *request) *response {
	v1 := &attempt{version: ast.RegoV1, caps: capabilities(q.Builtins)}
	out := v1.compile(q)
	if v1.errs == nil {
		return out
	}
	v0 := &attempt{version: ast.RegoV0, caps: v1.caps}
	out = v0.compile(q)
	if v0.errs == nil {
		return out
	}
	return &response{Errors: toErrors(faults(v1, v0, q.Source), v1.caps)}
}

// faults are those of v1 unless v0 got further.
func faults(v1, v0 *attempt, source string) error {
	if !modern.MatchString(source) && v0.further(v1) {
		return v0.errs
	}
	return v1.errs
}

func (a *attempt) compile(q *request) *response {
	if a.module, a.errs = a.parse(source{Name: tenantFile, Source: q.Source}, q.MaxDepth); a.errs != nil {
		return nil
	}
	if errs := checkModule(a.module); errs != nil {
		a.errs = errs
		return nil
	}
	entry, err := entryModule(a.module, q.Explain)
	if err != nil {
		a.errs = err
		return nil
	}
	modules := map[string]*ast.Module{tenantFile: a.module, entryFile: entry}
	if a.errs = addLibraries(modules, q.Modules, q, a.caps); a.errs != nil {
		return nil
	}
	c, err := compiled(modules, a)
	if err != nil {
		a.errs = err
		return nil
	}
	around := surroundings(q, a.module.Package.Path)
	if errs := checkData(c, c.Modules[tenantFile], around); len(errs) > 0 {
		a.errs = errs
		return nil
	}
	made, err := plan.Compile(plan.Wanted{Text: q.Plan, Places: q.Trace}, rego.Compiler(c), rego.ParsedQuery(entryQuery()))
	if err != nil {
		a.errs = err
		return nil
	}
	out := &response{OK: true, Package: packageName(a.module), Syntax: "v1", Plan: string(made.Text), wasm: made.Wasm}
	if a.version == ast.RegoV0 {
		out.Syntax = "v0"
	}
	if q.Trace {
		out.Outline = outline(a.module)
		out.Outlines = outlines(modules)
	}
	out.Reads = inputReads(c, c.Modules[tenantFile])
	for _, b := range c.Required.Builtins {
		if !isNative(b.Name) {
			out.Builtins = append(out.Builtins, b.Name)
		}
	}
	return out
}

// compiled runs OPA's compiler over modules.
func compiled(modules map[string]*ast.Module, a *attempt) (*ast.Compiler, error) {
	c := ast.NewCompiler().WithCapabilities(a.caps).WithDefaultRegoVersion(a.version).SetErrorLimit(errorsMax).
		WithEvalMode(ast.EvalModeIR)
	c.Compile(modules)
	if c.Failed() {
		return nil, c.Errors
	}
	return c, nil
}

// parse bounds the nesting with a first pass: ParseModuleWithOpts has no such option, and its own bound of 100,000
// overflows the stack first.
func (a *attempt) parse(s source, maxDepth int) (*ast.Module, error) {
	_, _, errs := ast.NewParser().WithFilename(s.Name).WithReader(strings.NewReader(s.Source)).
		WithProcessAnnotation(true).WithRegoVersion(a.version).WithCapabilities(a.caps).
		WithMaxRecursionDepth(maxDepth).Parse()
	if len(errs) > 0 {
		return nil, errs
	}
	return a.parseBounded(s, maxDepth)
}

// parseBounded parses what is known not to nest too deeply.
func (a *attempt) parseBounded(s source, _ int) (*ast.Module, error) {
	return ast.ParseModuleWithOpts(s.Name, s.Source,
		ast.ParserOptions{RegoVersion: a.version, ProcessAnnotation: true, Capabilities: a.caps})
}

// further says whether a got further than b: it parsed and b did not, or its first error stands later.
func (a *attempt) further(b *attempt) bool {
	if (a.module == nil) != (b.module == nil) {
		return a.module != nil
	}
	if a.module != nil {
		return false
	}
	mine, other := toErrors(a.errs, a.caps)[0], toErrors(b.errs, b.caps)[0]
	return mine.Row > other.Row || mine.Row == other.Row && mine.Col > other.Col
}
