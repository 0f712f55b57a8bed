// Package main is Accord's Rego compiler: OPA's public API behind two functions exported to Wasm. One JSON request in,
// one JSON response out, nothing else: no files, no network, no state that outlives the instance.
package main

import (
	"encoding/json"
	"fmt"
	"unsafe"
)

// request is what the host (compile-worker.ts) sends.
type request struct {
	Op       string   `json:"op"` // compile | check | needs | format | builtins
	Source   string   `json:"source"`
	Own      []source `json:"own"`      // check, needs: the modules that are asked about
	Modules  []source `json:"modules"`  // compile, check: those of the libraries that are used
	Data     []string `json:"data"`     // compile, check: paths of documents, as a/b
	Builtins []string `json:"builtins"` // builtins that the host supplies, beside those native to OPA's Wasm target
	Explain  bool     `json:"explain"`
	Plan     bool     `json:"plan"`     // whether the answer carries the plan beside the Wasm
	Trace    bool     `json:"trace"`    // whether the plan says where its statements stand, and the answer where the rules do
	MaxDepth int      `json:"maxDepth"` // of the parser's recursion; a level of nesting costs about eight
}

// source is a module. Its name is its file in errors; tenantFile is a policy's own.
type source struct {
	Name    string `json:"name"`
	Package string `json:"package"` // of its library; empty for a policy
	Source  string `json:"source"`
}

// response carries the fields of one of the operations, or errors.
type response struct {
	OK       bool       `json:"ok"`
	Errors   []regoErr  `json:"errors,omitempty"`
	Package  string     `json:"package,omitempty"`
	Syntax   string     `json:"syntax,omitempty"`
	Reads    *reads     `json:"reads,omitempty"`
	Builtins []string   `json:"builtins,omitempty"`
	Source   string     `json:"source,omitempty"`
	Plan     string     `json:"plan,omitempty"` // text of plan/encode.go; absent when it has what is never run in JavaScript
	Outline  []outlined `json:"outline,omitempty"`
	// Of the modules of libraries, by file.
	Outlines map[string][]outlined `json:"outlines,omitempty"`
	Known    []declared            `json:"known,omitempty"`
	Modules  []needed              `json:"modules,omitempty"`
	wasm     []byte
}

// The host reads the answers through these until its next call; the instance is thrown away after one request.
var (
	input  []byte
	answer []byte
	linked []byte
)

// alloc returns where the host writes n bytes of request.
//
//go:wasmexport alloc
func alloc(n uint32) uint32 {
	input = make([]byte, n+1)
	return address(input)
}

// handle answers the request written to alloc's buffer, as pointer<<32 | length of JSON.
//
//go:wasmexport handle
func handle() uint64 {
	var q request
	r := &response{}
	if err := json.Unmarshal(input[:len(input)-1], &q); err != nil {
		r.Errors = []regoErr{{Code: "bad_request", Message: err.Error()}}
	} else {
		r = guarded(&q)
	}
	linked = r.wasm
	answer, _ = json.Marshal(r)
	return span(answer)
}

// module returns the policy's Wasm of the last handle, as pointer<<32 | length (0 when there is none).
//
//go:wasmexport module
func module() uint64 {
	if len(linked) == 0 {
		return 0
	}
	return span(linked)
}

// guarded turns a panic of OPA into an error; the instance is not used again.
func guarded(q *request) (r *response) {
	defer func() {
		if p := recover(); p != nil {
			r = &response{Errors: []regoErr{{Code: "internal_error", Message: fmt.Sprint("the compiler failed: ", p), Row: 1, Col: 1}}}
		}
	}()
	return serve(q)
}

func serve(q *request) *response {
	switch q.Op {
	case "compile":
		return compile(q)
	case "check":
		return check(q)
	case "needs":
		return needs(q)
	case "format":
		return formatSource(q)
	case "builtins":
		return &response{OK: true, Known: known()}
	}
	return &response{Errors: []regoErr{{Code: "bad_request", Message: "unknown op " + q.Op}}}
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(&b[0]))) }

func span(b []byte) uint64 { return uint64(address(b))<<32 | uint64(len(b)) }

func main() {}
