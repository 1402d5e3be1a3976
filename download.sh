#!/bin/sh
# Fetches data sets into the folder data/ beside this script. It needs curl or
# wget, sha256sum or shasum, and for archives unzip or tar. What it knows
# about the data stands in pkg/datasets/registry.tsv, which the Go program reads too.
set -u
set -f # no file name is ever a pattern

usage() {
	cat <<'END'
usage: ./download.sh              the data sets that experiments and tests need
       ./download.sh NAME...      these data sets
       ./download.sh all          every data set, but for those of which only an
                                  official address or no copy at all is known:
                                  these by NAME, which says what to supply
       ./download.sh --list       what there is, and what is already here
       ./download.sh --help

Files go to data/ beside this script. Every file is checked before it gets its
final name: by its SHA-256, or, where the official bytes are not known, by its
values, for which the script runs "go run ./cmd/metriclab data verify". Without
go such a file is only opened, and is "not confirmed". Good files are kept, and
an interrupted download is continued by the next call.

environment:
  METRICLAB_MIRROR   a folder or http(s) address with the same files under the
                     same paths; it is tried before the official sources
  METRICLAB_STALL    seconds without a byte after which a download fails (60)

exit status: 0 all files are there and checked; 1 a file could not be fetched,
or is not confirmed; 2 wrong usage
END
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
registry=$here/pkg/datasets/registry.tsv
data=$here/data
archives=$data/.archives
mirror=${METRICLAB_MIRROR:-}
mirror=${mirror%/}
stall=${METRICLAB_STALL:-60}
archive_limit=268435456 # bytes of an archive or file whose size is not known
tab=$(printf '\t')
tmp=
done_archives=

say() { printf '%s\n' "$*"; }
complain() { printf 'download.sh: %s\n' "$*" >&2; }
die() {
	complain "$1"
	exit "${2:-1}"
}

# Complete archives have served their purpose; halves (.part) are kept. All names
# are this script's own: tmp is from new_tmp, archives are named by id_of.
clean_up() {
	[ -z "$tmp" ] || rm -f -- "$tmp"
	for a in $done_archives; do rm -f -- "$archives/$a"; done
	rmdir -- "$archives" 2>/dev/null
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

have() { command -v "$1" >/dev/null 2>&1; }

case $stall in
'' | *[!0-9]* | 0*) die "METRICLAB_STALL is $stall, want a number of seconds from 1" 2 ;;
esac

if have sha256sum; then
	sha256() { sha256sum | cut -c1-64; }
elif have shasum; then
	sha256() { shasum -a 256 | cut -c1-64; }
else
	die "needs sha256sum or shasum"
fi

sum_of() { sha256 <"$1"; }
size_of() { wc -c <"$1" | tr -d ' '; }

# bounded BYTES COMMAND...: runs it with a limit on the size of the files that it
# writes. POSIX counts in blocks of 512 bytes; bash outside POSIX mode takes twice that.
# shellcheck disable=SC3045 # a shell without -c has no core files to fear
bounded() (
	ulimit -c 0 2>/dev/null
	ulimit -f $((($1 + 511) / 512)) 2>/dev/null
	shift
	"$@"
)

# unpacking COMMAND...: runs it with a limit on processor time, which a small archive
# that unpacks to terabytes would exceed.
# shellcheck disable=SC3045 # where the shell has them
unpacking() (
	ulimit -c 0 2>/dev/null
	ulimit -t 60 2>/dev/null
	"$@"
)

# check_own FILE: ends the script if something lies at a name of this script that is no
# regular file. It would be written through, and somebody else made it.
check_own() {
	if [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then
		die "$1 is not a regular file and was not made by this script; remove it"
	fi
}

# remove_own FILE: removes a part or an archive of this script.
remove_own() {
	check_own "$1"
	rm -f -- "$1"
}

# transfer URL FILE LIMIT: adds to FILE what is missing. Status 33: the server cannot
# continue. Status 23: this machine cannot write.
if have curl; then
	transfer() {
		if [ -t 2 ]; then meter=--progress-bar; else meter=--silent; fi
		curl --fail --location --proto '=http,https' --proto-redir '=http,https' --max-filesize "$3" \
			--show-error "$meter" --connect-timeout 30 --speed-limit 1 --speed-time "$stall" \
			--continue-at - --output "$2" -- "$1"
	}
elif have wget; then
	transfer() {
		if [ -t 2 ]; then meter=--progress=bar; else meter=--no-verbose; fi
		had=0
		[ ! -s "$2" ] || had=1
		wget "$meter" --timeout=30 --read-timeout="$stall" --tries=2 --continue --output-document="$2" -- "$1"
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

# too_large URL FILE LIMIT: whether a transfer that failed has reached its limit; then
# FILE is removed.
too_large() {
	[ -f "$2" ] && [ "$(size_of "$2")" -ge "$3" ] || return 1
	complain "$path from $1: more than $3 bytes"
	remove_own "$2"
}

# fetch URL FILE LIMIT: like transfer, but starts again where continuing is impossible.
# Afterwards resumed=1 says that FILE holds bytes of an earlier call.
fetch() {
	check_own "$2"
	resumed=0
	[ ! -s "$2" ] || resumed=1
	bounded "$3" transfer "$1" "$2" "$3"
	status=$?
	[ "$status" = 0 ] || ! too_large "$@" || return 1
	if [ "$status" = 33 ] && [ "$resumed" = 1 ]; then
		resumed=0
		remove_own "$2"
		bounded "$3" transfer "$1" "$2" "$3"
		status=$?
		[ "$status" = 0 ] || ! too_large "$@" || return 1
	fi
	[ -s "$2" ] || remove_own "$2"
	case $status in
	0) return 0 ;;
	23) die "cannot write $2" ;;
	28) complain "$path from $1: download failed (no byte for $stall seconds, or no connection)" ;;
	63) complain "$path from $1: more than $3 bytes" ;;
	*) complain "$path from $1: download failed (status $status)" ;;
	esac
	return 1
}

# begins FILE HEX: whether FILE begins with these bytes.
begins() { [ "$(dd if="$1" bs=1 count=$((${#2} / 2)) 2>/dev/null | od -An -v -tx1 | tr -d ' \n')" = "$2" ]; }

# right_kind FILE FROM: whether FILE is of the kind that the registry names, as far as
# it can be seen without the readers of the Go program.
right_kind() {
	case ${content%% *} in
	-) return 0 ;;
	prtools | mat-triplets)
		begins "$1" 4d41544c414220352e30204d41542d66696c65 && return 0
		what='MATLAB 5 MAT-file' ;;
	zip-*)
		have unzip || die "needs unzip to check $path"
		begins "$1" 504b0304 && unpacking unzip -tqq "$1" </dev/null >/dev/null 2>&1 && return 0
		what='whole zip' ;;
	tar-*)
		begins "$1" 1f8b && unpacking tar -tzf "$1" </dev/null >/dev/null 2>&1 && return 0
		what='whole tar.gz' ;;
	csv)
		# Cells on the first line, and no markup.
		awk 'NR == 1 { ok = /,/ && !/^[ \t]*</ } END { exit !ok }' "$1" && return 0
		what='CSV table' ;;
	*) die "$registry: $path: unknown kind ${content%% *}: run the script from a complete checkout" ;;
	esac
	complain "$path from $2: wrong kind: no $what ($(size_of "$1") bytes)"
	return 1
}

# confirm FILE FROM: asks the Go program whether FILE holds the values of the known copy.
# Status 0: it does; 1: it does not; 2: nobody can say, since there is no go.
confirm() {
	have go || return 2
	verdict=$(cd "$here" && go run ./cmd/metriclab data verify --as "$path" "$1" </dev/null 2>/dev/null)
	case $verdict in
	"$path: ok"* | "$path: not verified"*) return 0 ;;
	"$path: "*)
		complain "$path from $2: ${verdict#"$path: "}"
		return 1 ;;
	esac
	return 2
}

# accept FILE FROM: whether FILE may become $path. lenient=yes accepts, with
# confirmed=no, what only the Go program could confirm.
accept() {
	confirmed=yes
	if [ "$sha" = - ]; then
		right_kind "$1" "$2" || return 1
		confirm "$1" "$2"
		[ $? != 1 ] || return 1
		complain "warning: $path: not verified: no checksum is known, so that nothing confirms what $2 delivers"
		return 0
	fi
	got=$(sum_of "$1") || return 1
	[ "$got" != "$sha" ] || return 0
	if [ "$comparable" = yes ]; then
		case $bytes in
		-) complain "$path from $2: SHA-256 is $got, want $sha ($(size_of "$1") bytes)" ;;
		*) complain "$path from $2: SHA-256 is $got, want $sha ($(size_of "$1") bytes, want $bytes)" ;;
		esac
		return 1
	fi
	right_kind "$1" "$2" || return 1
	confirm "$1" "$2"
	case $? in
	0) return 0 ;;
	1) return 1 ;;
	esac
	confirmed=no
	[ "$lenient" = no ] || return 0
	complain "$path from $2: SHA-256 is $got, want $sha; without go its values cannot be compared"
	return 1
}

# place FILE: gives FILE its final name, and removes the half of an earlier download.
place() {
	[ ! -d "$data/$path" ] || die "$data/$path is a folder, want a file"
	chmod 644 "$1" && mv -f -- "$1" "$data/$path" || die "cannot write $data/$path"
	tmp=
	remove_own "$data/$path.part"
}

# new_tmp: sets tmp to a new file beside $path. noclobber makes the file and never
# opens one that is there, be it a link. metriclab sweeps such names when a kill left them.
new_tmp() {
	n=0
	while [ "$n" -lt 100 ]; do
		new=$dir/.metriclab-$$$n.tmp
		if (set -C && : >"$new") 2>/dev/null; then
			tmp=$new
			return 0
		fi
		n=$((n + 1))
	done
	die "cannot make a file in $dir"
}

# drop_tmp: removes it.
drop_tmp() {
	rm -f -- "$tmp"
	tmp=
}

from_folder() {
	if [ ! -f "$mirror/$path" ]; then
		complain "mirror: $mirror/$path is missing"
		return 1
	fi
	if [ "$(size_of "$mirror/$path")" -gt "$limit" ]; then
		complain "$path from $mirror/$path: $(size_of "$mirror/$path") bytes, want at most $limit"
		return 1
	fi
	new_tmp
	cp -- "$mirror/$path" "$tmp" || die "cannot copy $mirror/$path to $tmp"
	if accept "$tmp" "$mirror/$path"; then
		place "$tmp"
	else
		drop_tmp
		return 1
	fi
}

# direct URL
direct() {
	part=$data/$path.part
	# Without a checksum nothing tells whether two halves belong together.
	[ "$comparable" = yes ] || remove_own "$part"
	sized=$comparable # yes if the size is known, too
	[ "$bytes" != - ] || sized=no
	while :; do
		check_own "$part"
		if [ "$sized" = yes ] && [ -f "$part" ] && [ "$(size_of "$part")" -ge "$bytes" ]; then
			resumed=1 # complete, or wrong: the checksum decides
		elif [ "$bytes" = - ] && [ -f "$part" ] && [ "$(sum_of "$part")" = "$sha" ]; then
			resumed=1 # complete, which only its checksum tells
		else
			if ! fetch "$1" "$part" "$limit"; then
				[ "$comparable" = yes ] || remove_own "$part"
				return 1
			fi
			if [ "$sized" = yes ] && [ "$(size_of "$part")" -lt "$bytes" ] && [ "$resumed" = 0 ]; then
				complain "$path from $1: $(size_of "$part") bytes, want $bytes"
				remove_own "$part"
				return 1
			fi
		fi
		if accept "$part" "$1"; then
			place "$part"
			return 0
		fi
		remove_own "$part"
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
	[ ! -L "$archives" ] || die "$archives is a link and was not made by this script; remove it"
	check_own "$archive"
	[ ! -f "$archive" ] || return 0
	mkdir -p -- "$archives" || die "cannot make $archives"
	say "fetching $1"
	fetch "$1" "$archive.part" "$archive_limit" || return 1
	mv -f -- "$archive.part" "$archive" || die "cannot write $archive"
	done_archives="$done_archives $base"
}

# list_members, cat_member: of $archive, which came from the URL $1.
list_members() {
	case $1 in
	*.zip) unpacking unzip -Z1 "$archive" ;;
	*) unpacking tar -tzf "$archive" ;;
	esac
}
cat_member() {
	case $1 in
	*.zip) unpacking unzip -p "$archive" "$2" ;;
	*) unpacking tar -xzOf "$archive" -- "$2" ;;
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
		# Archives often add a folder in front. A name that unzip or tar could take for an
		# option or a pattern is no member: tar has options that run programs.
		entry=$(list_members "$1" </dev/null | awk -v m="$2" '
			/^-/ || /[][*?\\]/ { next }
			{ n = $0; sub(/^\.\//, "", n); end = "/" m
			  if (n == m || (length(n) > length(end) && substr(n, length(n) - length(end) + 1) == end)) { print $0; exit } }')
		new_tmp
		if [ -z "$entry" ]; then
			complain "$1: holds no $2"
		elif ! bounded "$limit" cat_member "$1" "$entry" </dev/null >"$tmp"; then
			complain "$1: cannot unpack $2"
		elif accept "$tmp" "$1#$2"; then
			place "$tmp"
			return 0
		fi
		drop_tmp
		[ "$resumed" = 1 ] || return 1
		remove_own "$archive" # the fault may lie in what was resumed
	done
}

# done_with WORD: says how the file came; fails if nobody has confirmed it.
done_with() {
	if [ "$confirmed" = yes ]; then
		say "$1 $path"
		return 0
	fi
	say "$1 $path (not confirmed)"
	not_confirmed
}
not_confirmed() {
	complain "$path is not confirmed: its SHA-256 is not that of the known copy ($note); to compare its values, install go and run: go run ./cmd/metriclab data verify $name"
	return 1
}

# get_file: brings the file of the current registry line.
get_file() {
	lenient=no
	kept=no
	case $bytes in
	-) limit=$archive_limit ;;
	*)
		limit=$bytes
		[ "$comparable" = yes ] || limit=$((4 * bytes + 1048576)) ;;
	esac
	[ ! -d "$data/$path" ] || die "$data/$path is a folder, want a file"
	check_own "$data/$path.part"
	if [ -f "$data/$path" ]; then
		if [ "$sha" = - ]; then
			if ! right_kind "$data/$path" "$data"; then
				complain "$path is left as it is: $note"
				return 1
			fi
			confirm "$data/$path" "$data"
			if [ $? = 1 ]; then
				complain "$path is left as it is: $note"
				return 1
			fi
			say "kept     $path (not verified: no checksum is known)"
			return 0
		fi
		if [ "$(sum_of "$data/$path")" = "$sha" ]; then
			say "ok       $path"
			return 0
		fi
		if [ "$comparable" = no ] && right_kind "$data/$path" "$data"; then
			confirm "$data/$path" "$data"
			case $? in
			0)
				say "ok       $path (other bytes, the same values)"
				return 0 ;;
			2) kept=yes ;; # until there is a confirmed copy
			esac
		fi
		[ "$kept" = yes ] || complain "$path is wrong and will be replaced"
	fi
	dir=$data/$path
	dir=${dir%/*}
	mkdir -p -- "$dir" || die "cannot make $dir"
	case $mirror in
	'') ;;
	http://* | https://*)
		if direct "$mirror/$path"; then
			done_with "fetched "
			return
		fi ;;
	*)
		if from_folder; then
			done_with "copied  "
			return
		fi ;;
	esac
	if [ "$sha" = - ]; then
		complain "$path: no copy is known; supply $data/$path: $note"
		return 1
	fi
	lenient=yes
	[ "$kept" = no ] || lenient=no
	if [ "$sources" = - ]; then
		complain "$path can only be copied from a mirror: $note"
	else
		for source in $sources; do
			case $source in
			*'#'*) member "${source%%#*}" "${source#*#}" ;;
			*) direct "$source" ;;
			esac && {
				done_with "fetched "
				return
			}
		done
	fi
	if [ "$kept" = yes ]; then
		say "kept     $path (not confirmed)"
		not_confirmed
		return
	fi
	[ "$bytes" != - ] || complain "$path: $note"
	return 1
}

# get_set NAME: all files of a set; fails if one does.
get_set() {
	lines=$(awk -F'\t' -v name="$1" '$1 == "file" && $2 == name' "$registry")
	failed=0
	while IFS=$tab read -r _ _ path bytes sha comparable content sources note; do
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
		# shellcheck disable=SC2013 # no path of the registry has a blank
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
