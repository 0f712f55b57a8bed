// One statement of the plan as an array: its kind, its operands and locals, what else it needs.
package plan

import "github.com/open-policy-agent/opa/v1/ir"

// as opens a statement's array; its parts are an ir.Local, ir.Operand, int64, string, *ir.Block or a list.
func (e *encoder) as(kind string, parts ...any) {
	e.out = append(e.out, '[', '"')
	e.out = append(e.out, kind...)
	e.out = append(e.out, '"')
	for _, part := range parts {
		e.out = append(e.out, ',')
		switch p := part.(type) {
		case ir.Local:
			e.local(p)
		case ir.Operand:
			e.operand(p)
		case int64:
			e.number(p)
		case int:
			e.number(int64(p))
		case string:
			e.text(p)
		case *ir.Block:
			e.block(p)
		case []*ir.Block:
			e.blocks(p)
		case []ir.Operand:
			e.list(len(p), func(i int) { e.operand(p[i]) })
		case []ir.Local:
			e.list(len(p), func(i int) { e.local(p[i]) })
		case []int:
			e.list(len(p), func(i int) { e.number(int64(p[i])) })
		}
	}
	e.out = append(e.out, ']')
}

func (e *encoder) statement(stmt ir.Stmt) {
	if e.places != nil {
		at := stmt.GetLocation()
		e.places = append(e.places, at.File, at.Row, at.Col)
	}
	switch s := stmt.(type) {
	case *ir.ResultSetAddStmt:
		e.as("result", s.Value)
	case *ir.ReturnLocalStmt:
		e.as("return", s.Source)
	case *ir.BlockStmt:
		e.as("block", s.Blocks)
	case *ir.BreakStmt:
		e.as("break", int64(s.Index))
	case *ir.CallStmt:
		// The row is for whoever is told which line reads all relationships (../../plan/narrowing.ts).
		e.as("call", s.Func, s.Args, s.Result, e.row(s.Location))
	case *ir.CallDynamicStmt:
		e.as("dynamic", s.Path, s.Args, s.Result)
	case *ir.WithStmt:
		e.as("with", s.Local, s.Path, s.Value, s.Block)
	case *ir.ScanStmt:
		e.as("scan", s.Source, s.Key, s.Value, s.Block, e.row(s.Location))
	case *ir.NotStmt:
		e.as("not", s.Block)
	case *ir.NopStmt:
		e.as("nop")
	default:
		e.simple(stmt)
	}
}

// simple statements have no block inside.
func (e *encoder) simple(stmt ir.Stmt) {
	switch s := stmt.(type) {
	case *ir.AssignVarStmt:
		e.as("assign", s.Source, s.Target)
	case *ir.AssignVarOnceStmt:
		e.as("assignOnce", s.Source, s.Target, s.File, s.Row, s.Col)
	case *ir.ResetLocalStmt:
		e.as("reset", s.Target)
	case *ir.DotStmt:
		e.as("dot", s.Source, s.Key, s.Target)
	case *ir.LenStmt:
		e.as("len", s.Source, s.Target)
	case *ir.EqualStmt:
		e.as("equal", s.A, s.B)
	case *ir.NotEqualStmt:
		e.as("notEqual", s.A, s.B)
	case *ir.IsArrayStmt:
		e.as("isArray", s.Source)
	case *ir.IsObjectStmt:
		e.as("isObject", s.Source)
	case *ir.IsSetStmt:
		e.as("isSet", s.Source)
	case *ir.IsDefinedStmt:
		e.as("isDefined", s.Source)
	case *ir.IsUndefinedStmt:
		e.as("isUndefined", s.Source)
	default:
		e.making(stmt)
	}
}

// making statements build values.
func (e *encoder) making(stmt ir.Stmt) {
	switch s := stmt.(type) {
	case *ir.MakeNullStmt:
		e.as("null", s.Target)
	case *ir.MakeNumberIntStmt:
		e.as("integer", s.Value, s.Target)
	case *ir.AssignIntStmt: // changes a number that nothing else holds
		e.as("integer", s.Value, s.Target)
	case *ir.MakeNumberRefStmt:
		e.as("number", s.Index, s.Target)
	case *ir.MakeArrayStmt:
		e.as("array", s.Target)
	case *ir.MakeObjectStmt:
		e.as("object", s.Target)
	case *ir.MakeSetStmt:
		e.as("set", s.Target)
	case *ir.ArrayAppendStmt:
		e.as("append", s.Value, s.Array)
	case *ir.ObjectInsertStmt:
		e.as("insert", s.Key, s.Value, s.Object)
	case *ir.ObjectInsertOnceStmt:
		e.as("insertOnce", s.Key, s.Value, s.Object, s.File, s.Row, s.Col)
	case *ir.ObjectMergeStmt:
		e.as("merge", s.A, s.B, s.Target)
	case *ir.SetAddStmt:
		e.as("add", s.Value, s.Set)
	default:
		e.unknown = true
		e.as("unknown")
	}
}
