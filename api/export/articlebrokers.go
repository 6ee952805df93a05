package export

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"benchd/worker/bench"
)

// floorBroker is the broker that is none: a bare connection.
const floorBroker = "tcp"

// writeJMS writes what the charts of "CXF Performance on Sun Solaris Platform" show for
// scenario B: throughput and CPU load for each size of messages and each way to keep them.
func writeJMS(p *page) {
	p.hosts(func(trials []bench.TrialResult) {
		var rows [][]string
		for _, t := range trials {
			server, host := p.loads(t)
			rows = append(rows, []string{
				sizeWord(t.Params.Word("size")), keeping(t), t.Params.Word("broker"), t.Params.Word("server"), t.Params.Word("clients"),
				strconv.FormatInt(messages(t), 10), p.figure(t, t.Score), p.ofFloor(t), server, host,
			})
		}
		p.rows([]string{"messages", "kept", "broker", "server", ">clients", ">count", ">messages per second", ">of floor", ">cores of the server", ">load of the host"}, rows)
	})
	p.note("The cores of the server are those of the process with the broker and the service that answers; of a configured broker they are the service's alone.")
	p.lacking("persistent", "true", "keeps messages")
	p.lackingBrokers()
}

// keeping says how a broker kept the messages, in the article's words.
func keeping(t bench.TrialResult) string {
	persistent, sync := t.Params.Bool("persistent"), t.Params.Bool("sync")
	switch {
	case t.Params.Word("broker") == floorBroker:
		return "no broker"
	case persistent && sync:
		return "persistent"
	case persistent:
		return "persistent, sync off"
	case sync:
		return "non-persistent, sync on"
	default:
		return "non-persistent"
	}
}

// writeBrokers writes one table of all brokers, fastest first.
func writeBrokers(p *page) {
	p.hosts(func(trials []bench.TrialResult) {
		slices.SortStableFunc(trials, func(a, b bench.TrialResult) int { return cmp.Compare(speed(b), speed(a)) })
		var rows [][]string
		for _, t := range trials {
			row := []string{
				t.Params.Word("broker"), t.Params.Word("server"), kept(t), t.Params.Word("clients"),
				p.figure(t, t.Score), p.ofFloor(t), "", "", told(t),
			}
			if t.Latency != nil && t.State == bench.Succeeded {
				row[6], row[7] = micros(t.Latency.Percentiles["50"]), micros(t.Latency.Percentiles["99"])
			}
			rows = append(rows, row)
		}
		p.rows([]string{"broker", "server", "kept", ">clients", ">messages per second", ">of floor", ">p50 us", ">p99 us", "what it is"}, rows)
	})
	p.lackingBrokers()
}

// kept says whether the broker kept the messages, and at which quality of service.
func kept(t bench.TrialResult) string {
	word := "no"
	if t.Params.Bool("persistent") {
		word = "yes"
	}
	if q := t.Params.Word("qos"); q != "" && q != "0" {
		word += ", qos " + q
	}
	return word
}

// told is what the other side said that it is: a stand-in for a broker says so.
func told(t bench.TrialResult) string {
	if t.Params.Word("broker") == floorBroker {
		return "none: the floor"
	}
	return cmp.Or(t.Settings["broker"], t.Settings["protocol"])
}

// ofFloor is the cell of a score as a part of its floor. The floor has none.
func (p *page) ofFloor(t bench.TrialResult) string {
	if t.OfFloor == nil {
		return ""
	}
	return p.optional(t, t.OfFloor.Value, cmp.Or(t.OfFloor.Reason, "the floor is not known"), func(f float64) string {
		return fmt.Sprintf("%.3g %%", 100*f)
	})
}

// lackingBrokers notes which of the suite's brokers nobody spoke to.
func (p *page) lackingBrokers() {
	for _, cs := range p.suite.Cases {
		for _, name := range cs.Params["broker"] {
			p.lacking("broker", name, "is the broker "+name)
		}
	}
}

// lacking notes that no trial has a value of a parameter.
func (p *page) lacking(param, value, what string) {
	if len(p.trials) > 0 && !slices.ContainsFunc(p.trials, func(t bench.TrialResult) bool { return t.Params.Word(param) == value }) {
		p.note("No server of the run %s; a worker is told of one by --service.", what)
	}
}
