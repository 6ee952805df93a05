// Package catalog is the list of the families of kernels that benchd has. Adding a family
// is one folder beside this one and one line here; nothing registers itself.
package catalog

import (
	"benchd/kernels"
	"benchd/kernels/messaging"
	"benchd/kernels/scimark"
	"benchd/kernels/soap"
)

// Families returns every family, in the order in which they are listed and run.
func Families() []kernels.Family {
	return []kernels.Family{
		scimark.Family(),
		soap.Family(),
		messaging.Family(),
	}
}
