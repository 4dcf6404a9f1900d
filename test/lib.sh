# What the scripts in this directory have in common; to be sourced by a POSIX shell.
#
# The caller sets $top, the directory of the sources.  Afterwards:
#	say TEXT			print a line
#	die TEXT			print it to the standard error and exit with status 1
#	telling WHAT COMMAND
#						run a command; meanwhile WHAT, a function that prints a line, is
#						called every few seconds, so that nobody waits in the dark
#	stop_telling		end that before the last line of a script that dies meanwhile
#	tell_seconds		such a function: $doing, and for how long
#	tell_log			another one: $doing, and the last line of $log
#	machine				print the processor, the number of CPUs and the load, for a benchmark
#	find_mirror			set $mirror, where it is empty, to the mirror of Debian that apt knows
#	require_server		find a server with its development files; sets $pg_config
#	make_workplace		a temporary directory, $work, removed at exit together with
#						the servers that run in it; sets $owner, a user who is not root
#	as_owner COMMAND	run a command as that user in a clean environment
#	build_sandbox [GOAL...]
#						private copy of the server with the extension in $work/sandbox;
#						see test/sandbox.  The compiler's messages are in $work/build.log.
#	start_server NAME DIRECTORY
#						start the private server of a directory with $work/run/NAME for its
#						data and $work/run for its socket; further lines of its
#						configuration are read from the standard input

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s\n' "$*" >&2
	exit 1
}

telling() {
	tell_what=$1
	tell_since=$(date +%s)
	shift
	# what is left of the last sleep keeps no pipe open
	(
		while sleep 5 >/dev/null 2>&1; do
			$tell_what || :
		done
	) &
	teller=$!
	told=0
	"$@" || told=$?
	stop_telling
	return "$told"
}

stop_telling() {
	[ -n "${teller:-}" ] || return 0
	kill "$teller" 2>/dev/null || :
	wait "$teller" 2>/dev/null || :
	teller=
}

machine() {
	echo "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) CPUs,\
 load $(cut -d ' ' -f 1-3 /proc/loadavg 2>/dev/null)"
}

seconds() {
	echo "$(($(date +%s) - tell_since)) s"
}

tell_seconds() {
	say "  $doing ($(seconds))"
}

tell_log() {
	say "  $doing ($(seconds)): $(tr '\r' '\n' <"$log" | sed '/./!d' | tail -n 1 | cut -c 1-90)"
}

debian_mirror() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' |
		head -n 1
}

find_mirror() {
	[ -n "${mirror:-}" ] || mirror=$(debian_mirror)
	[ -n "$mirror" ] || {
		[ "$(id -u)" != 0 ] || apt-get update -q=2 >/dev/null 2>&1 || :
		mirror=$(debian_mirror)
	}
	[ -n "$mirror" ] || die "apt knows no mirror of Debian; name one with -m"
}

# Is this the pg_config of a complete server with its development files?
complete_server() {
	[ -x "$("$1" --bindir 2>/dev/null)/postgres" ] &&
		[ -e "$("$1" --includedir-server)/postgres.h" ] &&
		[ -e "$("$1" --pgxs)" ]
}

# Set pg_config: what the user asks for, else that on the PATH, else the newest.
find_server() {
	if [ -n "${PG_CONFIG:-}" ]; then
		pg_config=$PG_CONFIG
		complete_server "$pg_config" ||
			die "$pg_config does not belong to a PostgreSQL server with its development files"
		return 0
	fi
	for pg_config in pg_config $(ls -d /usr/lib/postgresql/*/bin/pg_config \
		/usr/pgsql-*/bin/pg_config 2>/dev/null | sort -rV)
	do
		complete_server "$pg_config" && return 0
	done
	return 1
}

# The same, or the reason why there is none.
require_server() {
	find_server || die "there is no PostgreSQL server with its development files; as root on Debian, make deps installs one"
}

# Servers first, then the directory; a server's own files say its process id.
remove_workplace() {
	stop_telling
	[ -z "${workers:-}" ] || kill $workers 2>/dev/null || :
	for pid_file in $(find "$work" -name postmaster.pid 2>/dev/null); do
		pid=$(head -n 1 "$pid_file" 2>/dev/null) || continue
		kill -QUIT "$pid" 2>/dev/null || continue
		for wait in 1 2 3 4 5 6 7 8 9 10; do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.5
		done
	done
	rm -rf "$work"
}

make_workplace() {
	# short, because the path of a Unix socket must not exceed 107 bytes
	parent=${TMPDIR:-/tmp}
	[ ${#parent} -le 40 ] || parent=/tmp
	work=$(mktemp -d "$parent/simhash.XXXXXX")
	trap remove_workplace EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM

	owner=$(id -un)
	if [ "$(id -u)" = 0 ]; then
		owner=nobody
		! id -u postgres >/dev/null 2>&1 || owner=postgres
	fi
	chmod 755 "$work"
	mkdir "$work/run" "$work/tmp"
	[ "$(id -u)" != 0 ] || chown "$owner" "$work/run" "$work/tmp"
}

as_owner() {
	(
		cd "$work/run"
		set -- env -i HOME="$work/run" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 \
			PATH="$work/sandbox/bin:/usr/local/bin:/usr/bin:/bin" USER="$owner" \
			LOGNAME="$owner" "$@"
		[ "$(id -u)" != 0 ] || set -- runuser -u "$owner" -- "$@"
		exec "$@"
	)
}

# Files of the library that are compiled, then what is left to do
tell_build() {
	[ -d "$work/sandbox/build/src" ] || return 0
	files=0 compiled=0
	header=$(find "$work/sandbox/build/src" -name '*.h' -exec ls -t {} + | sed -n 1p)
	for file in "$work"/sandbox/build/src/*/*.c; do
		files=$((files + 1))
		[ ! "${file%.c}.o" -nt "$file" ] || [ ! "${file%.c}.o" -nt "$header" ] || compiled=$((compiled + 1))
	done
	if [ "$compiled" -lt "$files" ]; then
		say "  compiled $compiled of $files files ($(seconds))"
	else
		say "  building ${build_goals:+the unit tests and }the copy ($(seconds))"
	fi
}

build_sandbox() {
	say "Building the extension, for a private copy of $("$pg_config" --version)."
	build_goals=$*
	telling tell_build make_sandbox "$@" || {
		cat "$work/build.log" >&2
		die "the build failed"
	}
}
make_sandbox() {
	"$top/test/sandbox" "$work/sandbox" "$pg_config" "$@" >"$work/build.log" 2>&1
}

make_cluster() {
	{
		[ -d "$work/run/template" ] ||
			as_owner "$2/bin/initdb" -D template -A trust -U "$owner" --no-locale -E UTF8 --no-sync
	} && as_owner cp -a template "$1" &&
		{ printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$work/run'" && cat; } \
			>>"$work/run/$1/postgresql.conf" &&
		as_owner "$2/bin/pg_ctl" -D "$1" -w -s -l "$1.log" start
}

logged_cluster() {
	make_cluster "$@" >"$work/$1.log" 2>&1
}

start_server() {
	doing='starting a server'
	telling tell_seconds logged_cluster "$@" || {
		cat "$work/$1.log" "$work/run/$1.log" >&2
		die "the server did not start"
	}
}
