package host

import (
	"context"
	"os"

	"benchd/worker/bench"
)

// readPlatform reads this machine from its own files, and from the processor what they leave
// open. Nothing here waits, so there is nothing to break off.
func readPlatform(_ context.Context, s *bench.HostSnapshot) {
	readTree(tree{files: os.DirFS("/"), hypervisor: chipHypervisor()}, s)
	askChip(s)
}
