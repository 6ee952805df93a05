package bench

import (
	"errors"
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

// NoCPUs is the Limits.CPUs of a host that cannot place processes.
const NoCPUs = "none"

// ParsePlacement reads a plan's pin for a host with the CPUs given, in which "one" means the
// last of them: interrupts tend to go to the first. The error is a sentence.
func ParsePlacement(pin string, awake bool, cpus string) (Placement, error) {
	p := Placement{Pin: pin, Awake: awake}
	if pin == PinFree {
		return p, nil
	}
	have, err := parseCPUs(cpus)
	if err != nil {
		return p, errors.New("this host cannot place processes on CPUs, which is done on Linux only; \"pin\" must be \"free\"")
	}
	if pin == PinOne {
		p.Client = have[len(have)-1:]
		p.Server = p.Client
		return p, nil
	}
	client, server, two := strings.Cut(pin, "/")
	if p.Client, err = parseCPUs(client); err != nil {
		return p, err
	}
	if p.Server = p.Client; two {
		if p.Server, err = parseCPUs(server); err != nil {
			return p, err
		}
	}
	for _, n := range slices.Concat(p.Client, p.Server) {
		if !slices.Contains(have, n) {
			return p, fmt.Errorf("names CPU %d; the host lets processes run on CPU %s", n, cpus)
		}
	}
	return p, nil
}

// FormatCPUs writes ascending numbers of CPUs as Linux does: "0-3,8". No CPUs at all are
// NoCPUs.
func FormatCPUs(cpus []int) string {
	if len(cpus) == 0 {
		return NoCPUs
	}
	var parts []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		part := strconv.Itoa(cpus[i])
		if last > i {
			part += "-" + strconv.Itoa(cpus[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
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

// canonical writes a pin in the one way in which CPUs are listed: "1,0" and "0-1" are one
// placement, and so are "0" and "0/0".
func (p Placement) canonical() string {
	if p.Client == nil || p.Pin == PinOne {
		return p.Pin
	}
	if slices.Equal(p.Client, p.Server) {
		return FormatCPUs(p.Client)
	}
	return FormatCPUs(p.Client) + "/" + FormatCPUs(p.Server)
}

// pin refuses what the host cannot do, as far as the host is known, and gives the plan's pin
// in canonical form.
func (r *resolver) pin(p Plan) string {
	cpus := r.limits.CPUs
	if p.Awake && cpus == NoCPUs {
		r.fail(node{ptr: "/plan/awake"}, "cannot_place", "this host cannot keep its CPUs awake, which is done on Linux only")
	}
	if cpus == "" {
		cpus = fmt.Sprintf("0-%d", maxCPU)
	}
	place, err := ParsePlacement(p.Pin, p.Awake, cpus)
	if err != nil {
		r.fail(node{ptr: "/plan/pin"}, "cannot_place", "%v", err)
		return p.Pin
	}
	return place.canonical()
}

func orList(words []string) string { return strings.Join(words, " or ") }
