package host_test

import (
	"runtime"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
	"benchd/worker/host"
)

// files is a machine made of file names and their contents.
type files map[string]string

func (f files) fs() fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range f {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// The files of a machine whose control groups are of version 2, and of one on metal.
var (
	group  = files{"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": "1 1 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"}
	group1 = files{"proc/self/cgroup": "3:cpu:/a\n", "proc/self/mountinfo": "1 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"}
	metal  = files{"sys/class/dmi/id/sys_vendor": "Example\n"}
)

// and adds files to a machine.
func (f files) and(more files) files {
	all := files{}
	for _, part := range []files{f, more} {
		for name, text := range part {
			all[name] = text
		}
	}
	return all
}

const cpu0 = "sys/devices/system/cpu/cpu0/"

// Every check says what it should about machines of every kind that it tells apart.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		check string
		files files
		noise bench.Noise
		state host.Verdict
		value string // the reason when it is unknown
		does  string // the command
	}{
		{"cpus", files{"proc/self/status": "Name:\tx\nCpus_allowed_list:\t0-3,8\n", "sys/devices/system/cpu/online": "0-15\n"}, bench.Noise{}, host.Fine, "16 online, may run on CPU 0-3,8", ""},
		{"cpus", files{"proc/self/status": "Cpus_allowed_list:\t3\n", "sys/devices/system/cpu/online": "0-3\n"}, bench.Noise{}, host.Change, "may run on CPU 3 only, of 4", ""},
		{"cpus", files{"proc/self/status": "Name:\tx\n"}, bench.Noise{}, host.Unknown, `read /proc/self/status: the CPUs allowed: "" is not a list of CPUs`, ""},

		{"governor", files{cpu0 + "cpufreq/scaling_governor": "performance\n"}, bench.Noise{}, host.Fine, "performance", ""},
		{"governor", files{cpu0 + "cpufreq/scaling_governor": "powersave\n"}, bench.Noise{}, host.Change, "powersave", "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
		{"governor", files{cpu0 + "cpufreq/scaling_governor": "performance\n", "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "schedutil\n"}, bench.Noise{}, host.Change, "mixed: performance, schedutil", "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
		{"governor", nil, bench.Noise{}, host.Unknown, "the kernel does not set the CPUs' clocks here, as is usual in a virtual machine", ""},

		{"frequency", files{cpu0 + "cpufreq/scaling_min_freq": "800000\n", cpu0 + "cpufreq/scaling_max_freq": "3600000\n", cpu0 + "cpufreq/scaling_driver": "intel_pstate\n"}, bench.Noise{}, host.Note, "800 to 3600 MHz, set by intel_pstate", ""},
		{"frequency", files{cpu0 + "cpufreq/scaling_min_freq": "800000\n", cpu0 + "cpufreq/scaling_max_freq": "3600000\n", cpu0 + "cpufreq/scaling_governor": "performance\n", "sys/devices/system/cpu/cpufreq/boost": "0\n"}, bench.Noise{}, host.Fine, "800 to 3600 MHz", ""},
		{"frequency", files{cpu0 + "cpufreq/scaling_min_freq": "3600000\n", cpu0 + "cpufreq/scaling_max_freq": "3600000\n"}, bench.Noise{}, host.Fine, "3600 to 3600 MHz", ""},
		{"frequency", nil, bench.Noise{}, host.Unknown, "the kernel does not set the CPUs' clocks here, as is usual in a virtual machine", ""},

		{"turbo", files{"sys/devices/system/cpu/intel_pstate/no_turbo": "0\n"}, bench.Noise{}, host.Change, "on", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"},
		{"turbo", files{"sys/devices/system/cpu/cpufreq/boost": "1\n"}, bench.Noise{}, host.Change, "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"},
		{"turbo", files{"sys/devices/system/cpu/intel_pstate/no_turbo": "1\n"}, bench.Noise{}, host.Fine, "off", ""},
		{"turbo", nil, bench.Noise{}, host.Unknown, "no driver of the CPUs' clocks tells whether they may go beyond nominal", ""},

		{"smt", metal.and(files{"sys/devices/system/cpu/smt/active": "1\n"}), bench.Noise{}, host.Change, "on", "echo off | sudo tee /sys/devices/system/cpu/smt/control"},
		{"smt", files{"sys/hypervisor/type": "xen\n", "sys/devices/system/cpu/smt/active": "1\n"}, bench.Noise{}, host.Note, "on", ""},
		{"smt", files{"sys/devices/system/cpu/smt/active": "0\n"}, bench.Noise{}, host.Fine, "off", ""},
		{"smt", metal.and(files{"sys/devices/system/cpu/smt/active": "0\n", "sys/devices/system/cpu/smt/control": "notsupported\n"}), bench.Noise{}, host.Fine, "off", ""},
		{"smt", files{"sys/hypervisor/type": "xen\n", "sys/devices/system/cpu/smt/active": "0\n", "sys/devices/system/cpu/smt/control": "off\n"}, bench.Noise{}, host.Fine, "off", ""},
		{"smt", files{"sys/hypervisor/type": "xen\n", "sys/devices/system/cpu/smt/active": "0\n", "sys/devices/system/cpu/smt/control": "notsupported\n"}, bench.Noise{}, host.Unknown, "the kernel sees one thread on each core, but in a virtual machine it cannot know whether its CPUs share cores of the metal", ""},
		{"smt", files{"sys/devices/system/cpu/smt/active": "0\n", "sys/devices/system/cpu/smt/control": "notsupported\n"}, bench.Noise{}, host.Unknown, "the kernel sees one thread on each core, which tells nothing in a virtual machine, and neither the processor nor the firmware tells whether this is a virtual machine", ""},
		{"smt", nil, bench.Noise{}, host.Unknown, "read /sys/devices/system/cpu/smt/active: file does not exist", ""},

		{"idle", files{"proc/cmdline": "quiet\n", "sys/devices/system/cpu/cpuidle/current_driver": "intel_idle\n"}, bench.Noise{}, host.Note, "the CPUs halt (intel_idle)", "benchd run messaging.roundtrip --awake"},
		{"idle", files{"proc/cmdline": "quiet\n", "sys/devices/system/cpu/cpuidle/current_driver": "none\n"}, bench.Noise{}, host.Note, "the CPUs halt", "benchd run messaging.roundtrip --awake"},
		{"idle", files{"proc/cmdline": "quiet idle=poll\n"}, bench.Noise{}, host.Fine, "the CPUs never halt (idle=poll)", ""},
		{"idle", nil, bench.Noise{}, host.Unknown, "read /proc/cmdline: file does not exist", ""},

		{"clock_source", files{"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n"}, bench.Noise{}, host.Fine, "tsc", ""},
		{"clock_source", files{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n", "sys/devices/system/clocksource/clocksource0/available_clocksource": "hpet acpi_pm tsc\n"}, bench.Noise{}, host.Change, "hpet", "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"},
		{"clock_source", files{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n", "sys/devices/system/clocksource/clocksource0/available_clocksource": "hpet acpi_pm\n"}, bench.Noise{}, host.Change, "hpet", "sudo dmesg | grep -i -e clocksource -e tsc"},
		{"clock_source", nil, bench.Noise{}, host.Unknown, "read /sys/devices/system/clocksource/clocksource0/current_clocksource: file does not exist", ""},

		{"aslr", files{"proc/sys/kernel/randomize_va_space": "2\n"}, bench.Noise{}, host.Fine, "on (2)", ""},
		{"aslr", files{"proc/sys/kernel/randomize_va_space": "0\n"}, bench.Noise{}, host.Change, "off", "sudo sysctl -w kernel.randomize_va_space=2"},
		{"aslr", nil, bench.Noise{}, host.Unknown, "read /proc/sys/kernel/randomize_va_space: file does not exist", ""},

		{"virtualization", metal, bench.Noise{}, host.Fine, "none", ""},
		{"virtualization", files{"sys/hypervisor/type": "xen\n"}, bench.Noise{}, host.Note, "xen", ""},
		{"virtualization", nil, bench.Noise{}, host.Unknown, "neither the processor nor the firmware tells whether this is a virtual machine", ""},

		{"cpu_limit", group, bench.Noise{}, host.Fine, "none", ""},
		{"cpu_limit", group.and(files{"sys/fs/cgroup/a/cpu.max": "150000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n", "sys/devices/system/cpu/online": "0-7\n"}), bench.Noise{}, host.Change, "1.50 cores of 8", "echo max | sudo tee /sys/fs/cgroup/a/cpu.max"},
		{"cpu_limit", group1.and(files{"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n"}), bench.Noise{}, host.Change, "0.50 cores of 1", "echo -1 | sudo tee /sys/fs/cgroup/cpu/a/cpu.cfs_quota_us"},
		{"cpu_limit", nil, bench.Noise{}, host.Unknown, "read /proc/self/cgroup: file does not exist", ""},

		{"load", nil, bench.Noise{Elapsed: 2, Others: new(0.03), Load1: new(0.5)}, host.Fine, "other processes use 3 % of a core (1 CPUs), load average 0.50", ""},
		{"load", nil, bench.Noise{Elapsed: 2, Others: new(0.38)}, host.Change, "other processes use 38 % of a core (1 CPUs)", "ps -eo pid,pcpu,comm --sort=-pcpu | head"},
		{"load", nil, bench.Noise{Unknown: map[string]string{"others": "no such clock"}}, host.Unknown, "no such clock", ""},

		{"steal", nil, bench.Noise{Elapsed: 2, Steal: new(0.001)}, host.Fine, "0.1 % of the CPU time", ""},
		{"steal", nil, bench.Noise{Elapsed: 2, Steal: new(0.1)}, host.Change, "10.0 % of the CPU time", ""},
		{"steal", nil, bench.Noise{}, host.Unknown, "the watch does not tell", ""},

		{"pressure", nil, bench.Noise{PressureCPU: new(0.01), PressureMemory: new(0.0), PressureIO: new(0.05)}, host.Fine, "tasks waited for a CPU in 1.0 %, for memory in 0.0 %, for a disk in 5.0 % of the time", ""},
		{"pressure", nil, bench.Noise{PressureCPU: new(0.01), PressureMemory: new(0.0), PressureIO: new(0.5)}, host.Change, "tasks waited for a CPU in 1.0 %, for memory in 0.0 %, for a disk in 50.0 % of the time", "ps -eo pid,stat,pcpu,comm --sort=-pcpu | head"},
		{"pressure", nil, bench.Noise{Unknown: map[string]string{"pressure_cpu": "psi is off"}}, host.Unknown, "psi is off", ""},

		{"throttling", nil, bench.Noise{Elapsed: 2, Throttled: new(0.0)}, host.Fine, "held back by a limit for 0.00 s just now", ""},
		{"throttling", nil, bench.Noise{Elapsed: 2, Throttled: new(0.5)}, host.Change, "held back by a limit for 0.50 s just now", ""},
		{"throttling", files{cpu0 + "thermal_throttle/core_throttle_count": "12\n"}, bench.Noise{Elapsed: 2}, host.Note, "slowed down for their temperature 12 times since the start", ""},
		{"throttling", files{cpu0 + "thermal_throttle/core_throttle_count": "12\n"}, bench.Noise{Elapsed: 2, ThermalEvents: new(int64(1))}, host.Change, "slowed down for their temperature 12 times since the start", ""},
		{"throttling", nil, bench.Noise{}, host.Unknown, "the kernel does not count here how often cores slow down for their temperature", ""},

		{"memory_limit", group, bench.Noise{}, host.Fine, "none", ""},
		{"memory_limit", group.and(files{"sys/fs/cgroup/a/memory.max": "8589934592\n"}), bench.Noise{}, host.Fine, "8.0 GB", ""},
		{"memory_limit", group.and(files{"sys/fs/cgroup/a/memory.max": "268435456\n"}), bench.Noise{}, host.Change, "256 MB", ""},
		{"memory_limit", nil, bench.Noise{}, host.Unknown, "read /proc/self/cgroup: file does not exist", ""},

		{"swap", files{"proc/meminfo": "SwapTotal:             0 kB\nSwapFree:              0 kB\n"}, bench.Noise{}, host.Fine, "none", ""},
		{"swap", files{"proc/meminfo": "SwapTotal:       2097152 kB\nSwapFree:        2097152 kB\n"}, bench.Noise{}, host.Note, "0 MB of 2.0 GB used", "sudo swapoff -a"},
		{"swap", files{"proc/meminfo": "SwapTotal:       2097152 kB\nSwapFree:        1048576 kB\n"}, bench.Noise{}, host.Change, "1.0 GB of 2.0 GB used", "sudo swapoff -a"},
		{"swap", files{"proc/meminfo": "SwapTotal:       2097152 kB\nSwapFree:        2097152 kB\n"}, bench.Noise{Swapped: new(int64(5))}, host.Change, "0 MB of 2.0 GB used", "sudo swapoff -a"},
		{"swap", nil, bench.Noise{}, host.Unknown, "read /proc/meminfo: file does not exist", ""},

		{"huge_pages", files{"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"}, bench.Noise{}, host.Note, "always", "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"},
		{"huge_pages", files{"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n"}, bench.Noise{}, host.Fine, "madvise", ""},
		{"huge_pages", files{"sys/kernel/mm/transparent_hugepage/enabled": "always\n"}, bench.Noise{}, host.Unknown, `read /sys/kernel/mm/transparent_hugepage/enabled: "always" has nothing in brackets`, ""},

		{"numa_balancing", files{"sys/devices/system/node/node0/x": ""}, bench.Noise{}, host.Fine, "one node of memory", ""},
		{"numa_balancing", files{"sys/devices/system/node/node0/x": "", "sys/devices/system/node/node1/x": "", "proc/sys/kernel/numa_balancing": "1\n"}, bench.Noise{}, host.Change, "on, 2 nodes", "sudo sysctl -w kernel.numa_balancing=0"},
		{"numa_balancing", files{"sys/devices/system/node/node0/x": "", "sys/devices/system/node/node1/x": "", "proc/sys/kernel/numa_balancing": "0\n"}, bench.Noise{}, host.Fine, "off, 2 nodes", ""},
		{"numa_balancing", files{"sys/devices/system/node/node0/x": "", "sys/devices/system/node/node1/x": ""}, bench.Noise{}, host.Unknown, "read /proc/sys/kernel/numa_balancing: file does not exist", ""},

		{"power", nil, bench.Noise{}, host.Unknown, "the kernel tells nothing of batteries here, nor whether this is a virtual machine", ""},
		{"power", metal, bench.Noise{}, host.Fine, "no battery: mains power", ""},
		{"power", files{"sys/hypervisor/type": "xen\n"}, bench.Noise{}, host.Unknown, "no battery is shown to this virtual machine; whether the metal runs on one cannot be seen from inside", ""},
		{"power", files{"sys/class/power_supply/BAT0/type": "Battery\n", "sys/class/power_supply/BAT0/status": "Discharging\n"}, bench.Noise{}, host.Change, "on battery", ""},
		{"power", files{"sys/class/power_supply/BAT0/type": "Battery\n", "sys/class/power_supply/BAT0/status": "Full\n"}, bench.Noise{}, host.Fine, "the battery is not drawn on: mains power", ""},
		{"power", files{"sys/class/power_supply/BAT0/type": "Battery\n"}, bench.Noise{}, host.Unknown, "there is a battery, and the kernel does not tell whether it is drawn on", ""},
		{"power", metal.and(files{"sys/class/power_supply/hid/type": "Battery\n", "sys/class/power_supply/hid/scope": "Device\n", "sys/class/power_supply/hid/status": "Discharging\n"}), bench.Noise{}, host.Fine, "no battery: mains power", ""},
		{"power", files{"sys/class/power_supply/AC/type": "Mains\n", "sys/class/power_supply/AC/online": "1\n"}, bench.Noise{}, host.Fine, "mains power", ""},
		{"power", files{"sys/class/power_supply/AC/type": "Mains\n", "sys/class/power_supply/AC/online": "0\n", "sys/class/power_supply/BAT0/type": "Battery\n"}, bench.Noise{}, host.Change, "on battery", ""},

		{"temp", files{"proc/self/mountinfo": "1 1 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / /var rw - tmpfs tmpfs rw\n"}, bench.Noise{}, host.Fine, "/variable/tmp on ext4", ""},
		{"temp", files{"proc/self/mountinfo": "1 1 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / /variable rw shared:1 - tmpfs tmpfs rw\n"}, bench.Noise{}, host.Note, "/variable/tmp on tmpfs", ""},
		{"temp", files{"proc/self/mountinfo": "1 1 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / /variable/tmp rw - ext4 x rw\n3 2 0:3 / /variable/tmp rw - tmpfs x rw\n"}, bench.Noise{}, host.Note, "/variable/tmp on tmpfs", ""},
		{"temp", files{"proc/self/mountinfo": "\n"}, bench.Noise{}, host.Unknown, "read /proc/self/mountinfo: no file system is mounted above /variable/tmp", ""},
	} {
		t.Run(row.check+" "+row.value, func(t *testing.T) {
			t.Parallel()
			f := find(t, host.Diagnose(row.files.fs(), "/variable/tmp", row.noise), row.check)
			said := f.Reason
			if f.Value != nil {
				said = *f.Value
			}
			type told struct {
				State       host.Verdict
				Value, Does string
			}
			if diff := cmp.Diff(told{row.state, row.value, row.does}, told{f.State, said, f.Command}); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			complete(t, f)
		})
	}
}

func find(t *testing.T, all []host.Finding, check string) host.Finding {
	t.Helper()
	i := slices.IndexFunc(all, func(f host.Finding) bool { return f.Check == check })
	if i < 0 {
		t.Fatalf("there is no check %s", check)
	}
	return all[i]
}

// complete fails the test unless a finding tells what it must.
func complete(t *testing.T, f host.Finding) {
	t.Helper()
	if f.Why == "" {
		t.Errorf("%s: it does not say why it matters", f.Check)
	}
	if unknown := f.State == host.Unknown; (f.Value == nil) != unknown || (f.Reason != "") != unknown {
		t.Errorf("%s: state %s, value %v, reason %q", f.Check, f.State, f.Value, f.Reason)
	}
	if act := f.State == host.Change || f.State == host.Note; (f.Advice != "") != act {
		t.Errorf("%s: state %s, advice %q", f.Check, f.State, f.Advice)
	}
}

// This machine can be examined, each check once, and every finding is whole.
func TestExamineThisMachine(t *testing.T) {
	t.Parallel()
	all := host.Examine(t.Context(), host.DoctorOptions{Temp: t.TempDir()})
	var names []string
	for _, f := range all {
		complete(t, f)
		names = append(names, f.Check)
		if runtime.GOOS != "linux" && f.State != host.Unknown {
			t.Errorf("%s is %s on %s", f.Check, f.State, runtime.GOOS)
		}
	}
	if n := len(names); n < 20 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != n {
		t.Errorf("checks %v", names)
	}
}
