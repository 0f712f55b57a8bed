// Modules beside a policy: those of libraries, each in the syntax that it is written in, and what a module refers to
// outside of its own package, by which the host finds the libraries and documents that belong to it.
package main

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// needed says of one module its package, and the ground beginnings of its references under data.
type needed struct {
	Package string     `json:"package"`
	Refs    [][]string `json:"refs"`
}

// parseEither reads a module in the v1 syntax, or else in v0.
func parseEither(s source, maxDepth int, caps *ast.Capabilities) (*ast.Module, error) {
	v1 := &attempt{version: ast.RegoV1, caps: caps}
	if v1.module, v1.errs = v1.parse(s, maxDepth); v1.errs == nil {
		return v1.module, nil
	}
	v0 := &attempt{version: ast.RegoV0, caps: caps}
	if v0.module, v0.errs = v0.parse(s, maxDepth); v0.errs == nil {
		return v0.module, nil
	}
	return nil, faults(v1, v0, s.Source)
}

func addLibraries(to map[string]*ast.Module, from []source, q *request, caps *ast.Capabilities) error {
	for _, s := range from {
		m, err := parseEither(s, q.MaxDepth, caps)
		if err != nil {
			return err
		}
		to[s.Name] = m
	}
	return nil
}

// check compiles the modules of a library with those of the libraries that it uses.
func check(q *request) *response {
	a := &attempt{version: ast.RegoV1, caps: capabilities(q.Builtins)}
	modules := map[string]*ast.Module{}
	for _, from := range [][]source{q.Own, q.Modules} {
		if err := addLibraries(modules, from, q, a.caps); err != nil {
			return &response{Errors: toErrors(err, a.caps)}
		}
	}
	c, err := compiled(modules, a)
	if err != nil {
		return &response{Errors: toErrors(err, a.caps)}
	}
	var errs ast.Errors
	for _, s := range q.Own {
		own, err := ast.ParseRef("data." + s.Package)
		if err != nil {
			return &response{Errors: toErrors(err, a.caps)}
		}
		errs = append(errs, checkData(c, c.Modules[s.Name], surroundings(q, own))...)
	}
	if len(errs) > 0 {
		return &response{Errors: toErrors(errs, a.caps)}
	}
	return &response{OK: true}
}

// needs tells of each module its package and what it refers to; what does not parse needs nothing.
func needs(q *request) *response {
	out := &response{OK: true}
	caps := capabilities(q.Builtins)
	for _, s := range q.Own {
		one := needed{Refs: [][]string{}}
		for _, version := range []ast.RegoVersion{ast.RegoV1, ast.RegoV0} {
			a := &attempt{version: version, caps: caps}
			m, err := a.parse(s, q.MaxDepth)
			if err != nil {
				continue
			}
			one.Package = strings.TrimPrefix(packageName(m), "data.")
			one.add(m)
		}
		slices.SortFunc(one.Refs, slices.Compare[[]string])
		one.Refs = slices.CompactFunc(one.Refs, slices.Equal[[]string])
		out.Modules = append(out.Modules, one)
	}
	return out
}

func (n *needed) add(m *ast.Module) {
	visit := func(t *ast.Term) bool {
		if ref, ok := t.Value.(ast.Ref); ok && ref[0].Equal(ast.DefaultRootDocument) {
			n.Refs = append(n.Refs, beginning(ref))
		}
		return false
	}
	for _, one := range m.Imports {
		ast.WalkTerms(one.Path, visit)
	}
	for _, rule := range m.Rules {
		ast.WalkTerms(rule, visit)
	}
}

// beginning is the ground strings of a reference after data.
func beginning(ref ast.Ref) []string {
	parts := []string{}
	for _, part := range ref[1:] {
		s, ok := part.Value.(ast.String)
		if !ok {
			break
		}
		parts = append(parts, string(s))
	}
	return parts
}

// around is what a module can refer to besides its own rules: packages of libraries, and documents.
type around struct {
	own       ast.Ref // its package, or that of its library
	libraries []ast.Ref
	documents []ast.Ref
}

func surroundings(q *request, own ast.Ref) around {
	found := around{own: own}
	for _, s := range q.Modules {
		if ref, err := ast.ParseRef("data." + s.Package); err == nil {
			found.libraries = append(found.libraries, ref)
		}
	}
	for _, path := range q.Data {
		ref := ast.Ref{ast.DefaultRootDocument}
		for _, part := range strings.Split(path, "/") {
			ref = append(ref, ast.StringTerm(part))
		}
		found.documents = append(found.documents, ref)
	}
	return found
}

// has says whether a reference leads to something that is there.
func (a around) has(c *ast.Compiler, ref ast.Ref) bool {
	if slices.ContainsFunc(a.documents, func(d ast.Ref) bool { return ref.HasPrefix(d) }) {
		return true
	}
	of := func(l ast.Ref) bool { return ref.HasPrefix(l) }
	return (of(a.own) || slices.ContainsFunc(a.libraries, of)) && len(c.GetRulesDynamic(ref)) > 0
}
