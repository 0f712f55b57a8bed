// Package plan hands out what OPA's planner makes of a query, for both evaluators: as text for ours, and as Wasm with
// OPA's runtime. The planner is internal to OPA; it is reached as a target plugin, which is given the IR of the query
// that it prepares.
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

// Compiled is a query for both evaluators. Text is what server/rego/plan reads (encode.go); it is nil when the plan has
// what that cannot run, or was not asked for.
type Compiled struct {
	Wasm []byte
	Text []byte
}

// Wanted says what of a query is asked for beside its Wasm. Places adds to the text where each statement stands.
type Wanted struct{ Text, Places bool }

// Compile plans a query once.
func Compile(wanted Wanted, options ...func(*rego.Rego)) (*Compiled, error) {
	options = append(options, rego.Target(target))
	if _, err := rego.New(options...).PrepareForEval(context.Background()); err != nil {
		return nil, err
	}
	wasm, err := linked(ordered(caught.policy))
	if err != nil {
		return nil, err
	}
	out := &Compiled{Wasm: wasm}
	if wanted.Text {
		out.Text = encode(caught.policy, wanted.Places)
	}
	return out, nil
}
