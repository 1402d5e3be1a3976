# Thin: each target is one line that calls go or a script.
.PHONY: check test short bench run report notebooks notebooks-kernel notebooks-update clean-out

check: ; bash .ci/run --no-notebooks
test: ; go test ./...
short: ; go test -short ./...
bench: ; go test -run '^$$' -bench . ./...
run: ; go run ./cmd/metriclab run
report: ; go run ./cmd/metriclab report
notebooks: ; notebooks/run.sh execute
notebooks-kernel: ; notebooks/run.sh kernel
notebooks-update: ; notebooks/run.sh update
clean-out: ; rm -rf out
