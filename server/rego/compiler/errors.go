// Errors as the host hands them to the tenant: OPA's code and message, and a place in the tenant's own source.
package main

import (
	"fmt"
	"slices"
	"strings"

	"accord/server/rego/compiler/plan"

	"github.com/open-policy-agent/opa/v1/ast"
)

// regoErr has a 1-based position in a source of the tenant.
type regoErr struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"` // of a library; absent for the policy's own source
	Row     int    `json:"row"`
	Col     int    `json:"col"`
}

const (
	tenantFile = plan.OwnFile
	errorsMax  = 20
	detailMax  = 12   // lines of OPA's explanation (expected and actual types) that are passed on
	messageMax = 1000 // bytes; a parse error quotes its line, which can be the whole source
)

// toErrors flattens OPA's errors, given the builtins that the policy may call. An error inside our own module is a consequence of one in the tenant's, so it is kept
// only when it is alone.
func toErrors(err error, caps *ast.Capabilities) []regoErr {
	var list ast.Errors
	switch e := err.(type) {
	case ast.Errors:
		list = e
	case *ast.Error:
		list = ast.Errors{e}
	default:
		return []regoErr{{Code: "internal_error", Message: err.Error(), Row: 1, Col: 1}}
	}
	var tenants, ours []regoErr
	for _, e := range list {
		if isTenants(e.Location) {
			tenants = append(tenants, toError(e, caps))
		} else {
			ours = append(ours, toError(e, caps))
		}
	}
	if len(tenants) == 0 {
		tenants = ours
	}
	return slices.Compact(tenants)
}

func toError(e *ast.Error, caps *ast.Capabilities) regoErr {
	out := regoErr{Code: e.Code, Message: undefinedFunction(e.Message), Row: 1, Col: 1}
	if isTenants(e.Location) {
		out.Row, out.Col = max(e.Location.Row, 1), max(e.Location.Col, 1)
		if e.Location.File != tenantFile {
			out.File = e.Location.File
		}
	}
	if name := missing(e, caps); name != "" {
		out.Code = "builtin_unavailable"
		out.Message = fmt.Sprintf("builtin %s is not available to policies", name)
		return out
	}
	if e.Details != nil {
		if lines := e.Details.Lines(); len(lines) > 0 && len(lines) <= detailMax {
			out.Message += "\n" + strings.Join(lines, "\n")
		}
	}
	if len(out.Message) > messageMax {
		out.Message = strings.ToValidUTF8(out.Message[:messageMax], "") + "…"
	}
	return out
}

// isTenants tells places in sources of a tenant from those in our own module.
func isTenants(at *ast.Location) bool { return at != nil && at.File != "" && at.File != entryFile }

// missing names the builtin that the error is about, if it is one of OPA's that the policy may not call. A call says
// so in its message; in `with http.send as f` or `x := http.send` the name is the text at the error's place.
func missing(e *ast.Error, caps *ast.Capabilities) string {
	name, called := strings.CutPrefix(e.Message, "undefined function ")
	if !called && e.Location != nil && e.Code != ast.ParseErr {
		name = string(e.Location.Text)
	}
	allowed := slices.ContainsFunc(caps.Builtins, func(b *ast.Builtin) bool { return b.Name == name })
	if ast.BuiltinMap[name] == nil || allowed {
		return ""
	}
	return name
}

func failed(at *ast.Location, code, message string, args ...any) ast.Errors {
	return ast.Errors{ast.NewError(code, at, message, args...)}
}
