package references_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/api/references"
	"benchd/kernels"
	"benchd/worker/bench"
)

func load(t testing.TB) *references.Set {
	t.Helper()
	s, err := references.Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTables(t *testing.T) {
	t.Parallel()
	want := []string{
		"java-on-many-machines/scimark-small 127 0 true",
		"java-on-many-machines/scimark-large 25 0 true",
		"java-on-many-machines/soap-axis 61 2 true",
		"java-on-many-machines/soap-gsoap-axis 8 0 false",
		"java-on-many-machines/soap-gsoap 24 0 true",
		"soaprunner/engines 7 0 false",
		"cxf-on-sparc/cxf 3 0 false",
		"erlang-jvm/echo 8 0 true",
		"erlang-jvm/mailbox 2 0 true",
		"page-small-heap/page 3 0 true",
		"page-small-heap/page-summary 12 0 false",
		"page-small-heap/page-times 40 0 false",
		"page-small-heap/page-percentiles 18 0 true",
	}
	s := load(t)
	var got []string
	rows := 0
	for _, tab := range s.Tables() {
		got = append(got, fmt.Sprintf("%s/%s %d %d %t", tab.Source, tab.Name, tab.Count, tab.Failed, tab.Comparable))
		rows += tab.Count + tab.Failed
		if tab.Title == "" || !strings.HasSuffix(tab.Compares, ".") || strings.HasPrefix(tab.Compares, "Nothing") == tab.Comparable {
			t.Errorf("%s: title %q, compares %q", tab.Name, tab.Title, tab.Compares)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(s.All()); n != rows || n != 340 {
		t.Errorf("%d figures, the tables tell %d, want 340", n, rows)
	}
}

// The values of this table were read by hand from the articles.
func TestSpotValues(t *testing.T) {
	t.Parallel()
	s := load(t)
	for _, tt := range []struct {
		table string
		row   int // from 0; negative from the end
		want  string
	}{
		{"scimark-small", 0, "2617.8 Mflop/s · Linux 4.15.0 64-bit · Oracle 1.8.0_161 64-bit ·  · 1x Intel Core i7-7700 @3.6GHz · 3600 · 15"},
		{"scimark-small", 57, "523 Mflop/s · Linux 2.6.18 64-bit · gcj 4.0.2 ·  · 2x Intel Dual-Core Xeon 5160 3GHz · 3000 · 129"},
		{"scimark-small", 88, "340.07 Mflop/s · Linux 2.4.23 · BEA Systems, Inc. 1.4.1_01 ·  · Xeon P4 3.06GHz HT · 3060 · 191"},
		{"scimark-small", 124, "67.87 Mflop/s · MacOSX 0.3.2 · Apple Computer, Inc. 1.4.2_03 ·  · 1 GHz PowerPC G4 · 1000 · 263"},
		{"scimark-small", -1, "43 Mflop/s · Irix 6.5 · SGI JavaVM-1.3 ·  · MIPS R12000 400MHz · 400 · 267"},
		{"scimark-large", 0, "311.68 Mflop/s · Linux 2.6.5 64-bit · Blackdown 1.4.2-rc1 64-bit -server ·  · AMD 64 FX-53 2.4GHz · 2400 · 271"},
		{"scimark-large", 1, "282.17 Mflop/s · WinXP · SUN 1.5.0-rc -server ·  · Pentium4 3GHz (w/o HT) 800FSB DualCh. memory · 3000 · 273"},
		{"scimark-large", 8, "188.64 Mflop/s · Linux 2.4.23 · BEA JRockit80 1.4.1_01 ·  · Xeon P4 3.06GHz HT · 3060 · 287"},
		{"scimark-large", 16, "171.23 Mflop/s · Linux 2.4.23 · IBM 1.4.1 ·  · Pentium4 2.5GHz · 2500 · 303"},
		{"scimark-large", -1, "51.5 Mflop/s · Linux 2.4.19 · Sun. 1.4.2_03 64-bit -server ·  · Itanium2 1GHz · 1000 · 319"},
		{"soap-axis", 0, "387 call/s after 120000 · Linux 2.6.5 64-bit · BEA JRockit 1.4.2_04 32-bit ·  · 1x AMD 64 FX-53 2.4GHz · 2400 · 332"},
		{"soap-axis", 6, "195 call/s after 6800 · Linux 2.4.21 64-bit · SUN 1.5.0-b 32-bit -server -XX:CompileThreshold=1500 ·  · 2x AMD Opteron 244 1.8GHz · 1800 · 344"},
		{"soap-axis", 20, "failed: NullPointerException in SAXParserImpl · Linux 2.6.5 64-bit · SUN 1.5.0-rc-b63 for AMD64 ·  · 1x AMD Opteron 148 2.2GHz · 2200 · 372"},
		{"soap-axis", 21, "failed: NullPointerException in SAXParserImpl · Linux 2.6.5 64-bit · SUN 1.5.0-rc-b63 for IA32 ·  · 1x AMD Opteron 148 2.2GHz · 2200 · 373"},
		{"soap-axis", 39, "163 call/s after 400 · Linux 2.4.23 · BEA JRockit 8.1sp2-1.4.1_05 ·  · 1x Pentium4 2.5GHz · 2500 · 408"},
		{"soap-axis", -1, "13 call/s after 400 · IRIX64 6.5 · SGI 1.4.1 -classic ·  · 20x MIPS R14000 500 Mhz · 500 · 454"},
		{"soap-gsoap-axis", 0, "1540 call/s · Linux 2.4.23 · gSOAP 2.5, gcc 2.95.4 -O2 · gSOAP 2.5, gcc 2.95.4 -O2 · 1x Pentium4 2.5GHz · 2500 · 473"},
		{"soap-gsoap-axis", 1, "375 call/s · Linux 2.4.23 · Axis, IBM 1.4.1SR1 · gSOAP 2.5, gcc 2.95.4 · 1x Pentium4 2.5GHz · 2500 · 475"},
		{"soap-gsoap-axis", 3, "360 call/s · Linux 2.4.23 · gSOAP 2.5, gcc 2.95.4 · Axis, IBM 1.4.1SR1 · 1x Pentium4 2.5GHz · 2500 · 479"},
		{"soap-gsoap-axis", 5, "310 call/s · Linux 2.4.23 · Axis, SUN 1.5.0-b -client · gSOAP 2.5, gcc 2.95.4 · 1x Pentium4 2.5GHz · 2500 · 483"},
		{"soap-gsoap-axis", -1, "187 call/s · Linux 2.4.23 · Axis, IBM 1.4.1SR1 · Axis, IBM 1.4.1SR1 · 1x Pentium4 2.5GHz · 2500 · 487"},
		{"soap-gsoap", 0, "3300 call/s · Linux 2.6.16 64-bit · gSOAP 2.5, gcc 4.0.2 -O2 64-bit ·  · 1x Dual Core AMD Opteron 280 2.4GHz · 2400 · 494"},
		{"soap-gsoap", 12, "1936 call/s · Linux 2.6.5 · gSOAP 2.5, gcc 3.4.0 -O3 ·  · 1x Pentium4 3GHz (w/o HT) · 3000 · 518"},
		{"soap-gsoap", 17, "1530 call/s · Linux 2.4.23 · gSOAP 2.5, gcc 3.3.1 ·  · 2x Xeon P4 3.06GHz HT · 3060 · 528"},
		{"soap-gsoap", 21, "1430 call/s · Linux 2.4.23 · gSOAP 2.5, gcc 2.95.4 ·  · 1x Pentium4 2.5GHz · 2500 · 536"},
		{"soap-gsoap", -1, "530 call/s · SunOS 5.8 · gSOAP 2.5, gcc 2.8.1 -O2 ·  · 2x UltraSPARC-III 750MHz · 750 · 540"},
		{"engines", 0, "19.3 message/s ·  · Apache SOAP (xml-soap), JRun 3.1 ·  · 2x 800 MHz · 800 · 10"},
		{"engines", 1, "51813 us ·  · Apache SOAP (xml-soap), JRun 3.1 ·  · 2x 800 MHz · 800 · 11"},
		{"engines", 2, "160.4 message/s ·  · Axis (xml-axis), JRun 3.1 ·  · 2x 800 MHz · 800 · 13"},
		{"engines", 5, "85 message/s · Windows 98 · Axis (xml-axis), JRun 3.1 ·  · 1x Pentium III 766 MHz · 766 · 89"},
		{"engines", -1, "49 message/s · Windows 2000 · Apache SOAP, Tomcat ·  · 1x 9xx MHz · ? · 42"},
		{"cxf", 0, "10000 message/s · Solaris 11 · CXF 2.6.0, Java 1.6.0_26 ·  · 2x SPARC T4 8-core 2.85 GHz · 2850 · 112"},
		{"cxf", 1, "25 % · Solaris 11 · CXF 2.6.0, Java 1.6.0_26 ·  · 2x SPARC T4 8-core 2.85 GHz · 2850 · 114"},
		{"cxf", -1, "30 % · Solaris 11 · CXF 2.6.0, Java 1.6.0_26 ·  · 2x SPARC T4 8-core 2.85 GHz · 2850 · 114"},
		{"echo", 0, "11679.266±414.09 message/s · Linux · encon, JDK 1.8.0_181 ·  · 2x Intel Xeon E5-2697A v4 @ 2.60GHz · 2600 · 59"},
		{"echo", 3, "18217.878±861.27 message/s · Linux · jinterface, JDK 1.8.0_181 ·  · 2x Intel Xeon E5-2697A v4 @ 2.60GHz · 2600 · 62"},
		{"echo", 4, "36001.87±2033.472 message/s · Linux · encon, JDK 1.8.0_181 ·  · 2x Intel Xeon E5-2697A v4 @ 2.60GHz · 2600 · 63"},
		{"echo", 6, "44742.858±1865.853 message/s · Linux · encon, JDK 1.8.0_181 ·  · 2x Intel Xeon E5-2697A v4 @ 2.60GHz · 2600 · 65"},
		{"echo", -1, "23495.184±671.766 message/s · Linux · jinterface, JDK 1.8.0_181 ·  · 2x Intel Xeon E5-2697A v4 @ 2.60GHz · 2600 · 66"},
		{"mailbox", 0, "4.080746356e+06±79809.419 message/s · Linux · encon, JDK 1.8.0_181 ·  · 2x Intel Xeon E5-2697A v4 @ 2.60GHz · 2600 · 73"},
		{"mailbox", -1, "4.88538049e+06±61920.971 message/s · Linux · jinterface, JDK 1.8.0_181 ·  · 2x Intel Xeon E5-2697A v4 @ 2.60GHz · 2600 · 74"},
		{"page", 0, "433.16 request/s ·  · Resin 3.0.12 ·  ·  · ? · 39"},
		{"page", 1, "1553 request/s ·  · Resin 3.0.12 ·  ·  · ? · 103"},
		{"page", -1, "2537.63 request/s ·  · Resin 3.0.12 ·  ·  · ? · 80"},
		{"page-summary", 0, "23.85976 s ·  · Resin 3.0.12 ·  ·  · ? · 33"},
		{"page-summary", -1, "32002.28 KB/s ·  · Resin 3.0.12 ·  ·  · ? · 83"},
		{"page-times", 7, "32.3 ms ·  · Resin 3.0.12 ·  ·  · ? · 47"},
		{"page-times", -1, "82 ms ·  · Resin 3.0.12 ·  ·  · ? · 90"},
		{"page-percentiles", 2, "64 ms ·  · Resin 3.0.12 ·  ·  · ? · 54"},
		{"page-percentiles", -1, "82 ms ·  · Resin 3.0.12 ·  ·  · ? · 101"},
	} {
		t.Run(fmt.Sprintf("%s %d", tt.table, tt.row), func(t *testing.T) {
			t.Parallel()
			refs := s.List(references.Query{Table: tt.table}).References
			i := tt.row
			if i < 0 {
				i += len(refs)
			}
			if got := line(refs[i]); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// line writes all of a figure's data in one line.
func line(r bench.Reference) string {
	figure := r.Reason
	if r.Value != nil {
		figure = fmt.Sprint(*r.Value)
		if r.Error != nil {
			figure += "±" + fmt.Sprint(*r.Error)
		}
		figure += " " + r.Unit
	}
	if r.StableCycles != nil {
		figure += fmt.Sprintf(" after %d", *r.StableCycles)
	}
	mhz := "?"
	if r.MHz != nil {
		mhz = fmt.Sprint(*r.MHz)
	}
	return strings.Join([]string{figure, r.System, r.Runtime, r.Server, r.CPU, mhz, fmt.Sprint(r.Line)}, " · ")
}

func TestEveryFigureIsWhole(t *testing.T) {
	t.Parallel()
	for _, r := range load(t).All() {
		name := fmt.Sprintf("%s line %d", r.Source, r.Line)
		if r.Kernel == "" || r.Metric == "" || r.Unit == "" || r.Params == nil || r.Line < 1 || r.Runtime == "" {
			t.Errorf("%s lacks something: %+v", name, r)
		}
		if r.Better != "higher" && r.Better != "lower" {
			t.Errorf("%s: better is %q", name, r.Better)
		}
		if (r.Value == nil) != (r.Reason != "") {
			t.Errorf("%s: value %v with reason %q", name, r.Value, r.Reason)
		}
		if (r.StableCycles != nil) != (r.Table == "soap-axis" && r.Value != nil) {
			t.Errorf("%s: stable cycles %v", name, r.StableCycles)
		}
		for p, v := range r.Params {
			if n, err := kernels.ParseSize(v); err == nil && strings.HasSuffix(v, "B") && kernels.FormatSize(n) != v {
				t.Errorf("%s: %s=%s is canonically %s", name, p, v, kernels.FormatSize(n))
			}
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := load(t)
	for _, tt := range []struct {
		name   string
		query  references.Query
		count  int
		tables string
	}{
		{"everything", references.Query{}, 340, "scimark-small scimark-large soap-axis soap-gsoap-axis soap-gsoap engines cxf echo mailbox page page-summary page-times page-percentiles"},
		{"a composite", references.Query{Kernel: "scimark"}, 152, "scimark-small scimark-large"},
		{"a kernel", references.Query{Kernel: "soap.echo"}, 104, "soap-axis soap-gsoap-axis soap-gsoap engines cxf"},
		{"a family", references.Query{Kernel: "soap"}, 105, "soap-axis soap-gsoap-axis soap-gsoap engines cxf"},
		{"no part of a name", references.Query{Kernel: "soap.ech"}, 0, ""},
		{"a parameter", references.Query{Kernel: "scimark", Params: kernels.Params{"size": "large"}}, 25, "scimark-large"},
		{"a parameter no figure has", references.Query{Params: kernels.Params{"model": "dom"}}, 0, ""},
		{"a size in other words", references.Query{Params: kernels.Params{"page_bytes": "12795", "memory": "16384KB"}}, 36, "page page-summary page-times page-percentiles"},
		{"a table", references.Query{Table: "echo"}, 8, "echo"},
		{"a source", references.Query{Source: "soaprunner"}, 7, "engines"},
		{"words in any case", references.Query{Text: "jrockit OPTERON"}, 2, "soap-axis"},
		{"failed ones", references.Query{Text: "failed"}, 2, "soap-axis"},
		{"no such thing", references.Query{Table: "nothing"}, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list := s.List(tt.query)
			var tables []string
			for _, tab := range list.Tables {
				tables = append(tables, tab.Name)
			}
			if got := strings.Join(tables, " "); len(list.References) != tt.count || got != tt.tables {
				t.Errorf("%d of %q, want %d of %q", len(list.References), got, tt.count, tt.tables)
			}
		})
	}
}

func TestStand(t *testing.T) {
	t.Parallel()
	s := load(t)
	scimark := kernels.Params{"size": "small", "threads": "1"}
	beans := kernels.Params{"payload": "beans", "size": "2.2KB", "model": "dom", "clients": "1"}
	heap := kernels.Params{"concurrency": "10", "keepalive": "false", "page_bytes": "12795", "cache": "15s", "memory": "64MB"}
	for _, tt := range []struct {
		name, kernel, unit string
		params             kernels.Params
		value              float64
		want               string // empty: nowhere
	}{
		{"above all", "scimark", "Mflop/s", scimark, 8115.18, "3.1 x the fastest of 127 figures (SciMark, small; java-on-many-machines)"},
		{"as the fastest", "scimark", "Mflop/s", scimark, 2617.8, "1.0 x the fastest of 127 figures (SciMark, small; java-on-many-machines)"},
		{"second", "scimark", "Mflop/s", scimark, 2000, "0.76 x the fastest of 127 figures (SciMark, small; java-on-many-machines), place 2 of 128, 3.5 x the median"},
		{"below all", "scimark", "Mflop/s", scimark, 21.5, "0.0082 x the fastest of 127 figures (SciMark, small; java-on-many-machines), place 128 of 128, 0.038 x the median"},
		{"other size", "scimark", "Mflop/s", scimark.With("size", "large"), 3116.8, "10 x the fastest of 25 figures (SciMark, large; java-on-many-machines)"},
		{"more threads than they had", "scimark", "Mflop/s", scimark.With("threads", "2"), 5000, ""},
		{"one of the five kernels", "scimark.fft", "Mflop/s", scimark, 1000, ""},
		{"another unit", "scimark", "MB/s", scimark, 1000, ""},
		{"beans", "soap.echo", "call/s", beans, 21034, "54 x the fastest of 61 figures (SOAP calls of four beans, Axis 1.1; java-on-many-machines)"},
		{"beans of other clients", "soap.echo", "call/s", beans.With("clients", "4"), 21034, ""},
		{"records instead of beans", "soap.echo", "call/s", beans.With("payload", "records"), 21034, ""},
		{"beans one after another", "soap.echo", "call/s", beans.With("rate", "0"), 387, "1.0 x the fastest of 61 figures (SOAP calls of four beans, Axis 1.1; java-on-many-machines)"},
		{"beans at a rate", "soap.echo", "call/s", beans.With("rate", "387"), 387, ""},
		{"erlang with a payload", "messaging.roundtrip", "message/s", kernels.Params{"broker": "erlang", "clients": "8", "size": "1KB"}, 30000, ""},
		{"erlang", "messaging.echo", "message/s", kernels.Params{"clients": "8"}, 30000, "0.67 x the fastest of 2 figures (Erlang echo on the JVM; erlang-jvm), place 2 of 3, 0.88 x the median"},
		{"nats", "messaging.roundtrip", "message/s", kernels.Params{"broker": "nats", "clients": "8"}, 30000, ""},
		{"page", "page.load", "request/s", heap, 5075.26, "2.0 x the fastest of 1 figure (a cached page under a small heap; page-small-heap)"},
		{"page with connections kept", "page.load", "request/s", heap.With("keepalive", "true"), 5000, ""},
		{"zero", "scimark", "Mflop/s", scimark, 0, ""},
		{"not a number", "scimark", "Mflop/s", scimark, math.NaN(), ""},
		{"infinity", "scimark", "Mflop/s", scimark, math.Inf(1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if st := s.Stand(tt.kernel, tt.params, tt.unit, tt.value); st != nil {
				got = st.Text
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestStandingOfAFigureThatIsBetterLower(t *testing.T) {
	t.Parallel()
	heap := kernels.Params{"concurrency": "10", "keepalive": "false", "page_bytes": "12795B", "cache": "15s", "memory": "64MB"}
	got := load(t).Standings("page.load", heap, "total_p99", "ms", 10)
	want := []bench.Standing{{
		Table: "page-percentiles", Source: "page-small-heap", Metric: "total_p99", Unit: "ms", Better: "lower",
		Count: 1, Rank: 1, Fastest: 40, Median: 40, Slowest: 40, RatioToFastest: 4, RatioToMedian: 4,
		Text: "4.0 x the fastest of 1 figure (a cached page under a small heap, percentiles of the total time; page-small-heap)",
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	slower := load(t).Standings("page.load", heap, "total_p99", "ms", 80)
	if slower[0].Rank != 2 || slower[0].RatioToFastest != 0.5 {
		t.Errorf("twice as long as published: %+v", slower[0])
	}
}

// Figures of more than one table may mean the same; the first is what Stand tells.
func TestStandings(t *testing.T) {
	t.Parallel()
	beans := kernels.Params{"payload": "beans", "size": "2.2KB", "model": "stream", "clients": "1"}
	got := load(t).Standings("soap.echo", beans, "throughput", "call/s", 3000)
	if len(got) != 2 || got[0].Table != "soap-axis" || got[1].Table != "soap-gsoap" {
		t.Fatalf("%+v", got)
	}
	if got[0].Rank != 1 || got[1].Rank != 3 || got[1].Fastest != 3300 || got[1].Slowest != 530 {
		t.Errorf("%+v", got)
	}
}

// TestStandingHolds: whatever the value, its place fits its ratios.
func TestStandingHolds(t *testing.T) {
	t.Parallel()
	s := load(t)
	params := kernels.Params{"size": "small", "threads": "1"}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64).Draw(t, "value")
		if rapid.Bool().Draw(t, "near") {
			v = rapid.Float64Range(1, 5000).Draw(t, "value near the figures")
		}
		st := s.Stand("scimark", params, "Mflop/s", v)
		if st == nil {
			t.Fatal("stands nowhere")
		}
		if st.Rank < 1 || st.Rank > st.Count+1 || (st.Rank == 1) != (v >= st.Fastest) || (st.Rank == st.Count+1) != (v < st.Slowest) {
			t.Errorf("%g has place %d of %d", v, st.Rank, st.Count+1)
		}
		if (st.RatioToFastest >= 1) != (v >= st.Fastest) || (st.RatioToMedian >= 1) != (v >= st.Median) {
			t.Errorf("%g has ratios %g and %g", v, st.RatioToFastest, st.RatioToMedian)
		}
		if strings.ContainsAny(st.Text, "\n") || strings.Contains(st.Text, "Inf") || strings.Contains(st.Text, "NaN") {
			t.Errorf("%g: %s", v, st.Text)
		}
	})
}

// The caller of All may sort what it gets.
func TestAllIsTheCallers(t *testing.T) {
	t.Parallel()
	s := load(t)
	s.All()[0].Table = "mine"
	s.Tables()[0].Name = "mine"
	if s.All()[0].Table != "scimark-small" || s.Tables()[0].Name != "scimark-small" {
		t.Error("a caller changed the set")
	}
}
