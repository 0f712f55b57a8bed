// The plan as JSON: {"strings", "files", "builtins", "functions", "plans"}. A statement is an array, its kind first; an
// operand is a local's number, true or false, or [index] of a string. OPA's own marshaller needs reflection for each
// statement and writes places that nobody reads: five times the text.
package plan

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ir"
)

// OwnFile is the file name of the policy's own source.
const OwnFile = "policy.rego"

type encoder struct {
	out     []byte
	unknown bool
	own     int   // the number of the policy's own file
	places  []int // file, row and column of each statement in the order of their text; nil when nobody asks
}

func encode(policy *ir.Policy, places bool) []byte {
	e := &encoder{own: slices.IndexFunc(policy.Static.Files, func(f *ir.StringConst) bool { return f.Value == OwnFile })}
	if places {
		e.places = []int{}
	}
	e.out = append(e.out, `{"strings":`...)
	e.strings(policy.Static.Strings)
	e.out = append(e.out, `,"files":`...)
	e.strings(policy.Static.Files)
	e.out = append(e.out, `,"builtins":`...)
	e.list(len(policy.Static.BuiltinFuncs), func(i int) { e.text(policy.Static.BuiltinFuncs[i].Name) })
	e.out = append(e.out, `,"functions":`...)
	e.list(len(policy.Funcs.Funcs), func(i int) { e.function(policy.Funcs.Funcs[i]) })
	e.out = append(e.out, `,"plans":`...)
	e.list(len(policy.Plans.Plans), func(i int) { e.blocks(policy.Plans.Plans[i].Blocks) })
	if e.places != nil {
		e.out = append(e.out, `,"places":`...)
		e.list(len(e.places), func(i int) { e.number(int64(e.places[i])) })
	}
	e.out = append(e.out, '}')
	if e.unknown {
		return nil
	}
	return e.out
}

func (e *encoder) function(f *ir.Func) {
	e.out = append(e.out, `{"name":`...)
	e.text(f.Name)
	e.out = append(e.out, `,"path":`...)
	e.list(len(f.Path), func(i int) { e.text(f.Path[i]) })
	e.out = append(e.out, `,"params":`...)
	e.list(len(f.Params), func(i int) { e.local(f.Params[i]) })
	e.out = append(e.out, `,"return":`...)
	e.local(f.Return)
	e.out = append(e.out, `,"blocks":`...)
	e.blocks(f.Blocks)
	e.out = append(e.out, '}')
}

func (e *encoder) blocks(blocks []*ir.Block) {
	e.list(len(blocks), func(i int) { e.block(blocks[i]) })
}

func (e *encoder) block(b *ir.Block) {
	e.list(len(b.Stmts), func(i int) { e.statement(b.Stmts[i]) })
}

func (e *encoder) list(n int, item func(i int)) {
	e.out = append(e.out, '[')
	for i := range n {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		item(i)
	}
	e.out = append(e.out, ']')
}

func (e *encoder) strings(list []*ir.StringConst) {
	e.list(len(list), func(i int) { e.text(list[i].Value) })
}

func (e *encoder) text(s string) {
	quoted, _ := json.Marshal(s)
	e.out = append(e.out, quoted...)
}

func (e *encoder) number(n int64)   { e.out = strconv.AppendInt(e.out, n, 10) }
func (e *encoder) local(l ir.Local) { e.number(int64(l)) }

func (e *encoder) operand(o ir.Operand) {
	switch v := o.Value.(type) {
	case ir.Local:
		e.local(v)
	case ir.Bool:
		e.out = strconv.AppendBool(e.out, bool(v))
	case ir.StringIndex:
		e.out = append(e.out, '[')
		e.number(int64(v))
		e.out = append(e.out, ']')
	default:
		e.unknown = true
		e.number(-1)
	}
}

// row is where a statement stands in the policy's own source, else 0.
func (e *encoder) row(at ir.Location) int {
	if at.File == e.own {
		return at.Row
	}
	return 0
}
