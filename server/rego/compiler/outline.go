// Where the rules and conditions of the modules stand, for explaining a decision and for the coverage of tests.
package main

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ast/location"
)

// span is [row, column, end row, end column] in the tenant's source, 1-based; the end is behind the last character.
type sourceSpan [4]int

// outlined is one definition of a rule or function: a rule, or a link of its else chain.
type outlined struct {
	Name    string       `json:"name"` // its first part: obligations for obligations["x"]
	Head    sourceSpan   `json:"head"`
	All     sourceSpan   `json:"all"`     // with its body
	Default bool         `json:"default"` // default outcome := "deny"
	Else    bool         `json:"else"`    // a link of an else chain but the first
	Exprs   []sourceSpan `json:"exprs"`   // its conditions, those inside comprehensions and every, too
}

func spanOf(l *ast.Location) sourceSpan {
	row, col := location.EndOf(l.Row, l.Col, l.Text)
	return sourceSpan{l.Row, l.Col, row, col}
}

func outline(m *ast.Module) []outlined {
	out := []outlined{}
	for _, rule := range m.Rules {
		for link := rule; link != nil; link = link.Else {
			one := outlined{Name: ruleName(rule), Head: spanOf(link.Head.Location), All: spanOf(link.Location),
				Default: rule.Default, Else: link != rule, Exprs: []sourceSpan{}}
			add := func(e *ast.Expr) bool {
				if e.Location != nil && isCondition(e) {
					one.Exprs = append(one.Exprs, spanOf(e.Location))
				}
				return false
			}
			ast.WalkExprs(link.Head, add)
			ast.WalkExprs(link.Body, add)
			out = append(out, one)
		}
	}
	return out
}

// outlines are those of the modules of libraries, by the names of their files.
func outlines(modules map[string]*ast.Module) map[string][]outlined {
	out := map[string][]outlined{}
	for name, m := range modules {
		if name != tenantFile && name != entryFile {
			out[name] = outline(m)
		}
	}
	return out
}

// isCondition tells what the planner has statements for: no declaration of variables, and no constant that is true.
func isCondition(e *ast.Expr) bool {
	switch t := e.Terms.(type) {
	case *ast.SomeDecl:
		return len(t.Symbols) == 1 && isMembership(t.Symbols[0])
	case *ast.Term:
		switch v := t.Value.(type) {
		case ast.Boolean:
			return !bool(v)
		case ast.Ref, ast.Var, ast.Call:
			return true
		}
		return false
	}
	return true
}

// isMembership tells `some x in xs` from `some x`.
func isMembership(t *ast.Term) bool {
	_, ok := t.Value.(ast.Call)
	return ok
}
