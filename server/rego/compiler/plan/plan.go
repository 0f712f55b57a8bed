// Package plan hands out what OPA's planner makes of a query: the IR that its Wasm target compiles, too. The planner is
// internal to OPA; it is reached as a target plugin, which is given the IR of the query that it prepares.
package plan

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/rego"
)

const target = "accord-plan"

// catcher keeps the last policy that was prepared; one query is prepared at a time.
type catcher struct{ policy *ir.Policy }

var caught catcher

func init() { rego.RegisterPlugin(target, &caught) }

// IsTarget is a part of rego.TargetPlugin.
func (*catcher) IsTarget(name string) bool { return name == target }

// PrepareForEval is a part of rego.TargetPlugin.
func (c *catcher) PrepareForEval(_ context.Context, policy *ir.Policy, _ ...rego.PrepareOption) (rego.TargetPluginEval, error) {
	c.policy = policy
	return c, nil
}

// Eval is a part of rego.TargetPlugin; nothing is evaluated here.
func (*catcher) Eval(context.Context, *rego.EvalContext, ast.Value) (ast.Value, error) {
	panic("a plan is not evaluated here")
}

// Of returns the plan of a query in the text that server/rego/plan reads (encode.go), or nil when it has what that
// cannot run.
func Of(options ...func(*rego.Rego)) ([]byte, error) {
	options = append(options, rego.Target(target))
	if _, err := rego.New(options...).PrepareForEval(context.Background()); err != nil {
		return nil, err
	}
	return encode(caught.policy), nil
}
