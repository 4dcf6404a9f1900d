# A build that the disk has no room for ends with an error, and does not keep
# checkpoints waiting, even if its transaction goes on.
#
# There is no room whenever a file tells so: a library that is loaded before that of
# the C language lets writes fail then.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir;
my $full = "$dir/full";
append_to_file("$dir/full.c", <<"C");
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* one block that only the index has */
#define WRITE(name) \\
ssize_t name(int fd, const void *data, size_t size, int64_t offset) \\
{ \\
	static ssize_t (*real)(int, const void *, size_t, int64_t); \\
	if (offset == 300 * 8192 && access("$full", F_OK) == 0) \\
	{ \\
		errno = ENOSPC; \\
		return -1; \\
	} \\
	if (!real) \\
		*(void **) &real = dlsym(RTLD_NEXT, #name); \\
	return real(fd, data, size, offset); \\
}

WRITE(pwrite)
WRITE(pwrite64)
C
plan skip_all => 'the library that lets writes fail cannot be made'
  if system("cc -shared -fPIC -o '$dir/full.so' '$dir/full.c' -ldl >'$dir/cc.out' 2>&1") != 0;

my $node = make_node('full_disk', [], 'wal_level = replica');
{
	local $ENV{LD_PRELOAD} = "$dir/full.so";
	$node->start;
}
load_helpers($node);
$node->safe_psql(
	'postgres', q{
	CREATE TABLE t (id integer, fp simhash);
	INSERT INTO t SELECT i, random_bits() FROM generate_series(1, 100000) i;
	VACUUM t;
	CHECKPOINT;
});

my $connstr = $node->connstr('postgres');
foreach my $workers (0, 2)
{
	my ($status, $stdout, $stderr) = $node->psql(
		'postgres', qq{
		ALTER TABLE t SET (parallel_workers = $workers);
		SET max_parallel_maintenance_workers = $workers;
		BEGIN;
		SAVEPOINT a;
		\\! touch "$full"
		CREATE INDEX t_fp ON t USING simhash (fp);
		\\! rm "$full"
		ROLLBACK TO a;
		\\! psql -X -q -d "$connstr" -c "SET statement_timeout = '20s'" -c CHECKPOINT
		CREATE INDEX t_fp ON t USING simhash (fp);
		COMMIT;
	}, on_error_stop => 0);
	like($stderr, qr/^psql:\S+ ERROR:  could not (write block|extend file).*No space left/,
		"$workers workers: the build ends with an error");
	is(scalar(() = $stderr =~ /ERROR/g), 1, "$workers workers: nobody else has one");
	is_sound($node, "$workers workers", 't_fp');
	$node->safe_psql('postgres', 'DROP INDEX t_fp');
}

$node->stop;
done_testing();
