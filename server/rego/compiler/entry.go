// The module of ours that is compiled beside the tenant's: one document with what the decision needs of his package,
// and nothing else as entrypoint. Its package and the names that explain adds contain a space, which no rule or first
// package part of a tenant can.
package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

const (
	entryFile = "accord answer"
	entryRoot = "accord answer"
)

// answers are the names of the tenant's rules that make up a decision.
var answers = []string{"outcome", "reason", "obligations"}

// entryQuery evaluates to the one document.
func entryQuery() ast.Body {
	root := ast.Ref{ast.DefaultRootDocument, ast.StringTerm(entryRoot), ast.StringTerm("answer")}
	return ast.NewBody(ast.Equality.Expr(ast.VarTerm("result"), ast.NewTerm(root)))
}

// entryModule builds an object of partial rules, so that a rule that is undefined takes only its own key away.
// With explain it also has the set of rows that addTwins' rules yield.
func entryModule(tenant *ast.Module, explain bool) (*ast.Module, error) {
	var text strings.Builder
	text.WriteString("package answer\n")
	for _, name := range answers {
		if slices.ContainsFunc(tenant.Rules, func(r *ast.Rule) bool { return ruleName(r) == name }) {
			fmt.Fprintf(&text, "answer[%q] := data.tenant[%q]\n", name, name)
		}
	}
	if explain {
		text.WriteString("answer[\"held\"] := held\nheld contains 0 if false\n")
		for _, twin := range addTwins(tenant) {
			fmt.Fprintf(&text, "held contains data.tenant[%q]\n", twin)
		}
	}
	text.WriteString("answer[\"\"] := null if false\n") // the document exists even if the tenant defines none of them
	m, err := ast.ParseModuleWithOpts(entryFile, text.String(), ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		return nil, err
	}
	m.Package.Path = ast.Ref{ast.DefaultRootDocument, ast.StringTerm(entryRoot)}
	// The tenant's package goes in as a value: OPA prints a reference without escaping quotes in it.
	placeholder := ast.MustParseRef("data.tenant")
	_, err = ast.TransformRefs(m, func(r ast.Ref) (ast.Value, error) {
		if r.HasPrefix(placeholder) {
			return tenant.Package.Path.Concat(r[len(placeholder):]), nil
		}
		return r, nil
	})
	return m, err
}

// packageName writes the package as a reference that parses back.
func packageName(m *ast.Module) string { return refName(m.Package.Path) }

// ruleName is the first part of the rule's name: obligations for obligations["x"] and obligations.x.
func ruleName(r *ast.Rule) string {
	return string(r.Head.Ref()[0].Value.(ast.Var))
}

// checkModule refuses what our module could not read or would collide with.
func checkModule(m *ast.Module) ast.Errors {
	if len(m.Package.Path) < 2 || m.Package.Path[1].Equal(ast.StringTerm(entryRoot)) {
		return failed(m.Package.Location, ast.CompileErr, "package %s is reserved", packageName(m))
	}
	for _, rule := range m.Rules {
		if name := ruleName(rule); slices.Contains(answers, name) && len(rule.Head.Args) > 0 {
			return failed(rule.Location, ast.CompileErr, "%s must be a rule, not a function", name)
		}
	}
	return nil
}

// addTwins adds to the tenant's module, for each rule (with its else chain) of an answer, a twin with the same bodies
// whose value is the row of the link that held. Default rules have none. It returns the twins' names.
func addTwins(m *ast.Module) []string {
	var names []string
	for _, rule := range slices.Clone(m.Rules) {
		if rule.Default || !slices.Contains(answers, ruleName(rule)) {
			continue
		}
		name := "held " + strconv.Itoa(len(names))
		m.Rules = append(m.Rules, twin(rule.Copy(), name))
		names = append(names, name)
	}
	return names
}

func twin(rule *ast.Rule, name string) *ast.Rule {
	for link := rule; link != nil; link = link.Else {
		for i, part := range headTerms(link.Head) { // a head that is undefined does not hold
			link.Body.Append(ast.Equality.Expr(ast.VarTerm(fmt.Sprintf("value %d", i)), part))
		}
		link.Annotations = nil
		link.Head = &ast.Head{
			Name: ast.Var(name), Reference: ast.Ref{ast.VarTerm(name)},
			Value: ast.IntNumberTerm(link.Location.Row), Location: link.Head.Location, Assign: true,
		}
	}
	return rule
}

func headTerms(h *ast.Head) []*ast.Term {
	parts := slices.Clone(h.Ref()[1:])
	if h.Key != nil {
		parts = append(parts, h.Key)
	}
	if h.Value != nil {
		parts = append(parts, h.Value)
	}
	return slices.DeleteFunc(parts, func(t *ast.Term) bool { return ast.IsConstant(t.Value) })
}
