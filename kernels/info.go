package kernels

// Info describes a kernel. The API's list, the request check, the OpenAPI text and the
// README table are all made from it.
type Info struct {
	// Name is "family.kernel".
	Name string
	// Title says in one sentence what is measured.
	Title string
	// Operation says what one operation is: "one forward and inverse transform".
	Operation string
	// Unit is the unit of the score per second: "Mflop/s", "call/s", "message/s". With
	// "Mflop/s" the trial must be a Counter of flops; otherwise one operation counts as one.
	Unit string
	// Noun names one operation in metrics: "cycle", "call", "message".
	Noun string
	// Batched tells that one operation is too short for a clock reading of its own: it is
	// timed in batches and has no latency histogram.
	Batched bool
	// Lanes names the parameter that says how many lanes run, "clients" or "threads"; empty
	// means one lane.
	Lanes string
	// Rate names the parameter that says how many operations begin in a second, over all lanes
	// and as scheduled beforehand; its value 0 means one after another, as fast as they go. The
	// harness keeps the schedule. Empty means that the kernel cannot be paced.
	Rate string
	// Composite names the composite figure this kernel is a member of, or is empty.
	Composite string
	// Floor are the parameters that make any case of the kernel its floor: the same bytes, sent
	// and answered with nothing of what is measured between them. The other parameters stay as
	// they are. Beside every case its floor is measured too. Empty means that there is none.
	Floor Params
	// Attends tells that the Server has work beside a named service too, such as the echo
	// service on a broker that stands elsewhere. Serve is then run with the service's address in
	// the parameter Addr, and its clients get the address that it calls ready with. Without it
	// clients get the service's address, and there is no server of ours.
	Attends bool
	// Blocks is up to how many lanes both sides can wait for each other in blocking system
	// calls, as connections of kernels/direct do, each keeping a processor of Go's. Where there
	// are not too many of them for the CPUs the harness runs each side in a process that has as
	// many processors (GOMAXPROCS), and two more. They do so only if they find them.
	Blocks int
	// Switches are those of servers outside that make them write at once; they are told with
	// a latency that looks as if a server did not.
	Switches []Switch
	// Params lists the parameters in the order in which a matrix varies them, the last
	// fastest.
	Params []Param
}

// Kind is the kind of a parameter's values.
type Kind string

// The kinds. A size is written as a person writes it, "10KB", with 1 KB = 1,024 bytes.
const (
	Word Kind = "word" // one of Values
	Int  Kind = "int"  // Min to Max
	Size Kind = "size" // Min to Max bytes, or one of Values
	Bool Kind = "bool"

	// Service is the name of a server in the configuration of the worker, or Embedded for the
	// kernel's own Server.
	Service Kind = "service"
)

// Embedded is the value of a Service that means the kernel's own Server.
const Embedded = "embedded"

// A Param is one parameter of a kernel.
type Param struct {
	Name    string
	Doc     string // one sentence
	Kind    Kind
	Default string
	// Values are all the allowed values in canonical form, where they can be listed.
	Values []string
	// Schemes are, of a Service, those of the addresses that the kernel can use: "http", "amqp".
	Schemes []string
	// Of names, of a Service, the parameter on whose value it depends which servers there are:
	// a broker has addresses of its own schemes, and not every broker runs inside the Server.
	// Servers tells them by that value, and Schemes are those of all of them. Without Of the
	// servers are Embedded, and whatever is at an address of one of Schemes.
	Of      string
	Servers map[string]Servers
	// Min and Max bound an Int, or a Size in bytes, when Values is empty.
	Min, Max int64
}

// Servers tells which servers a Service can be.
type Servers struct {
	Embedded bool     // the kernel's own Server
	Schemes  []string // those of the addresses of named services; none means that there are no such
}

// ServersFor tells which servers a Service can be beside the other parameters of its case.
func (p Param) ServersFor(all Params) Servers {
	if p.Of == "" {
		return Servers{Embedded: true, Schemes: p.Schemes}
	}
	return p.Servers[all[p.Of]]
}

// Listed are all the allowed values, where they can be listed.
func (p Param) Listed() []string {
	if p.Kind == Bool {
		return []string{"false", "true"}
	}
	return p.Values
}

// Param returns the parameter with the given name.
func (i Info) Param(name string) (Param, bool) {
	for _, p := range i.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// Defaults returns every parameter at its default value.
func (i Info) Defaults() Params {
	p := make(Params, len(i.Params))
	for _, d := range i.Params {
		p[d.Name] = d.Default
	}
	return p
}
