// What OPA's Wasm runtime does otherwise than OPA's own evaluator is put right in the IR, before it becomes Wasm. The
// runtime goes through sets and objects by their hash; `opa eval` goes through them in the order of their values.
package plan

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
)

// hosted are builtins of the runtime that the host does instead, under their name with hostPrefix
// (server/rego/builtins/index.ts takes it off). The runtime writes sets and objects by their hash, reads JSON that is
// none and numbers of any exponent, and formats integers of 64 bits only.
var hosted = map[string]bool{
	ast.JSONMarshal.Name:            true,
	ast.InternalTemplateString.Name: true,
	ast.JSONUnmarshal.Name:          true,
	ast.JSONIsValid.Name:            true,
	ast.FormatInt.Name:              true,
}

const hostPrefix = "host "

// firstLocal is past all that the planner hands out.
const firstLocal ir.Local = 1 << 28

// rewriter copies what it changes; the planner's IR is left as it is.
type rewriter struct{ next ir.Local }

func ordered(policy *ir.Policy) *ir.Policy {
	out := *policy
	static := *policy.Static
	static.BuiltinFuncs = nil
	for _, b := range policy.Static.BuiltinFuncs {
		if hosted[b.Name] {
			b = &ir.BuiltinFunc{Name: hostPrefix + b.Name, Decl: b.Decl}
		}
		static.BuiltinFuncs = append(static.BuiltinFuncs, b)
	}
	out.Static = &static
	out.Plans = &ir.Plans{}
	for _, p := range policy.Plans.Plans {
		r := &rewriter{next: firstLocal}
		out.Plans.Plans = append(out.Plans.Plans, &ir.Plan{Name: p.Name, Blocks: r.blocks(p.Blocks)})
	}
	out.Funcs = &ir.Funcs{}
	for _, f := range policy.Funcs.Funcs {
		r := &rewriter{next: firstLocal}
		copied := *f
		copied.Blocks = r.blocks(f.Blocks)
		out.Funcs.Funcs = append(out.Funcs.Funcs, &copied)
	}
	return &out
}

func (r *rewriter) local() ir.Local {
	r.next++
	return r.next - 1
}

func (r *rewriter) blocks(blocks []*ir.Block) []*ir.Block {
	out := make([]*ir.Block, len(blocks))
	for i, b := range blocks {
		out[i] = r.block(b)
	}
	return out
}

func (r *rewriter) block(b *ir.Block) *ir.Block {
	out := &ir.Block{Stmts: make([]ir.Stmt, 0, len(b.Stmts))}
	for _, stmt := range b.Stmts {
		out.Stmts = append(out.Stmts, r.statement(stmt)...)
	}
	return out
}

func (r *rewriter) statement(stmt ir.Stmt) []ir.Stmt {
	switch s := stmt.(type) {
	case *ir.BlockStmt:
		return []ir.Stmt{&ir.BlockStmt{Blocks: r.blocks(s.Blocks), Location: s.Location}}
	case *ir.NotStmt:
		return []ir.Stmt{&ir.NotStmt{Block: r.block(s.Block), Location: s.Location}}
	case *ir.WithStmt:
		return []ir.Stmt{&ir.WithStmt{Local: s.Local, Path: s.Path, Value: s.Value, Block: r.block(s.Block), Location: s.Location}}
	case *ir.ScanStmt:
		return r.scan(s)
	case *ir.CallStmt:
		return r.call(s)
	}
	return []ir.Stmt{stmt}
}

// scan goes through a set as an array of its items, and through an object by an array of its keys, both sorted.
func (r *rewriter) scan(s *ir.ScanStmt) []ir.Stmt {
	list, keys, index, item := r.local(), r.local(), r.local(), r.local()
	body := []ir.Stmt{
		assign(index, s.Key),
		assign(item, s.Value),
		when(&ir.IsSetStmt{Source: operand(s.Source)}, assign(item, s.Key)),
		when(&ir.IsObjectStmt{Source: operand(s.Source)}, assign(item, s.Key),
			&ir.DotStmt{Source: operand(s.Source), Key: operand(item), Target: s.Value}),
	}
	return []ir.Stmt{
		assign(s.Source, list),
		when(&ir.IsSetStmt{Source: operand(s.Source)}, sort(s.Source, list)),
		when(&ir.IsObjectStmt{Source: operand(s.Source)},
			&ir.CallStmt{Func: ast.ObjectKeys.Name, Args: []ir.Operand{operand(s.Source)}, Result: keys}, sort(keys, list)),
		&ir.ScanStmt{Source: list, Key: index, Value: item, Location: s.Location,
			Block: &ir.Block{Stmts: append(body, r.block(s.Block).Stmts...)}},
	}
}

func (r *rewriter) call(s *ir.CallStmt) []ir.Stmt {
	switch {
	case hosted[s.Func]:
		copied := *s
		copied.Func = hostPrefix + s.Func
		return []ir.Stmt{&copied}
	case s.Func == ast.WalkBuiltin.Name: // pairs of path and value: paths in order are parts before what is in them
		found := r.local()
		return []ir.Stmt{&ir.CallStmt{Func: s.Func, Args: s.Args, Result: found, Location: s.Location}, sort(found, s.Result)}
	case s.Func == ast.Concat.Name:
		parts := r.local()
		copied := *s
		copied.Args = slices.Clone(s.Args)
		copied.Args[1] = operand(parts)
		return []ir.Stmt{
			&ir.AssignVarStmt{Source: s.Args[1], Target: parts},
			when(&ir.IsSetStmt{Source: operand(parts)}, sort(parts, parts)),
			&copied,
		}
	case s.Func == ast.Divide.Name: // the runtime divides zero by zero
		zero := r.local()
		return []ir.Stmt{
			&ir.MakeNumberIntStmt{Value: 0, Target: zero},
			&ir.NotEqualStmt{A: s.Args[1], B: operand(zero)},
			s,
		}
	}
	return []ir.Stmt{s}
}

// when runs what follows a check if it holds.
func when(check ir.Stmt, then ...ir.Stmt) ir.Stmt {
	return &ir.BlockStmt{Blocks: []*ir.Block{{Stmts: append([]ir.Stmt{check}, then...)}}}
}

func assign(from, to ir.Local) ir.Stmt {
	return &ir.AssignVarStmt{Source: operand(from), Target: to}
}

func sort(from, to ir.Local) ir.Stmt {
	return &ir.CallStmt{Func: ast.Sort.Name, Args: []ir.Operand{operand(from)}, Result: to}
}

func operand(l ir.Local) ir.Operand { return ir.Operand{Value: l} }
