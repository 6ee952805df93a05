package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Placement says on which CPUs the processes of a trial ran, and whether the CPUs were
// kept from halting. It moves a round trip over loopback several-fold, so that two figures
// of different placements are not compared.
type Placement struct {
	Pin    string `json:"pin" example:"free"`             // as asked
	Awake  bool   `json:"awake"`                          // a spinner of the lowest priority ran on each CPU
	Client []int  `json:"client" extensions:"x-nullable"` // CPUs of the measuring process; null when it was free
	Server []int  `json:"server" extensions:"x-nullable"` // CPUs of the server child; null when it was free
}

// maxCPU bounds a CPU's number: the kernel's own bound for a set of CPUs.
const maxCPU = 8191

// ParsePlacement reads a plan's pin on a host with the CPUs given, in which "one" means the
// last of them: interrupts tend to go to the first. The error is a sentence.
func ParsePlacement(pin string, awake bool, cpus []int) (Placement, error) {
	p := Placement{Pin: pin, Awake: awake}
	switch pin {
	case PinFree:
		return p, nil
	case PinOne:
		if len(cpus) == 0 {
			return p, fmt.Errorf("this host cannot place processes on CPUs")
		}
		p.Client = cpus[len(cpus)-1:]
		p.Server = p.Client
		return p, nil
	}
	client, server, two := strings.Cut(pin, "/")
	var err error
	if p.Client, err = parseCPUs(client); err != nil {
		return p, err
	}
	if p.Server = p.Client; two {
		if p.Server, err = parseCPUs(server); err != nil {
			return p, err
		}
	}
	return p, nil
}

// parseCPUs reads a list as Linux writes it: "0-1,3".
func parseCPUs(text string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(part, "-")
		if !ranged {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || from < 0 || to < from || to > maxCPU {
			return nil, fmt.Errorf("must be \"free\", \"one\", or the numbers of the client's CPUs and, after a slash, of the server's, such as \"0\", \"0/1\" or \"0-1/2,3\"; %q is no list of CPUs", clip(text))
		}
		for n := from; n <= to; n++ {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// checkPlacement refuses CPUs that the host does not have.
func (r *resolver) checkPlacement(p Plan) {
	cpus := r.limits.CPUs
	if p.Awake && cpus != nil && len(cpus) == 0 {
		r.fail(node{ptr: "/plan/awake"}, "cannot_place", "this host cannot keep its CPUs awake; it is done on Linux only")
	}
	if p.Pin == PinFree {
		return
	}
	at := node{ptr: "/plan/pin"}
	if cpus != nil && len(cpus) == 0 {
		r.fail(at, "cannot_place", "this host cannot place processes on CPUs, which is done on Linux only; \"pin\" must be \"free\"")
		return
	}
	if p.Pin == PinOne {
		return
	}
	place, err := ParsePlacement(p.Pin, p.Awake, cpus)
	if err != nil {
		r.fail(at, "bad_pin", "%v", err)
		return
	}
	for _, n := range slices.Concat(place.Client, place.Server) {
		if cpus != nil && !slices.Contains(cpus, n) {
			r.fail(at, "out_of_range", "names CPU %d; the host lets processes run on %s", n, listCPUs(cpus))
			return
		}
	}
}

// listCPUs names CPUs in a sentence.
func listCPUs(cpus []int) string {
	words := make([]string, len(cpus))
	for i, n := range cpus {
		words[i] = strconv.Itoa(n)
	}
	return "CPU " + strings.Join(words, ", ")
}

func orList(words []string) string { return strings.Join(words, " or ") }
