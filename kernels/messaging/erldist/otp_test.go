package erldist_test

import (
	"os"
	"testing"
)

// otp returns the path of Erlang/OTP's erl, and skips the test where none is told of.
func otp(t *testing.T) string {
	t.Helper()
	return service(t, "BENCHD_TEST_OTP")
}

// service returns what a variable tells of a real counterpart, and skips the test without.
func service(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" && os.Getenv("BENCHD_REQUIRE_SERVICES") == "1" {
		t.Fatalf("%s is not set, and real services are required", variable)
	}
	if value == "" {
		t.Skipf("%s is not set", variable)
	}
	return value
}
