# Thin: each target is one line that calls go or a script.
.PHONY: check extended test short bench fuzz torture run report play site notebooks notebooks-kernel notebooks-update release wheel

# Time per fuzz target, as in make fuzz T=10m.
T = 1m

check: ; bash .ci/run --no-notebooks
extended: ; bash .ci/extended
test: ; go test ./...
short: ; go test -short ./...
bench: ; go test -run '^$$' -bench . ./...
fuzz: ; go run ./internal/tools/fuzz -time $(T) -minimize 1000x
torture: ; go run ./internal/tools/torture
run: ; go run ./cmd/metriclab run
report: ; go run ./cmd/metriclab report
play: ; go run ./internal/tools/play
site: play ; go run ./internal/tools/site
notebooks: ; notebooks/run.sh execute
notebooks-kernel: ; notebooks/run.sh kernel
notebooks-update: ; notebooks/run.sh update
release: ; bash scripts/release
wheel: ; bash scripts/wheel
