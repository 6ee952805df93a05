package host_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"benchd/worker/bench"
	"benchd/worker/host"
)

const cpus = "sys/devices/system/cpu/"

// replace changes a text in a file of a machine, and fails when it is not there.
func replace(t *testing.T, machine fstest.MapFS, file, old, with string) {
	t.Helper()
	f := machine[file]
	if f == nil || !strings.Contains(string(f.Data), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	machine[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(f.Data), old, with))}
}

// After a reboot one core runs at another clock, memory is free in another amount, and all
// else that changes by itself has changed: the fingerprint has not.
func TestFingerprintSurvivesReboot(t *testing.T) {
	t.Parallel()
	machine, _ := load(t, "testdata/intel-metal.txtar")
	replace(t, machine, "proc/cpuinfo", "3805.000", "10678.000")
	before := read(machine)

	replace(t, machine, "proc/cpuinfo", "10678.000", "10681.000")
	replace(t, machine, "proc/cpuinfo", "Intel(R)  Xeon(R) CPU E3-1270 v6   @", "Intel(R) Xeon(R) CPU E3-1270 v6 @")
	replace(t, machine, cpus+"cpu3/cpufreq/scaling_cur_freq", "1100000", "3801234")
	replace(t, machine, "proc/meminfo", "32761200", "32760888")
	replace(t, machine, "proc/meminfo", "31000000", "29123456")
	replace(t, machine, "proc/loadavg", "0.08", "4.20")
	replace(t, machine, "proc/uptime", "350735.47", "61.20")
	replace(t, machine, "sys/class/hwmon/hwmon1/temp2_input", "43500", "67000")
	after := read(machine)

	if before.Volatile == after.Volatile || *before.Volatile.MHz == *after.Volatile.MHz {
		t.Error("the change of the clocks was not read at all")
	}
	if before.Fingerprint != after.Fingerprint {
		t.Errorf("fingerprint %s, after a reboot %s", before.Fingerprint, after.Fingerprint)
	}
}

// Whatever changes how a machine measures changes its fingerprint, and no two changes give
// the same one.
func TestFingerprintTellsMachinesApart(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, file, old, with string }{
		{"nothing", "proc/loadavg", "0.08", "0.08"},
		{"other processor", "proc/cpuinfo", "E3-1270 v6", "E3-1230 v6"},
		{"other microcode", "proc/cpuinfo", "0xf4", "0xf8"},
		{"a core offline", cpus + "online", "0-7", "0-6"},
		{"more memory", "proc/meminfo", "32761200", "65761200"},
		{"other kernel", "proc/sys/kernel/osrelease", "6.8.0-79", "6.8.0-80"},
		{"other C library", "usr/lib/x86_64-linux-gnu/libc.so.6", "version 2.39", "version 2.41"},
		{"other release", "etc/os-release", "24.04.3", "24.04.4"},
		{"one governor", cpus + "cpu2/cpufreq/scaling_governor", "powersave", "performance"},
		{"turbo on", cpus + "intel_pstate/no_turbo", "1", "0"},
		{"threads off", cpus + "smt/active", "1", "0"},
		{"smaller cache", cpus + "cpu0/cache/index3/size", "8192K", "6144K"},
		{"virtual machine", "sys/class/dmi/id/sys_vendor", "Supermicro", "QEMU"},
		{"CPU limit", "sys/fs/cgroup/system.slice/benchd.service/cpu.max", "max", "200000"},
		{"memory limit", "sys/fs/cgroup/system.slice/benchd.service/memory.max", "max", "1073741824"},
	}
	seen := map[string]string{}
	for _, row := range rows {
		machine, _ := load(t, "testdata/intel-metal.txtar")
		replace(t, machine, row.file, row.old, row.with)
		got := read(machine).Fingerprint
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the fingerprint %s of %s", row.name, got, other)
		}
		seen[got] = row.name
	}
	machine, _ := load(t, "testdata/intel-metal.txtar")
	if s := host.Read(t.Context(), host.Options{Root: machine, Build: "v2.0.0"}); seen[s.Fingerprint] != "" {
		t.Errorf("another build has the fingerprint of %s", seen[s.Fingerprint])
	}
}

func TestFingerprintShape(t *testing.T) {
	t.Parallel()
	threads, digits := bench.Facts{Threads: 4}, regexp.MustCompile(`^[0-9a-f]{16}$`)
	if got := host.Fingerprint(threads); !digits.MatchString(got) {
		t.Errorf("fingerprint %q is not 16 hexadecimal digits", got)
	}
	broken := math.Inf(1)
	threads.CgroupCPU = &broken
	if got := host.Fingerprint(threads); got != "" {
		t.Errorf("facts that are no JSON have the fingerprint %q", got)
	}
}

// Files that hold anything at all neither stop the reader nor get past it unexplained.
func FuzzRead(f *testing.F) {
	files := []string{
		"proc/cpuinfo", "proc/meminfo", "proc/self/cgroup", "proc/self/mountinfo", "proc/loadavg",
		"proc/uptime", "etc/os-release", "lib/libc.so.6", cpus + "online", cpus + "cpu0/cache/index3/size",
		"sys/fs/cgroup/system.slice/benchd.service/cpu.max", "sys/class/hwmon/hwmon1/temp1_input",
	}
	f.Add(uint(2), "0::/a/../../../b")
	f.Add(uint(3), "35 24 0:30 / / rw - cgroup2 none rw")
	f.Add(uint(3), "35 24 0:30 /system.slice /../x rw - cgroup2 none rw")
	f.Add(uint(4), "NaN Inf")
	f.Add(uint(1), "MemTotal: 9223372036854775807 kB")
	f.Add(uint(8), "0-9223372036854775807")
	f.Add(uint(10), "1e308 1e-308")
	f.Fuzz(func(t *testing.T, which uint, text string) {
		machine, _ := load(t, "testdata/intel-metal.txtar")
		machine[files[which%uint(len(files))]] = &fstest.MapFile{Data: []byte(text)}
		s := read(machine)
		if s.Fingerprint == "" {
			t.Errorf("no fingerprint of %+v", s.Facts)
		}
		if s.Facts.Threads < 1 {
			t.Errorf("%d threads", s.Facts.Threads)
		}
		for field, value := range values(t, s) {
			if value == nil && s.Unknown[field] == "" && field != "clock_offset_s" {
				t.Errorf("%s is null without a reason", field)
			}
		}
	})
}
