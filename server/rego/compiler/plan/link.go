// OPA compiles the IR that it plans itself, and nothing else: its compiler of IR to Wasm is internal. Ours has to go
// through steps of ours first (order.go), so that compiler is reached by its symbols. OPA's version is pinned, the build
// is reproducible, and all conformance cases run on what comes out.
package plan

import (
	"bytes"
	"io"
	"unsafe"

	"github.com/open-policy-agent/opa/v1/ir"
)

//go:linkname newCompiler github.com/open-policy-agent/opa/internal/compiler/wasm.New
func newCompiler() unsafe.Pointer

//go:linkname withPolicy github.com/open-policy-agent/opa/internal/compiler/wasm.(*Compiler).WithPolicy
func withPolicy(compiler unsafe.Pointer, policy *ir.Policy) unsafe.Pointer

//go:linkname compileModule github.com/open-policy-agent/opa/internal/compiler/wasm.(*Compiler).Compile
func compileModule(compiler unsafe.Pointer) (unsafe.Pointer, error)

//go:linkname writeModule github.com/open-policy-agent/opa/internal/wasm/encoding.WriteModule
func writeModule(w io.Writer, module unsafe.Pointer) error

// linked compiles a policy's IR to a Wasm module with OPA's runtime in it.
func linked(policy *ir.Policy) ([]byte, error) {
	module, err := compileModule(withPolicy(newCompiler(), policy))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := writeModule(&out, module); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
