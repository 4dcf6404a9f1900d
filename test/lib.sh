# What test/run and test/demo/run have in common; to be sourced by a POSIX shell.
#
# The caller sets $top, the directory of the sources.  Afterwards:
#	say TEXT			print a line
#	die TEXT			print it to the standard error and exit with status 1
#	install_missing		what a build and a private server need; with an
#						argument "tests", what the tests need, too.
#						Sets $pg_config.
#	make_workplace		a temporary directory, $work, removed at exit together with
#						the servers that run in it; sets $owner, a user who is not root
#	as_owner COMMAND	run a command as that user in a clean environment
#	build_sandbox		private copy of the server with the extension in $work/sandbox

oldest_server=15

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s\n' "$*" >&2
	exit 1
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
	for pg_config in pg_config $(ls -d /usr/lib/postgresql/*/bin/pg_config 2>/dev/null |
		sort -t / -k 5nr)
	do
		complete_server "$pg_config" && return 0
	done
	return 1
}

# Debian's packages of a server: of the version that is installed in part, else
# of the newest that there is.
server_packages() {
	version=$(ls /usr/lib/postgresql 2>/dev/null | sort -n | tail -n 1)
	[ "${version:-0}" -ge "$oldest_server" ] 2>/dev/null ||
		version=$(apt-cache search --names-only '^postgresql-[0-9]+$' |
			sed -n 's/^postgresql-\([0-9]*\) .*/\1/p' | sort -n | tail -n 1)
	[ "${version:-0}" -ge "$oldest_server" ] ||
		die "apt has no PostgreSQL $oldest_server or later"
	echo "postgresql-$version postgresql-server-dev-$version"
}

missing_packages() {
	command -v make >/dev/null || echo make
	command -v gcc >/dev/null || echo gcc
	[ -e /usr/include/stdio.h ] || echo libc6-dev
	[ -e /usr/include/xxhash.h ] || [ -e /usr/local/include/xxhash.h ] ||
		echo libxxhash-dev
	find_server || server_packages
	if [ "${1:-}" = tests ]; then
		command -v prove >/dev/null || echo perl
		perl -MIPC::Run -e 1 2>/dev/null || echo libipc-run-perl
		command -v python3 >/dev/null || echo python3
	fi
}

install_missing() {
	missing=$(missing_packages "$@" | tr '\n' ' ') || exit 1
	if [ -n "$missing" ]; then
		command -v apt-get >/dev/null ||
			die "please install what these Debian packages hold: $missing"
		[ "$(id -u)" = 0 ] ||
			die "please run as root: apt-get install $missing"
		say "Installing what is missing."
		output=$(apt-get update -q=2 2>&1) || die "apt-get update failed: $output"
		# with fresh lists the newest server may be another
		missing=$(missing_packages "$@" | tr '\n' ' ') || exit 1
		say "apt-get install $missing"
		output=$(DEBIAN_FRONTEND=noninteractive apt-get install -y -q=2 \
			--no-install-recommends $missing 2>&1 </dev/null) ||
			die "apt-get install failed: $output"
	fi
	find_server || die "no PostgreSQL server with its development files was found"
}

# Servers first, then the directory; a server's own files say its process id.
remove_workplace() {
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

build_sandbox() {
	if ! "$top/test/sandbox" "$work/sandbox" "$pg_config" >"$work/build.log" 2>&1 ||
		grep -q 'warning:' "$work/build.log"
	then
		cat "$work/build.log" >&2
		die "the build failed"
	fi
}
