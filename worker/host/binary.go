package host

import (
	"runtime"
	"runtime/debug"

	"benchd/worker/bench"
)

// readBinary fills in the facts of the running binary itself, which need no machine to be
// read. A build that is given wins over what the Go tool stamped.
func readBinary(f *bench.Facts, build string) {
	f.Arch = runtime.GOARCH
	f.ArchLevel = defaultLevel(runtime.GOARCH)
	f.Go = runtime.Version()
	f.OS = runtime.GOOS
	f.Build = build
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	if build == "" {
		f.Build = buildName(info)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOAMD64", "GOARM64", "GOARM", "GORISCV64":
			f.ArchLevel = s.Value
		}
	}
}

// defaultLevel is what the compiler builds for when it is told nothing else; the Go tool
// stamps the level only when it builds a main package.
func defaultLevel(arch string) string {
	switch arch {
	case "amd64":
		return "v1"
	case "arm64":
		return "v8.0"
	case "riscv64":
		return "rva20u64"
	default:
		return ""
	}
}

// buildName tells the version and the revision that the Go tool stamped, such as
// "v1.2.0 3f1c9a7e21bd", with a mark on builds from a changed work tree.
func buildName(info *debug.BuildInfo) string {
	name := info.Main.Version
	if name == "" {
		name = "(devel)"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			name += " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			name += " modified"
		}
	}
	return name
}
