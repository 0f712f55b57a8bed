// What a module may refer to under `data`: its own rules, those of libraries, and documents. OPA takes any other
// reference for data that may come later, and it would be undefined for ever.
package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

const dataErr = "data_unavailable"

// checkData refuses references to data that neither a rule nor a document makes, also as targets of `with`.
func checkData(c *ast.Compiler, m *ast.Module, a around) ast.Errors {
	var errs ast.Errors
	for _, rule := range m.Rules {
		ast.WalkTerms(rule, func(t *ast.Term) bool {
			ref, ok := t.Value.(ast.Ref)
			if !ok || !ref[0].Equal(ast.DefaultRootDocument) || a.has(c, ref) {
				return false
			}
			at := t.Location
			if at == nil || at.File != m.Package.Location.File {
				at = rule.Location
			}
			errs = append(errs, failed(at, dataErr, "%s", a.foreign(ref))...)
			return false
		})
	}
	errs.Sort()
	if len(errs) > errorsMax {
		errs = errs[:errorsMax]
	}
	return errs
}

func (a around) foreign(ref ast.Ref) string {
	name := refName(ref.GroundPrefix())
	if ref.HasPrefix(a.own) {
		return fmt.Sprintf("%s is not available: %s has no such rule", name, refName(a.own))
	}
	for _, library := range a.libraries {
		if ref.HasPrefix(library) {
			return fmt.Sprintf("%s is not available: the library %s has no such rule", name, refName(library))
		}
	}
	for _, one := range slices.Concat(a.libraries, a.documents) {
		if one.HasPrefix(ref.GroundPrefix()) {
			return fmt.Sprintf("%s is not available: refer to %s, or to what is below it", name, refName(one))
		}
	}
	return fmt.Sprintf("%s is not available: it is neither in the package %s, nor in a library or a data document of the tenant",
		name, refName(a.own))
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
		return message + ": it is neither in the own package, nor in a library of the tenant"
	}
	return message
}
