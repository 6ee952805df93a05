package bench

import "time"

// A Host is a machine with a worker on it.
type Host struct {
	Name     string            `json:"name" example:"blue"`
	Live     bool              `json:"live"` // its heartbeat is fresh
	Labels   map[string]string `json:"labels"`
	Limits   Limits            `json:"limits"`
	Services map[string]string `json:"services,omitempty"`           // named services that its worker was told of: the scheme of each one's address, which itself stays there
	Version  string            `json:"version"`                      // of the worker
	LastSeen time.Time         `json:"last_seen" format:"date-time"` // last heartbeat
	Running  *RunningTrial     `json:"running" extensions:"x-nullable"`
	Snapshot HostSnapshot      `json:"snapshot"` // as last reported
}

// RunningTrial is the trial that a host measures now.
type RunningTrial struct {
	Run     string `json:"run"`
	Trial   string `json:"trial"`
	Attempt int    `json:"attempt"`
}

// A HostSnapshot tells what a host is and how it was when a trial began.
type HostSnapshot struct {
	Fingerprint string   `json:"fingerprint" example:"5f0c9a4e1b7d2c38"` // hash of the facts: equal on machines that measure alike
	Facts       Facts    `json:"facts"`
	Volatile    Volatile `json:"volatile"`
	// Unknown says why a fact or a volatile reading is null, by its name.
	Unknown map[string]string `json:"unknown,omitempty"`
}

// Facts are the stable facts of a host. The fingerprint is the hash of their JSON.
type Facts struct {
	CPUModel       string   `json:"cpu_model" example:"Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz"`
	Microcode      *string  `json:"microcode" extensions:"x-nullable"`
	Sockets        *int     `json:"sockets" extensions:"x-nullable"`
	Cores          *int     `json:"cores" extensions:"x-nullable"` // physical
	Threads        int      `json:"threads"`                       // logical CPUs online
	CacheL1d       *int64   `json:"cache_l1d_bytes" extensions:"x-nullable"`
	CacheL2        *int64   `json:"cache_l2_bytes" extensions:"x-nullable"`
	CacheL3        *int64   `json:"cache_l3_bytes" extensions:"x-nullable"`
	Memory         *int64   `json:"memory_bytes" extensions:"x-nullable"` // rounded to 64 MiB: firmware takes a varying bit
	OS             string   `json:"os" example:"linux"`
	Distribution   *string  `json:"distribution" extensions:"x-nullable"`
	Kernel         *string  `json:"kernel" extensions:"x-nullable"`
	Libc           *string  `json:"libc" extensions:"x-nullable"`
	Virtualization *string  `json:"virtualization" extensions:"x-nullable"` // "none" on bare metal
	CgroupCPU      *float64 `json:"cgroup_cpu_cores" extensions:"x-nullable"`
	CgroupMemory   *int64   `json:"cgroup_memory_bytes" extensions:"x-nullable"`
	Governor       *string  `json:"governor" extensions:"x-nullable"`
	Turbo          *bool    `json:"turbo" extensions:"x-nullable"`
	SMT            *bool    `json:"smt" extensions:"x-nullable"`
	Arch           string   `json:"arch" example:"amd64"`
	ArchLevel      string   `json:"arch_level" example:"v1"` // GOAMD64, GOARM64 or GORISCV64 of the build
	Go             string   `json:"go" example:"go1.26.8"`
	Build          string   `json:"build"` // version and revision of the binary
}

// Volatile are readings of a host that change by themselves; they are never hashed.
type Volatile struct {
	At          time.Time `json:"at" format:"date-time"`
	MHz         *float64  `json:"mhz" extensions:"x-nullable"` // mean of the CPUs' present clocks
	FreeMemory  *int64    `json:"free_memory_bytes" extensions:"x-nullable"`
	Load1       *float64  `json:"load1" extensions:"x-nullable"`
	Load5       *float64  `json:"load5" extensions:"x-nullable"`
	Temperature *float64  `json:"temperature_celsius" extensions:"x-nullable"`
	Uptime      *float64  `json:"uptime_s" extensions:"x-nullable"`
	ClockOffset *float64  `json:"clock_offset_s" extensions:"x-nullable"` // worker's clock minus Redis' clock
}
