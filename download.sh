#!/bin/sh
# Fetches data sets into the folder data/ beside this script. It needs curl or
# wget, sha256sum or shasum, and for archives unzip or tar. What it knows about
# the data stands in pkg/datasets/registry.tsv, which the Go program reads too.
set -u
set -f # no file name is ever a pattern

usage() {
	cat <<'END'
usage: ./download.sh              the data sets that the experiments need
       ./download.sh NAME...      these data sets
       ./download.sh all          every data set, but for those of which only an
                                  official address or no copy at all is known:
                                  these by NAME, which says what to supply
       ./download.sh --list       what there is, and what is already here
       ./download.sh --help

Files go to data/ beside this script. Every file is checked (SHA-256, if one is
known) before it gets its final name; good files are kept, and an interrupted
download is continued by the next call.

environment:
  METRICLAB_MIRROR   a folder or http(s) address with the same files under the
                     same paths; it is tried before the official sources

exit status: 0 all files are there, 1 a file could not be fetched, 2 wrong usage
END
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
registry=$here/pkg/datasets/registry.tsv
data=$here/data
archives=$data/.archives
mirror=${METRICLAB_MIRROR:-}
mirror=${mirror%/}
tab=$(printf '\t')
tmp=
done_archives=

say() { printf '%s\n' "$*"; }
complain() { printf 'download.sh: %s\n' "$*" >&2; }
die() {
	complain "$1"
	exit "${2:-1}"
}

# Complete archives have served their purpose; halves (.part) are kept.
clean_up() {
	[ -z "$tmp" ] || rm -f -- "$tmp"
	for a in $done_archives; do rm -f -- "$archives/$a"; done
	rmdir -- "$archives" 2>/dev/null
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

have() { command -v "$1" >/dev/null 2>&1; }

if have sha256sum; then
	sha256() { sha256sum | cut -c1-64; }
elif have shasum; then
	sha256() { shasum -a 256 | cut -c1-64; }
else
	die "needs sha256sum or shasum"
fi

sum_of() { sha256 <"$1"; }
size_of() { wc -c <"$1" | tr -d ' '; }

# transfer URL FILE: adds to FILE what is missing. Status 33: the server cannot
# continue. Status 23: this machine cannot write.
if have curl; then
	transfer() {
		if [ -t 2 ]; then meter=--progress-bar; else meter=--silent; fi
		curl --fail --location --show-error "$meter" --connect-timeout 30 --continue-at - --output "$2" -- "$1"
	}
elif have wget; then
	transfer() {
		if [ -t 2 ]; then meter=--progress=bar; else meter=--no-verbose; fi
		had=0
		[ ! -s "$2" ] || had=1
		wget "$meter" --timeout=30 --tries=2 --continue --output-document="$2" -- "$1"
		status=$?
		case $status in
		0) return 0 ;;
		3) return 23 ;;                                # file error
		4 | 8) return 22 ;;                            # network, or the server says no
		*) [ "$had" = 0 ] || return 33; return 22 ;;
		esac
	}
else
	transfer() {
		complain "needs curl or wget to fetch $1"
		return 22
	}
fi

# fetch URL FILE: like transfer, but starts again where continuing is impossible.
# Afterwards resumed=1 says that FILE holds bytes of an earlier call.
fetch() {
	resumed=0
	[ ! -s "$2" ] || resumed=1
	transfer "$1" "$2"
	status=$?
	if [ "$status" = 33 ] && [ "$resumed" = 1 ]; then
		resumed=0
		rm -f -- "$2"
		transfer "$1" "$2"
		status=$?
	fi
	[ -s "$2" ] || rm -f -- "$2"
	case $status in
	0) return 0 ;;
	23) die "cannot write $2" ;;
	*) complain "$1: download failed (status $status)"; return 1 ;;
	esac
}

# accept FILE FROM COMPARABLE: whether FILE may become $path.
accept() {
	if [ "$sha" = - ]; then
		complain "warning: $path: not checked: no checksum is known, so that nothing confirms what $2 delivers"
		return 0
	fi
	got=$(sum_of "$1") || return 1
	[ "$got" != "$sha" ] || return 0
	if [ "$3" = yes ]; then
		case $bytes in
		-) complain "$path from $2: SHA-256 is $got, want $sha ($(size_of "$1") bytes)" ;;
		*) complain "$path from $2: SHA-256 is $got, want $sha ($(size_of "$1") bytes, want $bytes)" ;;
		esac
		return 1
	fi
	complain "warning: $path: checksum not comparable: $2 delivers $got, the known copy has $sha ($note)"
}

# place FILE: gives FILE its final name, and removes the half of an earlier download.
place() {
	chmod 644 "$1" && mv -f -- "$1" "$data/$path" || die "cannot write $data/$path"
	rm -f -- "$data/$path.part"
}

from_folder() {
	if [ ! -f "$mirror/$path" ]; then
		complain "mirror: $mirror/$path is missing"
		return 1
	fi
	tmp=$data/$path.tmp.$$
	cp -- "$mirror/$path" "$tmp" || die "cannot copy $mirror/$path to $tmp"
	if accept "$tmp" "$mirror/$path" yes; then
		place "$tmp"
	else
		rm -f -- "$tmp"
		return 1
	fi
}

# direct URL COMPARABLE
direct() {
	part=$data/$path.part
	# Without a checksum nothing tells whether two halves belong together.
	[ "$2" = yes ] || rm -f -- "$part"
	sized=$2 # yes if the size is known, too
	[ "$bytes" != - ] || sized=no
	while :; do
		if [ "$sized" = yes ] && [ -f "$part" ] && [ "$(size_of "$part")" -ge "$bytes" ]; then
			resumed=1 # complete, or wrong: the checksum decides
		elif [ "$bytes" = - ] && [ -f "$part" ] && [ "$(sum_of "$part")" = "$sha" ]; then
			resumed=1 # complete, which only its checksum tells
		else
			fetch "$1" "$part" || return 1
			if [ "$sized" = yes ] && [ "$(size_of "$part")" -lt "$bytes" ] && [ "$resumed" = 0 ]; then
				complain "$path from $1: $(size_of "$part") bytes, want $bytes"
				rm -f -- "$part"
				return 1
			fi
		fi
		if accept "$part" "$1" "$2"; then
			place "$part"
			return 0
		fi
		rm -f -- "$part"
		[ "$resumed" = 1 ] || return 1
		# The fault may lie in what was there: once more from the start.
	done
}

# open_archive URL: sets archive to its complete copy; downloads it once.
open_archive() {
	id=$(printf '%s' "$1" | sha256 | cut -c1-16)
	base=$id-${1##*/}
	archive=$archives/$base
	resumed=0
	[ ! -f "$archive" ] || return 0
	mkdir -p -- "$archives" || die "cannot make $archives"
	say "fetching $1"
	fetch "$1" "$archive.part" || return 1
	mv -f -- "$archive.part" "$archive" || die "cannot write $archive"
	done_archives="$done_archives $base"
}

# list_members, cat_member: of $archive, which came from the URL $1.
list_members() {
	case $1 in
	*.zip) unzip -Z1 "$archive" ;;
	*) tar -tzf "$archive" ;;
	esac
}
cat_member() {
	case $1 in
	*.zip) unzip -p "$archive" "$2" ;;
	*) tar -xzOf "$archive" "$2" ;;
	esac
}

# member URL MEMBER
member() {
	case $1 in
	*.zip) tool=unzip ;;
	*) tool=tar ;;
	esac
	if ! have "$tool"; then
		complain "needs $tool to unpack $1"
		return 1
	fi
	while :; do
		open_archive "$1" || return 1
		# Archives often add a folder in front.
		entry=$(list_members "$1" </dev/null | awk -v m="$2" '
			{ n = $0; sub(/^\.\//, "", n); end = "/" m
			  if (n == m || (length(n) > length(end) && substr(n, length(n) - length(end) + 1) == end)) { print $0; exit } }')
		tmp=$data/$path.tmp.$$
		if [ -z "$entry" ]; then
			complain "$1: holds no $2"
		elif ! cat_member "$1" "$entry" </dev/null >"$tmp"; then
			complain "$1: cannot unpack $2"
		elif accept "$tmp" "$1#$2" "$comparable"; then
			place "$tmp"
			return 0
		fi
		rm -f -- "$tmp"
		[ "$resumed" = 1 ] || return 1
		rm -f -- "$archive" # the fault may lie in what was resumed
	done
}

# get_file: brings the file of the current registry line.
get_file() {
	if [ -f "$data/$path" ]; then
		if [ "$sha" = - ]; then
			say "kept     $path (not checked: no checksum is known)"
			return 0
		fi
		if [ "$(sum_of "$data/$path")" = "$sha" ]; then
			say "ok       $path"
			return 0
		fi
		if [ "$comparable" = no ]; then
			say "kept     $path (checksum not comparable)"
			return 0
		fi
		complain "$path is wrong and will be replaced"
	fi
	dir=$data/$path
	mkdir -p -- "${dir%/*}" || die "cannot make ${dir%/*}"
	case $mirror in
	'') ;;
	http://* | https://*)
		must=yes # match the checksum
		[ "$sha" != - ] || must=no
		if direct "$mirror/$path" "$must"; then
			say "fetched  $path"
			return 0
		fi ;;
	*)
		if from_folder; then
			say "copied   $path"
			return 0
		fi ;;
	esac
	if [ "$sha" = - ]; then
		complain "$path: no copy is known; supply $data/$path: $note"
		return 1
	fi
	if [ "$sources" = - ]; then
		complain "$path can only be copied from a mirror: $note"
		return 1
	fi
	for source in $sources; do
		case $source in
		*'#'*) member "${source%%#*}" "${source#*#}" ;;
		*) direct "$source" "$comparable" ;;
		esac && {
			say "fetched  $path"
			return 0
		}
	done
	[ "$bytes" != - ] || complain "$path: $note"
	return 1
}

# get_set NAME: all files of a set; fails if one does.
get_set() {
	lines=$(awk -F'\t' -v name="$1" '$1 == "file" && $2 == name' "$registry")
	failed=0
	while IFS=$tab read -r _ _ path bytes sha comparable sources note; do
		get_file || failed=1
	done <<END
$lines
END
	return "$failed"
}

names() { awk -F'\t' '$1 == "set" { print $2 }' "$registry"; }

list() {
	for name in $(names); do
		total=$(awk -F'\t' -v name="$name" '$1 == "file" && $2 == name { n += $4 }
			END { if (n == 0) printf "?"; else if (n < 1e6) printf "%.1f kB", n / 1e3; else printf "%.1f MB", n / 1e6 }' "$registry")
		shape=$(awk -F'\t' -v name="$name" '$1 == "set" && $2 == name { print $4 }' "$registry")
		state=here
		for file in $(awk -F'\t' -v name="$name" '$1 == "file" && $2 == name { print $3 }' "$registry"); do
			[ -f "$data/$file" ] || state=missing
		done
		printf '%-14s %-8s %8s  %s\n' "$name" "$state" "$total" "$shape"
	done
}

[ -r "$registry" ] || die "$registry is missing: run the script from a complete checkout"

wanted=
for arg; do
	case $arg in
	-h | --help)
		usage
		exit 0 ;;
	-l | --list)
		list
		exit 0 ;;
	-*)
		usage >&2
		die "unknown option $arg" 2 ;;
	all) wanted="$wanted $(awk -F'\t' '$1 == "set" && $3 != "named" { print $2 }' "$registry")" ;;
	*)
		names | grep -qxF -e "$arg" || die "unknown data set $arg; known are: $(names | tr '\n' ' ')" 2
		wanted="$wanted $arg" ;;
	esac
done
[ -n "$wanted" ] || wanted=$(awk -F'\t' '$1 == "set" && $3 == "yes" { print $2 }' "$registry")

bad=
for name in $wanted; do
	get_set "$name" || bad="$bad $name"
done
[ -z "$bad" ] || die "not complete:$bad"
