package bench_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	kernelcatalog "benchd/kernels/catalog"
	"benchd/worker/bench"
)

func resolveReal(t *testing.T, body string) (bench.Spec, []bench.Case, error) {
	t.Helper()
	spec, present, err := bench.ParseSpec([]byte(body))
	if err != nil {
		return spec, nil, err
	}
	return bench.NewCatalog(kernelcatalog.Families()).Resolve(spec, present, bench.DefaultLimits(4), map[string]string{"axis": "http"})
}

func TestNarrowedSuite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		all        string // the same suite whole
		keep       func(bench.Case) bool
	}{
		{
			"one value", `{"suite":"soaprunner","params":{"model":"dom"}}`, `{"suite":"soaprunner"}`,
			func(c bench.Case) bool { return c.Params["model"] == "dom" },
		},
		{
			"kernels without the parameter stay", `{"suite":"quick","params":{"model":["dom"]}}`, `{"suite":"quick"}`,
			func(c bench.Case) bool { return c.Params["model"] == "dom" || c.Params["model"] == "" },
		},
		{
			"a value as the kernel writes it", `{"suite":"full","params":{"size":[10240,"large"],"clients":4}}`, `{"suite":"full"}`,
			func(c bench.Case) bool {
				size, clients := c.Params["size"], c.Params["clients"]
				return (size == "10KB" || size == "large") && (clients == "4" || clients == "")
			},
		},
		{
			"a service out of every", `{"suite":"soap-2004","params":{"server":"axis"}}`, `{"suite":"soap-2004"}`,
			func(c bench.Case) bool { return c.Params["server"] == "axis" },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, got, err := resolveReal(t, tt.body)
			_, all, errAll := resolveReal(t, tt.all)
			if err := errors.Join(err, errAll); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, c := range all {
				if tt.keep(c) {
					want = append(want, c.Key())
				}
			}
			var keys []string
			for _, c := range got {
				keys = append(keys, c.Key())
			}
			if fmt.Sprint(keys) != fmt.Sprint(want) || len(keys) == 0 || len(keys) == len(all) {
				t.Errorf("%d of %d cases:\n%s\nwant %d:\n%s", len(keys), len(all), strings.Join(keys, "\n"), len(want), strings.Join(want, "\n"))
			}
			if len(spec.Params) == 0 {
				t.Error("the request that is shown is not narrowed")
			}
		})
	}
}

func TestNarrowedToNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, pointer, code, text string }{
		{"a parameter of no case", `{"suite":"soaprunner","params":{"bogus":1}}`, "/params/bogus", "unknown_param", "model"},
		{"a value of no case", `{"suite":"soaprunner","params":{"model":["dom","xml"]}}`, "/params/model", "unknown_value", "stream"},
		{"a value that the kernel knows and the suite has not", `{"suite":"soaprunner","params":{"clients":7}}`, "/params/clients", "unknown_value", `"7"`},
		{"no suite", `{"cases":[{"kernel":"soap.echo"}],"params":{"model":"dom"}}`, "/params", "no_suite", "no suite"},
		{"no combination", `{"suite":"full","params":{"size":"small","clients":8,"content":"soap","model":"dom"}}`, "", "", ""},
		{"an empty list", `{"suite":"soaprunner","params":{"model":[]}}`, "/params/model", "empty_list", "no case"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, cases, err := resolveReal(t, tt.body)
			if tt.code == "" { // scimark has one of them, and stays
				if err != nil || len(cases) == 0 {
					t.Errorf("%d cases, %v", len(cases), err)
				}
				return
			}
			var bad *bench.Error
			if !errors.As(err, &bad) || len(bad.Fields) == 0 {
				t.Fatalf("error %v", err)
			}
			f := bad.Fields[0]
			if f.Pointer != tt.pointer || f.Code != tt.code || !strings.Contains(f.Message, tt.text) {
				t.Errorf("%+v", f)
			}
		})
	}
}
