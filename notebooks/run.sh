#!/usr/bin/env bash
# Runs the notebooks without a browser, or opens them in one. See README.md.
set -euo pipefail

usage() {
	cat <<'END'
usage: notebooks/run.sh kernel            build GoNB into .bin and install its kernel into .jupyter
       notebooks/run.sh completion        build gopls into .bin, with which GoNB completes names; open does so, too
       notebooks/run.sh execute [NAME...] execute into notebooks/.executed and check, also against the committed outputs
       notebooks/run.sh update [NAME...]  execute, check, and replace the committed notebooks
       notebooks/run.sh grade TESTS FILE  run the tests in notebooks/homework on the homework in a student's notebook
       notebooks/run.sh open              start Jupyter Notebook here
       notebooks/run.sh html [NAME...]    write out/html/NAME.html: a page that shows the same without network or Jupyter

NAME is a file without folder, such as 00_start_here.ipynb; none means all.
END
}

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$here")

# The cells use a go.work of their own, which both settings would break.
unset GOWORK
export GOFLAGS=-buildvcs=false
export PATH="$root/.bin:$PATH"
export JUPYTER_PATH="$root/.jupyter"

# GoNB compiles below TMPDIR, and leaves that where its kernel is killed. What is started here gets a folder of its own, which goes with it.
sweep() {
	TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/metriclab-notebooks-XXXXXX")
	export TMPDIR
	trap 'rm -rf -- "$TMPDIR"' EXIT
}

kernel() {
	mkdir -p "$root/.bin"
	GOBIN="$root/.bin" go -C "$here" install tool
	go -C "$here" build ./... # so that cells download and compile little
	go -C "$root" build -o /dev/null ./cmd/metriclab # go run in a cell would say what it downloads
	local log
	log=$(JUPYTER_DATA_DIR="$root/.jupyter" "$root/.bin/gonb" --install --force_deps --raw_error 2>&1) || {
		echo "$log" >&2
		exit 1
	}
}

completion() { GOBIN="$root/.bin" go install golang.org/x/tools/gopls@v0.23.0; }

need() {
	command -v jupyter >/dev/null && jupyter "$1" --version >/dev/null 2>&1 || {
		echo "notebooks/run.sh: jupyter $1 is not installed; on Debian: apt-get install --no-install-recommends $2" >&2
		exit 1
	}
}

execute() { # check's flags, then names
	local flags=() names=()
	while [[ ${1-} == -* ]]; do flags+=("$1"); shift; done
	names=("$@")
	cd -- "$here"
	[[ ${#names[@]} -gt 0 ]] || names=(*.ipynb)
	need nbconvert jupyter-nbconvert
	kernel
	sweep
	# Jobs that an earlier version of the code finished would hide a change. Only
	# metriclab makes a folder .cells; what readers keep beside it stays.
	rm -rf "$root/out/notebooks/.cells"
	rm -f .executed/*.ipynb .executed/*.ipynb.log .executed/times.csv
	local name start TIMEFORMAT='%U %S' used
	for name in "${names[@]}"; do
		start=$SECONDS
		mkdir -p .executed
		used=$({ time jupyter nbconvert --to notebook --execute --allow-errors --log-level=WARN \
			--ExecutePreprocessor.timeout=600 --ExecutePreprocessor.record_timing=False \
			--output-dir .executed "$name" >".executed/$name.log" 2>&1; } 2>&1) || {
			cat ".executed/$name.log" # GoNB logs much; it matters only here
			echo "notebooks/run.sh: jupyter nbconvert failed on $name" >&2
			exit 1
		}
		awk -v name="$name" '{ printf "%s,%.0f\n", name, $1 + $2 }' <<<"$used" >>.executed/times.csv
		echo "executed $name in $((SECONDS - start)) s"
	done
	go run ./check "${flags[@]}" "${names[@]}"
}

grade() { # tests, a student's notebook
	local tests student
	tests=$(realpath -- "$1") student=$(realpath -- "$2")
	cd -- "$here"
	need nbconvert jupyter-nbconvert
	kernel
	sweep
	trap 'rm -rf -- "$TMPDIR" graded.ipynb' EXIT
	mkdir -p .executed
	rm -f .executed/graded.ipynb # of the student before
	go run ./check -grade "$tests" "$student" >graded.ipynb
	# A cell that does not end is interrupted, and the next ones run.
	jupyter nbconvert --to notebook --execute --allow-errors --log-level=WARN --ExecutePreprocessor.timeout=120 \
		--ExecutePreprocessor.interrupt_on_timeout=True --output-dir .executed graded.ipynb >.executed/graded.ipynb.log 2>&1 || {
		cat .executed/graded.ipynb.log
		echo "notebooks/run.sh: jupyter nbconvert failed on $student" >&2
		exit 1
	}
	go run ./check -verdicts .executed/graded.ipynb
}

command=${1-}
[[ $# -gt 0 ]] && shift
case $command in
kernel) kernel ;;
completion) completion ;;
execute) execute "$@" ;;
grade)
	[[ $# -eq 2 ]] || {
		usage >&2
		exit 2
	}
	grade "$@"
	;;
update)
	execute -compare=false "$@"
	cd -- "$here"
	cp .executed/*.ipynb .
	# The seconds of computing of each notebook, as measured last; make site shows them.
	for name in *.ipynb; do cat .executed/times.csv times.csv | grep -m1 "^$name," || true; done >.executed/all.csv
	mv .executed/all.csv times.csv
	;;
html)
	cd -- "$here"
	[[ $# -gt 0 ]] || set -- *.ipynb
	cd -- "$root"
	go run ./internal/tools/site notebooks out/html "${@/#/notebooks/}"
	;;
open)
	need notebook jupyter-notebook
	kernel
	completion || echo "notebooks/run.sh: without gopls names are not completed; all else works" >&2
	cd -- "$here"
	sweep
	jupyter notebook "$@"
	;;
*)
	usage >&2
	exit 2
	;;
esac
