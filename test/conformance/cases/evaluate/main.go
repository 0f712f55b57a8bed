// Evaluates policies with OPA's own evaluator, as `opa eval` does. A line of JSON in, {"source", "inputs"}; a line out
// for each, a list of what data.t.obligations is for each input: {"value"}, {"error"}, or {} when it is undefined.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"
)

type request struct {
	Source string `json:"source"`
	Inputs []any  `json:"inputs"`
}

type result struct {
	Value *any   `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
	// OPA has no bound of its own: some random policies take it minutes and gigabytes.
	GaveUp bool `json:"gaveUp,omitempty"`
}

const evalTimeout = 2 * time.Second

// now is NOW of test/rego/policies.ts.
var now = time.Unix(0, 1_700_000_000_123_456_789)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		if err := answer(out, line); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func answer(out *bufio.Writer, line []byte) error {
	var q request
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&q); err != nil {
		return err
	}
	prepared, err := rego.New(rego.Query("data.t.obligations"), rego.Module("policy.rego", q.Source)).PrepareForEval(context.Background())
	if err != nil {
		return err
	}
	results := make([]result, len(q.Inputs))
	for i, input := range q.Inputs {
		ctx, cancel := context.WithTimeout(context.Background(), evalTimeout)
		set, err := prepared.Eval(ctx, rego.EvalInput(input), rego.EvalTime(now))
		late := ctx.Err() != nil
		cancel()
		switch {
		case late:
			results[i].GaveUp = true
		case err != nil:
			results[i].Error = err.Error()
		case len(set) > 0:
			results[i].Value = &set[0].Expressions[0].Value
		}
	}
	if err := json.NewEncoder(out).Encode(results); err != nil {
		return err
	}
	return out.Flush()
}
