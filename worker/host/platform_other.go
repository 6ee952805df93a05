//go:build !linux

package host

import (
	"context"
	"fmt"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	psutil "github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"

	"benchd/worker/bench"
)

// readPlatform reads this machine through gopsutil, and from the processor what that leaves
// open. Facts that only Linux tells get that reason.
func readPlatform(ctx context.Context, s *bench.HostSnapshot) {
	for _, name := range []string{
		"microcode", "sockets", "cache_l1d_bytes", "cache_l2_bytes", "cache_l3_bytes", "libc",
		"cgroup_cpu_cores", "cgroup_memory_bytes", "governor", "turbo", "smt", "temperature_celsius",
	} {
		s.Unknown[name] = fmt.Sprintf("it is read on linux only, this is %s", runtime.GOOS)
	}
	readProcessors(ctx, s)
	readMemory(ctx, s)
	readSoftware(ctx, s)
	askChip(s)
}

// readProcessors fills in the processors' model, number and clock.
func readProcessors(ctx context.Context, s *bench.HostSnapshot) {
	f := &s.Facts
	f.CPUModel = "unknown"
	chips, err := cpu.InfoWithContext(ctx)
	if err == nil && len(chips) > 0 {
		f.CPUModel = squeeze(chips[0].ModelName)
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil && n > 0 {
		f.Threads = n
	}
	note(s, "cores", &f.Cores, func() (int, error) {
		n, err := cpu.CountsWithContext(ctx, false)
		return n, told("physical cores", err, n > 0)
	})
	note(s, "mhz", &s.Volatile.MHz, func() (float64, error) {
		if err != nil || len(chips) == 0 {
			return 0, told("processors", err, false)
		}
		return chips[0].Mhz, told("clock", nil, chips[0].Mhz > 0)
	})
}

// readMemory fills in the main memory and how much of it is free.
func readMemory(ctx context.Context, s *bench.HostSnapshot) {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err == nil && m.Total > 1<<60 {
		err = fmt.Errorf("%d bytes of memory are not believable", m.Total)
	}
	note(s, "memory_bytes", &s.Facts.Memory, func() (int64, error) {
		if err != nil {
			return 0, told("memory", err, false)
		}
		return roundMemory(int64(m.Total)), nil
	})
	note(s, "free_memory_bytes", &s.Volatile.FreeMemory, func() (int64, error) {
		if err != nil {
			return 0, told("memory", err, false)
		}
		return int64(min(m.Available, m.Total)), nil
	})
}

// readSoftware fills in the system's names and its load.
func readSoftware(ctx context.Context, s *bench.HostSnapshot) {
	f, v := &s.Facts, &s.Volatile
	info, err := psutil.InfoWithContext(ctx)
	if err != nil {
		info = &psutil.InfoStat{}
	}
	text := func(what, value string) func() (string, error) {
		return func() (string, error) { return value, told(what, err, value != "") }
	}
	note(s, "distribution", &f.Distribution, text("distribution", squeeze(info.Platform+" "+info.PlatformVersion)))
	note(s, "kernel", &f.Kernel, text("kernel's version", info.KernelVersion))
	virtual := chipHypervisor()
	if info.VirtualizationRole == "guest" {
		virtual = info.VirtualizationSystem
	}
	note(s, "virtualization", &f.Virtualization, text("virtualization", virtual))
	note(s, "uptime_s", &v.Uptime, func() (float64, error) {
		return float64(info.Uptime), told("uptime", err, info.Uptime > 0)
	})
	average, err := load.AvgWithContext(ctx)
	if err != nil {
		average = &load.AvgStat{}
	}
	note(s, "load1", &v.Load1, func() (float64, error) { return average.Load1, told("load", err, true) })
	note(s, "load5", &v.Load5, func() (float64, error) { return average.Load5, told("load", err, true) })
}

// told makes the reason for a value that was not read, nil when it was.
func told(what string, err error, there bool) error {
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", what, err)
	case !there:
		return fmt.Errorf("%s does not tell the %s", runtime.GOOS, what)
	}
	return nil
}
