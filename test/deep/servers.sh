# What upgrade and exchange do with servers in the working directory; to be sourced by a
# POSIX shell.  Sets $sql, the directory of test/upgrade; $passed and $failed are counted.
sql=$here/../upgrade
dir=$(pwd)
export LC_ALL=C.UTF-8 PGHOST="$dir" PGPORT=65434 PGDATABASE=postgres PGUSER=postgres
passed=0
failed=0

# those that still run
stop_all() {
	for pid in "$dir"/*/postmaster.pid; do
		[ ! -e "$pid" ] || kill -QUIT "$(head -n 1 "$pid")" || :
	done
}
trap stop_all EXIT

# a name, a file for what the test says, whose first lines are shown if it fails, and the test
test_that() {
	name=$1
	log=$2
	shift 2
	if "$@" >"$log" 2>&1; then
		echo "ok - $name"
		passed=$((passed + 1))
	else
		echo "not ok - $name"
		sed 's/^/# /; 100q' "$log"
		failed=$((failed + 1))
	fi
}

# the programs of a server, and a data directory
init() {
	"$1/initdb" -D "$2" -U postgres --no-locale -E UTF8 -N --no-instructions \
		$("$1/initdb" --help | sed -n 's/.*\(--no-data-checksums\).*/\1/p') &&
		printf "%s\n" "fsync = off" "jit = off" "listen_addresses = ''" \
			"unix_socket_directories = '$dir'" "port = $PGPORT" >>"$2/postgresql.conf"
}
start() {
	"$1/pg_ctl" -D "$2" -l "$dir/$2.log" -w start
}

# the programs of a server, and files
run_sql() {
	psql=$1/psql
	shift
	for file in "$@"; do
		"$psql" -XqAt -v ON_ERROR_STOP=1 -f "$file" || return
	done
}
make_objects() {
	run_sql "$1" "$here/../fingerprints.sql" "$sql/objects.sql" "$sql/many.sql"
}
ask() {
	run_sql "$1" "$sql/checks.sql" "$sql/many_checks.sql"
}

end_of_tests() {
	echo "$passed passed, $failed failed, 0 skipped"
	[ "$failed" -eq 0 ]
}
