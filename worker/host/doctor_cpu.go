package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// cpuCount looks at the number of CPUs, and at how many of them this process may use.
func (x *examination) cpuCount() (view, error) {
	text, err := x.tree.text("proc/self/status")
	if err != nil {
		return view{}, err
	}
	list := first(fields(text, ":"))["Cpus_allowed_list"]
	n, err := countList(list)
	if err != nil {
		return view{}, fmt.Errorf("read /proc/self/status: the CPUs allowed: %w", err)
	}
	if n < 2 {
		return view{Change, fmt.Sprintf("may run on CPU %s only, of %d", list, x.cpus), "Give the host, or the process, two CPUs or more.", ""}, nil
	}
	return good("%d online, may run on CPU %s", x.cpus, list)
}

// governor looks at how the kernel chooses the clocks.
func (x *examination) governor() (view, error) {
	g, err := x.tree.governor()
	if err != nil {
		return view{}, err
	}
	if g == "performance" {
		return good("%s", g)
	}
	return view{Change, g, "Let the kernel keep the highest clock.", "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"}, nil
}

// frequency looks at the range in which the clocks may move.
func (x *examination) frequency() (view, error) {
	low, err1 := x.clockBound("scaling_min_freq", func(sorted []float64) float64 { return sorted[0] })
	high, err2 := x.clockBound("scaling_max_freq", func(sorted []float64) float64 { return sorted[len(sorted)-1] })
	if err := errors.Join(err1, err2); err != nil {
		return view{}, err1
	}
	value := fmt.Sprintf("%.0f to %.0f MHz", low, high)
	if driver, err := x.tree.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"); err == nil {
		value += ", set by " + driver
	}
	g, _ := x.tree.governor()
	turbo, err := x.tree.turbo()
	if low == high || g == "performance" && err == nil && !turbo {
		return good("%s", value)
	}
	return view{Note, value, "With the governor performance and without turbo it keeps still.", ""}, nil
}

// clockBound picks one of the bounds that the CPUs have, in MHz.
func (x *examination) clockBound(file string, pick func(sorted []float64) float64) (float64, error) {
	var all []float64
	for _, name := range x.tree.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/" + file) {
		if khz, err := x.tree.number(name, 0); err == nil {
			all = append(all, khz/1000)
		}
	}
	if len(all) == 0 {
		return 0, errors.New("the kernel does not set the CPUs' clocks here, as is usual in a virtual machine")
	}
	slices.Sort(all)
	return pick(all), nil
}

// turbo looks at whether clocks may go beyond nominal.
func (x *examination) turbo() (view, error) {
	on, err := x.tree.turbo()
	switch {
	case err != nil:
		return view{}, err
	case !on:
		return good("off")
	}
	command := "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
	if x.tree.has("sys/devices/system/cpu/intel_pstate/no_turbo") {
		command = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
	}
	return view{Change, "on", "Keep the clocks at nominal.", command}, nil
}

// smt looks at whether cores run two threads. Inside a virtual machine there is a switch that
// switches nothing.
func (x *examination) smt() (view, error) {
	on, err := x.tree.smt()
	switch {
	case err != nil:
		return view{}, err
	case !on:
		return good("off")
	case !x.metal():
		return view{Note, "on", "Place client and server on CPUs of different cores with the plan's \"pin\".", ""}, nil
	}
	return view{Change, "on", "Leave one thread of each core.", "echo off | sudo tee /sys/devices/system/cpu/smt/control"}, nil
}

// idle looks at what a CPU does that has nothing to do.
func (x *examination) idle() (view, error) {
	line, err := x.tree.text("proc/cmdline")
	if err != nil {
		return view{}, err
	}
	if slices.Contains(strings.Fields(line), "idle=poll") {
		return good("the CPUs never halt (idle=poll)")
	}
	value := "the CPUs halt"
	if driver, err := x.tree.text("sys/devices/system/cpu/cpuidle/current_driver"); err == nil && driver != "none" {
		value += " (" + driver + ")"
	}
	return view{Note, value, "Measure round trips with the plan's \"awake\": true, which keeps the CPUs from halting while a trial runs.", "benchd run messaging.roundtrip --awake"}, nil
}

// slowSource tells whether a clock source is read by a call into the kernel or from a device.
func slowSource(name string) bool {
	switch name {
	case "hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "hyperv_clocksource_msr":
		return true
	default:
		return false
	}
}

// clockSource looks at what the kernel's clock is made of.
func (x *examination) clockSource() (view, error) {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	now, err := x.tree.text(dir + "current_clocksource")
	if err != nil {
		return view{}, err
	}
	if !slowSource(now) {
		return good("%s", now)
	}
	v := view{Change, now, "The kernel found no better one: look in its log for why it gave up tsc.", "sudo dmesg | grep -i -e clocksource -e tsc"}
	there, _ := x.tree.text(dir + "available_clocksource")
	for name := range strings.FieldsSeq(there) {
		if !slowSource(name) {
			v.advice, v.command = "Take "+name+".", "echo "+name+" | sudo tee /"+dir+"current_clocksource"
			break
		}
	}
	return v, nil
}

// aslr looks at whether each process gets a memory layout of its own.
func (x *examination) aslr() (view, error) {
	v, err := x.tree.text("proc/sys/kernel/randomize_va_space")
	switch {
	case err != nil:
		return view{}, err
	case v == "0":
		return view{Change, "off", "Switch it on.", "sudo sysctl -w kernel.randomize_va_space=2"}, nil
	}
	return good("on (%s)", v)
}
