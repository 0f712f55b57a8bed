// The builtins a tenant's policy may call: those that OPA's Wasm target implements itself and those that the host
// supplies. The rest is absent from the capabilities, so that calling it is a compile error with a position.
package main

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// native lists what OPA's Wasm target links in. OPA keeps its own list in an internal package; a test compiles a call
// of every builtin and compares this list with what the linked module imports.
var native = nameSet(
	ast.Plus.Name, ast.Minus.Name, ast.Multiply.Name, ast.Divide.Name, ast.Abs.Name, ast.Round.Name, ast.Ceil.Name,
	ast.Floor.Name, ast.Rem.Name, ast.ArrayConcat.Name, ast.ArrayFlatten.Name, ast.ArrayReverse.Name,
	ast.ArraySlice.Name, ast.SetDiff.Name, ast.And.Name, ast.Or.Name, ast.Intersection.Name, ast.Union.Name,
	ast.IsNumber.Name, ast.IsString.Name, ast.IsBoolean.Name, ast.IsArray.Name, ast.IsSet.Name, ast.IsObject.Name,
	ast.IsNull.Name, ast.TypeNameBuiltin.Name, ast.BitsOr.Name, ast.BitsAnd.Name, ast.BitsNegate.Name,
	ast.BitsXOr.Name, ast.BitsShiftLeft.Name, ast.BitsShiftRight.Name, ast.Count.Name, ast.Sum.Name,
	ast.Product.Name, ast.Max.Name, ast.Min.Name, ast.Sort.Name, ast.All.Name, ast.Any.Name,
	ast.Base64IsValid.Name, ast.Base64Decode.Name, ast.Base64Encode.Name, ast.Base64UrlEncode.Name,
	ast.Base64UrlDecode.Name, ast.NetCIDRContains.Name, ast.NetCIDROverlap.Name, ast.NetCIDRIntersects.Name,
	ast.Equal.Name, ast.GreaterThan.Name, ast.GreaterThanEq.Name, ast.LessThan.Name, ast.LessThanEq.Name,
	ast.NotEqual.Name, ast.GlobMatch.Name, ast.JSONMarshal.Name, ast.JSONUnmarshal.Name, ast.JSONIsValid.Name,
	ast.ObjectFilter.Name, ast.ObjectGet.Name, ast.ObjectKeys.Name, ast.ObjectRemove.Name, ast.ObjectUnion.Name,
	ast.ObjectUnionN.Name, ast.Concat.Name, ast.FormatInt.Name, ast.IndexOf.Name, ast.Substring.Name,
	ast.Lower.Name, ast.Upper.Name, ast.Contains.Name, ast.StartsWith.Name, ast.EndsWith.Name,
	ast.StringReverse.Name, ast.Split.Name, ast.Replace.Name, ast.ReplaceN.Name, ast.Trim.Name, ast.TrimLeft.Name,
	ast.TrimPrefix.Name, ast.TrimRight.Name, ast.TrimSuffix.Name, ast.TrimSpace.Name,
	ast.InternalTemplateString.Name, ast.NumbersRange.Name, ast.ToNumber.Name, ast.WalkBuiltin.Name,
	ast.ReachableBuiltin.Name, ast.RegexIsValid.Name, ast.RegexMatch.Name, ast.RegexMatchDeprecated.Name,
	ast.RegexFindAllStringSubmatch.Name, ast.JSONRemove.Name, ast.JSONFilter.Name, ast.Member.Name,
	ast.MemberWithKey.Name, ast.Equality.Name, ast.Assign.Name,
)

// compiledAway are replaced by literals or erased before linking.
var compiledAway = nameSet(ast.RegoMetadataChain.Name, ast.RegoMetadataRule.Name, ast.Print.Name)

// forbidden reach the network, the host, other modules or randomness, or sign with keys that a policy would have to hold.
// They stay out whatever the host allows.
var forbidden = nameSet(
	"http.send", "net.lookup_ip_addr", "opa.runtime", "rego.parse_module", "providers.aws.sign_req", "rand.intn",
	"uuid.rfc4122", "io.jwt.encode_sign", "io.jwt.encode_sign_raw",
)

// declared describes a builtin to the host's tests.
type declared struct {
	Name   string `json:"name"`
	Arity  int    `json:"arity"`
	Native bool   `json:"native"`
}

func nameSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// isNative says whether the linked module runs the builtin without asking the host.
func isNative(name string) bool {
	return native[name] || compiledAway[name]
}

// capabilities are OPA's own without the builtins that this policy may not call.
func capabilities(supplied []string) *ast.Capabilities {
	allowed := nameSet(supplied...)
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return forbidden[b.Name] || !(isNative(b.Name) || allowed[b.Name])
	})
	c.AllowNet = []string{}
	return c
}

// known lists all builtins of this OPA.
func known() []declared {
	var out []declared
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		out = append(out, declared{Name: b.Name, Arity: len(b.Decl.FuncArgs().Args), Native: isNative(b.Name)})
	}
	return out
}
