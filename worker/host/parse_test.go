package host_test

import (
	"testing"
	"time"

	"benchd/worker/host"
)

// FuzzParsers gives any bytes to all parsers of counters. None fails in another way than by
// its word, and what it accepts is a count.
func FuzzParsers(f *testing.F) {
	for _, text := range []string{
		"cpu  1513134 61854 297695 408587 10302 0 19911 8085 0 0\ncpu0 1 2 3 4 5 6 7 8\nintr 39557959 0 0\nctxt 96290828\n",
		"cpu  1 2 3 4\nintr 1\nctxt 2\n",
		"some avg10=4.20 avg60=8.61 avg300=7.30 total=8295498429\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"some avg10=0.00 total=999999999999999999999\n",
		"nr_periods 10\nnr_throttled 1\nthrottled_usec 1000000\n",
		"nr_periods 10\nnr_throttled 1\nthrottled_time 1000000000\n",
		"nr_free_pages 1\npswpin 3\npswpout 4\n",
		"processor\t: 0\ncpu MHz\t\t: 2445.432\n\nprocessor\t: 1\ncpu MHz\t\t: 800\n",
		"cpu MHz : 0.000000000000000001\ncpu MHz : 999999999999999999999.9\n",
		"", "\n", "cpu ", "ctxt", "intr ", "some total=", "cpu MHz", "cpu MHz:.",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := host.ParseStat(text); err == nil && (s.Stolen < 0 || s.All < s.Stolen || s.All < s.Busy || s.Switches < 0 || s.Interrupts < 0) {
			t.Errorf("%+v of %q", s, text)
		}
		if d, ok := host.ParsePressure(text); ok && d < 0 {
			t.Errorf("pressure %v of %q", d, text)
		}
		if d, ok := host.ParseThrottled(text); ok && d < 0 {
			t.Errorf("throttled %v of %q", d, text)
		}
		if n, ok := host.ParseSwapped(text); ok && n < 0 {
			t.Errorf("%d swapped pages of %q", n, text)
		}
		if low, high := host.ParseClocks(text); !(low >= 0 && high >= low && high < 1<<21) || (low == 0) != (high == 0) {
			t.Errorf("clocks %v to %v of %q", low, high, text)
		}
	})
}

func TestParsers(t *testing.T) {
	t.Parallel()
	s, err := host.ParseStat([]byte("cpu  100 20 30 4000 500 6 7 80 9 10\ncpu0 1 2\nintr 12 1 2\nctxt 345\n"))
	want := host.Stat{Busy: 1630 * time.Millisecond, Stolen: 800 * time.Millisecond, All: 47430 * time.Millisecond, Switches: 345, Interrupts: 12}
	if err != nil || s != want {
		t.Errorf("stat %+v, error %v; want %+v", s, err, want)
	}
	if d, ok := host.ParsePressure([]byte("full total=7\nsome avg10=1.00 total=1500000\n")); !ok || d != 1500*time.Millisecond {
		t.Errorf("pressure %v, %v", d, ok)
	}
	if d, ok := host.ParseThrottled([]byte("throttled_usec 3\n")); !ok || d != 3*time.Microsecond {
		t.Errorf("throttled %v, %v, version 2", d, ok)
	}
	if d, ok := host.ParseThrottled([]byte("throttled_time 3\n")); !ok || d != 3 {
		t.Errorf("throttled %v, %v, version 1", d, ok)
	}
	if n, ok := host.ParseSwapped([]byte("pswpin 3\npswpout 4")); !ok || n != 7 {
		t.Errorf("%d swapped pages, %v", n, ok)
	}
	if low, high := host.ParseClocks([]byte("cpu MHz : 800.25\ncpu MHz\t\t: 3600\n")); low != 800.25 || high != 3600 {
		t.Errorf("clocks %v to %v", low, high)
	}
}
