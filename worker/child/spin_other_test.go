//go:build !linux

package child_test

// parentEnv makes the test binary a parent; only Linux has tests of that kind.
const parentEnv = "CHILD_TEST_PARENT"

func beParent() {}

func look() string { return "?" }
