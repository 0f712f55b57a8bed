// Laying out a source as `opa fmt` does.
package main

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// formatRounds bounds how often a layout is laid out again until it stays: OPA's formatter needs a second round for some.
const formatRounds = 4

// formatSource lays out a source in the syntax that it is written in: v1, or else v0. What it answers is laid out
// already, and has the comments of the source.
func formatSource(q *request) *response {
	first := q.laidOut(q.Source, (*attempt).parse)
	last := first
	for range formatRounds {
		if last.errs != nil && last == first {
			return &response{Errors: toErrors(last.errs, last.caps)}
		}
		if last.errs != nil { // its lines are those of the layout, which nobody has
			return first.cannot("its layout cannot be read")
		}
		// What is laid out nests as deeply as what was: it is read without the pass that bounds the depth.
		next := q.laidOut(last.text, (*attempt).parseBounded)
		if next.errs == nil && next.text == last.text {
			if slices.Equal(first.comments, next.comments) {
				return &response{OK: true, Source: last.text}
			}
			return first.cannot("a comment would be lost")
		}
		last = next
	}
	return first.cannot("each layout of it is laid out in another way")
}

// layout is what the formatter made of a text.
type layout struct {
	attempt
	comments []string
	text     string
}

type parsing = func(a *attempt, s source, maxDepth int) (*ast.Module, error)

func (q *request) laidOut(text string, parse parsing) *layout {
	v1 := q.layoutIn(ast.RegoV1, text, parse)
	if v1.errs == nil {
		return v1
	}
	v0 := q.layoutIn(ast.RegoV0, text, parse)
	if v0.errs != nil {
		v0.errs = faults(&v1.attempt, &v0.attempt, text)
	}
	return v0
}

func (q *request) layoutIn(version ast.RegoVersion, text string, parse parsing) *layout {
	l := &layout{attempt: attempt{version: version, caps: ast.CapabilitiesForThisVersion()}}
	if l.module, l.errs = parse(&l.attempt, source{Name: tenantFile, Source: text}, q.MaxDepth); l.errs != nil {
		return l
	}
	l.comments = comments(l.module)
	if version == ast.RegoV1 {
		if errs := ast.CheckRegoV1(l.module); len(errs) > 0 { // the formatter takes it for granted
			l.errs = ast.Errors(errs)
			return l
		}
	}
	out, err := format.AstWithOpts(l.module, format.Opts{RegoVersion: version, SkipDefensiveCopying: true})
	l.text, l.errs = string(out), err
	return l
}

func (l *layout) cannot(why string) *response {
	errs := failed(l.module.Package.Location, "format_error", "the source cannot be formatted: %s", why)
	return &response{Errors: toErrors(errs, l.caps)}
}

func comments(m *ast.Module) []string {
	all := make([]string, 0, len(m.Comments))
	for _, one := range m.Comments {
		all = append(all, strings.TrimSpace(string(one.Text)))
	}
	slices.Sort(all)
	return all
}
