package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"benchd/api/client"
	"benchd/kernels"
	"benchd/kernels/catalog"
	"benchd/worker/bench"
)

// serverFlag says which service the commands talk to.
type serverFlag struct {
	Server string `help:"URL of the service." default:"http://127.0.0.1:8080" env:"BENCHD_SERVER" placeholder:"URL"`
}

func (f serverFlag) client() *client.Client { return client.New(f.Server, nil) }

type submitCommand struct {
	serverFlag
	requestFlags
	Key  string `help:"Idempotency key: the same key and request give the same run." placeholder:"KEY"`
	Wait bool   `short:"w" help:"Wait for the end, print the table, and fail when the run does not succeed."`
}

// Run posts the request.
func (c submitCommand) Run(ctx context.Context, t terminal) error {
	body, err := c.build(t.in)
	if err != nil {
		return err
	}
	run, err := c.client().Submit(ctx, body, c.Key)
	if err != nil {
		return err
	}
	if !c.Wait {
		return writeJSON(t.out, run)
	}
	return follow(ctx, t, c.client(), run.ID, table)
}

// follow watches a run until its end and shows its result.
func follow(ctx context.Context, t terminal, api *client.Client, id string, show printer) error {
	watch := newProgress(t.err)
	run, err := api.Wait(ctx, id, showEvery, watch.run)
	watch.end()
	if err != nil {
		return err
	}
	result, err := api.Result(ctx, id)
	if err != nil {
		return err
	}
	err = show(t.out, result)
	if run.State != bench.Succeeded { // to be told though nobody reads the table to its end
		return exitError{exitFailed, fmt.Errorf("the run %s is %s", id, run.State)}
	}
	return err
}

type listCommand struct {
	serverFlag
	State  []string          `help:"Only runs in these states." placeholder:"STATE"`
	Host   string            `help:"Only runs on this host."`
	Kernel string            `help:"Only runs of this kernel."`
	Suite  string            `help:"Only runs of this suite."`
	Tag    map[string]string `short:"t" help:"Only runs with this label." placeholder:"NAME=VALUE" mapsep:"none"`
	Limit  int               `help:"Most runs shown." default:"20"`
}

// Run prints a line for each run.
func (c listCommand) Run(ctx context.Context, t terminal) error {
	states := make([]bench.State, len(c.State))
	for i, s := range c.State {
		states[i] = bench.State(s)
	}
	page, err := c.client().Runs(ctx, client.Filter{
		States: states, Host: c.Host, Kernel: c.Kernel, Suite: c.Suite, Labels: c.Tag, Limit: c.Limit,
	})
	if err != nil {
		return err
	}
	return lines(t.out, "id\tstate\tcreated\tdone\thosts\tasked", func(w io.Writer) {
		for _, r := range page.Runs {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d/%d\t%s\t%s\n", r.ID, r.State, r.Created.Local().Format(time.DateTime),
				r.Progress.Done, r.Progress.Total, strings.Join(r.Hosts, ","), asked(r.Spec))
		}
	})
}

// asked says what a request asks for, in few words.
func asked(s bench.Spec) string {
	var words []string
	if s.Suite != "" {
		words = append(words, s.Suite)
	}
	for _, c := range s.Cases {
		words = append(words, c.Kernel)
	}
	return strings.Join(words, ",")
}

// lines prints a table with a heading.
func lines(w io.Writer, heading string, rows func(io.Writer)) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, heading)
	rows(tw)
	return tw.Flush()
}

type getCommand struct {
	serverFlag
	ID   string `arg:"" help:"The run."`
	Wait bool   `short:"w" help:"Wait for the end, print the table, and fail when the run does not succeed."`
}

// Run prints the run.
func (c getCommand) Run(ctx context.Context, t terminal) error {
	if c.Wait {
		return follow(ctx, t, c.client(), c.ID, table)
	}
	run, err := c.client().Run(ctx, c.ID)
	if err != nil {
		return err
	}
	return writeJSON(t.out, run)
}

type resultsCommand struct {
	serverFlag
	ID     string `arg:"" help:"The run."`
	Table  bool   `help:"Print the table instead of JSON." xor:"form"`
	Format string `help:"Print it as another tool reads it: ${formats}." placeholder:"FORMAT" xor:"form"`
}

// Run prints the result.
func (c resultsCommand) Run(ctx context.Context, t terminal) error {
	if c.Format != "" {
		body, err := c.client().ResultBody(ctx, c.ID, c.Format)
		if err != nil {
			return err
		}
		_, err = t.out.Write(body)
		return err
	}
	result, err := c.client().Result(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.Table {
		return table(t.out, result)
	}
	return writeJSON(t.out, result)
}

type cancelCommand struct {
	serverFlag
	ID string `arg:"" help:"The run."`
}

// Run cancels the run and waits until its processes are gone.
func (c cancelCommand) Run(ctx context.Context, t terminal) error {
	if _, err := c.client().Cancel(ctx, c.ID); err != nil {
		return err
	}
	run, err := c.client().Wait(ctx, c.ID, 0, nil)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "the run %s is %s\n", run.ID, run.State)
	return err
}

type kernelsCommand struct {
	Markdown bool `help:"Print the table of the README."`
}

// Run prints the kernels of this binary.
func (c kernelsCommand) Run(t terminal) error {
	infos := bench.DescribeKernels(bench.NewCatalog(catalog.Families())).Kernels
	if c.Markdown {
		_, err := io.WriteString(t.out, kernelTable(infos))
		return err
	}
	return lines(t.out, "kernel\tunit\tone operation\tparameters", func(w io.Writer) {
		for _, k := range infos {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.Name, k.Unit, k.Operation, paramsText(k.Params))
		}
	})
}

// kernelTable is the kernels as a Markdown table.
func kernelTable(infos []bench.KernelInfo) string {
	var b strings.Builder
	b.WriteString("| kernel | what is measured | parameters (default first) | unit |\n| --- | --- | --- | --- |\n")
	for _, k := range infos {
		fmt.Fprintf(&b, "| `%s` | %s One operation: %s. | %s | %s |\n", k.Name, k.Title, k.Operation, paramsText(k.Params), k.Unit)
	}
	return b.String()
}

// paramsText writes the parameters with their default first.
func paramsText(params []bench.ParamInfo) string {
	list := make([]string, len(params))
	for i, p := range params {
		list[i] = p.Name + " " + valuesText(p)
	}
	return strings.Join(list, "; ")
}

// where tells of a service with which values of another parameter it can be the kernel's own.
func where(p bench.ParamInfo) string {
	var inside []string
	for _, v := range slices.Sorted(maps.Keys(p.Servers)) {
		if p.Servers[v].Embedded {
			inside = append(inside, v)
		}
	}
	if p.Of == "" {
		return ""
	}
	return fmt.Sprintf(" (where %s is %s)", p.Of, strings.Join(inside, ", "))
}

// valuesText writes a parameter's values with the default first.
func valuesText(p bench.ParamInfo) string {
	switch {
	case len(p.Values) > 0:
		list := []string{p.Default}
		for _, v := range p.Values {
			if v != p.Default {
				list = append(list, v)
			}
		}
		return strings.Join(list, ", ")
	case p.Kind == string(kernels.Service):
		return p.Default + where(p) + ", or a named service"
	case p.Min != nil && p.Max != nil && p.Kind == string(kernels.Size):
		return fmt.Sprintf("%s (%s to %s)", p.Default, kernels.FormatSize(*p.Min), kernels.FormatSize(*p.Max))
	case p.Min != nil && p.Max != nil:
		return fmt.Sprintf("%s (%d to %d)", p.Default, *p.Min, *p.Max)
	case p.Default == "true":
		return "true, false"
	default:
		return "false, true"
	}
}

func labelText(labels map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, name+"="+labels[name])
	}
	return strings.Join(list, ",")
}

type hostsCommand struct{ serverFlag }

// Run prints a line for each host.
func (c hostsCommand) Run(ctx context.Context, t terminal) error {
	hosts, err := c.client().Hosts(ctx)
	if err != nil {
		return err
	}
	return lines(t.out, "host\tlive\tlast seen\tCPUs\tlabels\tservices\tmeasures", func(w io.Writer) {
		for _, h := range hosts {
			busy := ""
			if h.Running != nil {
				busy = h.Running.Run
			}
			_, _ = fmt.Fprintf(w, "%s\t%v\t%s\t%d\t%s\t%s\t%s\n", h.Name, h.Live, h.LastSeen.Local().Format(time.DateTime), h.Snapshot.Facts.Threads, labelText(h.Labels), labelText(h.Services), busy)
		}
	})
}
