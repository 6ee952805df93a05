package soap

import (
	"time"

	"benchd/kernels"
)

// SetPatience makes a trial that has not called yet wait so long for answers.
func SetPatience(t kernels.Trial, patience time.Duration) {
	switch t := t.(type) {
	case *trial:
		t.client.guard.patience = patience
	case *attachmentTrial:
		t.client.guard.patience = patience
	}
}
