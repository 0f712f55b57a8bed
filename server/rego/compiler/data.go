// What a policy may refer to under `data`: its own rules, and nothing else is there. OPA takes any other reference for
// data that may come later, and it would be undefined for ever.
package main

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

const dataErr = "data_unavailable"

// checkData refuses references to data that no rule of the compiled module makes, also as targets of `with`.
func checkData(c *ast.Compiler, m *ast.Module) ast.Errors {
	var errs ast.Errors
	for _, rule := range m.Rules {
		ast.WalkTerms(rule, func(t *ast.Term) bool {
			ref, ok := t.Value.(ast.Ref)
			if !ok || !ref[0].Equal(ast.DefaultRootDocument) || isOwn(c, m, ref) {
				return false
			}
			at := t.Location
			if at == nil || at.File != tenantFile {
				at = rule.Location
			}
			errs = append(errs, failed(at, dataErr, "%s", foreign(m, ref))...)
			return false
		})
	}
	errs.Sort()
	if len(errs) > errorsMax {
		errs = errs[:errorsMax]
	}
	return errs
}

func isOwn(c *ast.Compiler, m *ast.Module, ref ast.Ref) bool {
	return ref.HasPrefix(m.Package.Path) && len(c.GetRulesDynamic(ref)) > 0
}

func foreign(m *ast.Module, ref ast.Ref) string {
	name := refName(ref.GroundPrefix())
	if ref.HasPrefix(m.Package.Path) {
		return fmt.Sprintf("%s is not available: the policy has no such rule", name)
	}
	return fmt.Sprintf("%s is not available: a policy can refer to the rules of its own package, %s, and to its input",
		name, packageName(m))
}

// refName writes a ground reference so that it parses back; OPA's own String does not escape quotes.
func refName(ref ast.Ref) string {
	name := "data"
	for _, part := range ref[1:] {
		if s, ok := part.Value.(ast.String); !ok {
			name += "[" + part.String() + "]"
		} else if ast.IsVarCompatibleString(string(s)) {
			name += "." + string(s)
		} else {
			name += fmt.Sprintf("[%q]", string(s))
		}
	}
	return name
}

// undefinedFunction explains OPA's message about a function of another package.
func undefinedFunction(message string) string {
	if strings.HasPrefix(message, "undefined function data.") {
		return message + ": a function must be in the policy that calls it"
	}
	return message
}
