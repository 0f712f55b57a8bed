// Which parts of the input a policy can look at, so that the service fetches no fact that cannot matter.
package main

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// reads is either everything or a sorted list of paths, none of which is a prefix of another.
type reads struct {
	All   bool       `json:"all"`
	Paths [][]string `json:"paths"`
}

// inputReads walks a compiled module, where every use of the input is a reference (imports, local names and `with` are
// resolved by then). The ground strings after `input` are what is read; a reference without any reads all of it.
func inputReads(c *ast.Compiler, m *ast.Module) *reads {
	r := &reads{}
	for rule := range reachable(c, m) {
		ast.WalkTerms(rule, r.visit)
	}
	if r.All {
		return &reads{All: true}
	}
	r.minimize()
	return r
}

// reachable are the rules of a module, and those of libraries that they lead to.
func reachable(c *ast.Compiler, m *ast.Module) map[*ast.Rule]bool {
	found := map[*ast.Rule]bool{}
	queue := slices.Clone(m.Rules)
	for len(queue) > 0 {
		rule := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if found[rule] {
			continue
		}
		found[rule] = true
		for next := range c.Graph.Dependencies(rule) {
			if one, ok := next.(*ast.Rule); ok {
				queue = append(queue, one)
			}
		}
	}
	return found
}

// visit answers whether the walk need not go into the term.
func (r *reads) visit(t *ast.Term) bool {
	switch v := t.Value.(type) {
	case ast.Var:
		r.All = r.All || v.Equal(ast.InputRootDocument.Value)
	case ast.Ref:
		if !v[0].Equal(ast.InputRootDocument) {
			return false
		}
		r.add(v[1:])
		for _, part := range v[1:] { // input.a[input.b] reads b, too
			ast.WalkTerms(part, r.visit)
		}
		return true
	}
	return false
}

func (r *reads) add(parts ast.Ref) {
	path := []string{}
	for _, part := range parts {
		s, ok := part.Value.(ast.String)
		if !ok {
			break
		}
		path = append(path, string(s))
	}
	r.All = r.All || len(path) == 0
	r.Paths = append(r.Paths, path)
}

// minimize sorts, so that a prefix stands right before the paths that it covers, and drops those.
func (r *reads) minimize() {
	slices.SortFunc(r.Paths, slices.Compare[[]string])
	kept := [][]string{}
	for _, path := range r.Paths {
		if n := len(kept); n > 0 && len(kept[n-1]) <= len(path) && slices.Equal(kept[n-1], path[:len(kept[n-1])]) {
			continue
		}
		kept = append(kept, path)
	}
	r.Paths = kept
}
