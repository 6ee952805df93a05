# What a developer types; `bash .ci/run` is the whole check that a change must pass.
GOLANGCI = go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
PLATFORMS = linux/amd64 linux/arm64 linux/riscv64 darwin/arm64 windows/amd64

.PHONY: run test race services lint fmt generate cross bench check

run: ## measure this machine with the quick suite
	go run . run quick

test: ## the tests, which need nothing but Go
	go test ./...

race: ## the tests with the race detector
	go test -race ./...

services: ## the tests again, with real services started for them
	BENCHD_REQUIRE_SERVICES=1 deploy/services run -- go test -count=1 ./kernels/soap ./kernels/messaging/... ./worker/queue/... ./api/... .

lint: ## the house rules
	$(GOLANGCI) run

fmt: ## lay the code out as the linter wants it
	$(GOLANGCI) fmt

generate: ## the OpenAPI document from the comments, and the README's tables
	go run ./openapi/gen
	go test -run TestReadmeTables . -update

cross: ## build for every platform, without cgo
	@for p in $(PLATFORMS); do echo "$$p" && CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -o /dev/null . || exit 1; done

bench: ## the benchmarks in the tree
	go test -run '^$$' -bench . ./...

check: ## everything, as CI does it
	bash .ci/run
