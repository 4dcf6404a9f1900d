# A build that the disk has no room for ends with an error, and does not keep
# checkpoints waiting, even if its transaction goes on.  Neither does a build that
# waits for the disk, and what it has not written yet is not lost, neither by a
# crash nor for a base backup.  A search of a whole table that has no room for
# temporary files ends with an error, too, and leaves none.
#
# There is no room whenever a file tells so: a library that is loaded before that of
# the C language lets writes fail then, or wait.

use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(usleep);

my $dir = PostgreSQL::Test::Utils::tempdir;
my $full = "$dir/full";
my $full_of_temporary = "$dir/full_of_temporary";
my $slow = "$dir/slow";
my $waiting = "$dir/waiting";
append_to_file("$dir/full.c", <<"C");
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int
is_in(int fd, const char *directory)
{
	char		link[64];
	char		path[1024] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, directory) != NULL;
}

/* one block that only the index has */
static int
is_index(int fd, int64_t offset)
{
	return offset == 300 * 8192 && is_in(fd, "/base/");
}

static int
is_full(int fd, int64_t offset)
{
	if (is_index(fd, offset) && access("$full", F_OK) == 0)
		return 1;
	return access("$full_of_temporary", F_OK) == 0 && is_in(fd, "pgsql_tmp");
}

/* a page that is not of zeros waits, and tells so */
static void
wait_if_slow(int fd, const void *data, int64_t offset)
{
	if (!is_index(fd, offset) || ((const uint16_t *) data)[7] == 0 || access("$slow", F_OK) != 0)
		return;
	close(open("$waiting", O_CREAT | O_WRONLY, 0600));
	while (access("$slow", F_OK) == 0)
		usleep(1000);
}

#define WRITE(name) \\
ssize_t name(int fd, const void *data, size_t size, int64_t offset) \\
{ \\
	static ssize_t (*real)(int, const void *, size_t, int64_t); \\
	wait_if_slow(fd, data, offset); \\
	if (is_full(fd, offset)) \\
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

sub start_with_library
{
	my ($node) = @_;

	local $ENV{LD_PRELOAD} = "$dir/full.so";
	$node->start;
	return;
}

my $node = make_node('full_disk', [ allows_streaming => 1 ], 'max_worker_processes = 16',
	'max_parallel_workers = 16', 'min_parallel_index_scan_size = 0');
start_with_library($node);
load_helpers($node);
$node->safe_psql('postgres', q{
	CREATE TABLE t (id integer, fp simhash);
	INSERT INTO t SELECT i, random_bits() FROM generate_series(1, 100000) i;
	INSERT INTO t SELECT -id, flip_bits(fp::bigint, 3)::simhash FROM t WHERE id % 10 = 0;
	VACUUM t;
	CHECKPOINT;
});

my $connstr = $node->connstr('postgres');
my $timeout = $PostgreSQL::Test::Utils::timeout_default;
foreach my $workers (0, 2)
{
	my ($status, $stdout, $stderr) = $node->psql('postgres', qq{
		ALTER TABLE t SET (parallel_workers = $workers);
		SET max_parallel_maintenance_workers = $workers;
		BEGIN;
		SAVEPOINT a;
		\\! touch "$full"
		CREATE INDEX t_fp ON t USING simhash (fp);
		\\! rm "$full"
		ROLLBACK TO a;
		\\! psql -X -q -d "$connstr" -c "SET statement_timeout = '${timeout}s'" -c CHECKPOINT
		CREATE INDEX t_fp ON t USING simhash (fp);
		COMMIT;
	}, on_error_stop => 0);
	like($stderr, qr/^psql:\S+ ERROR:  could not (write block|extend file).*No space left/,
		"$workers workers: the build ends with an error");
	is(scalar(() = $stderr =~ /ERROR/g), 1, "$workers workers: nobody else has one");
	is_sound($node, "$workers workers", 't_fp');
	$node->safe_psql('postgres', 'DROP INDEX t_fp');
}

# A checkpoint, and a base backup with its own, while the first write of many waits.
foreach my $workers (0, 2)
{
	my $what = "$workers workers, a slow disk";
	append_to_file($slow, '');
	my $build = IPC::Run::start(
		[
			'psql', '-X', '-q', '-d', $connstr, '-c', "ALTER TABLE t SET (parallel_workers = $workers)",
			'-c', "SET max_parallel_maintenance_workers = $workers", '-c', 'CREATE INDEX t_fp ON t USING simhash (fp)'
		]);
	for (my $tries = 100 * $timeout; !-e $waiting && $tries > 0; $tries--)
	{
		usleep(10_000);
	}
	ok(-e $waiting, "$what: the build waits");
	my ($status, $stdout, $stderr) = $node->psql('postgres', qq{
		SET statement_timeout = '${timeout}s';
		CHECKPOINT;
		SELECT count(*) FROM pg_stat_progress_create_index;
	});
	is("$stderr$stdout", '1', "$what: a checkpoint does not");
	my $standby = PostgreSQL::Test::Cluster->new("standby_$workers");
	if ($stderr eq '')
	{
		$node->backup("backup_$workers");
		$standby->init_from_backup($node, "backup_$workers", has_streaming => 1);
	}
	unlink $slow, $waiting;
	ok($build->finish, "$what: the build ends");
	is_sound($node, $what, 't_fp');
	if ($stderr eq '')
	{
		$standby->start;
		$node->wait_for_catchup($standby);
		is_sound($standby, "$what, a base backup", 't_fp');
		$standby->stop;
	}
	$node->stop('immediate');
	start_with_library($node);
	is_sound($node, "$what, after a crash", 't_fp');
	$node->safe_psql('postgres', 'DROP INDEX t_fp');
}

# what is below the directory of temporary files
sub temporary_files
{
	my $directory = $node->data_dir . '/base/pgsql_tmp';

	return -d $directory ? grep { !/^\.\.?$/ } slurp_dir($directory) : ();
}

# A search that sorts more entries than memory has room for.  Workers write no files.
$node->safe_psql('postgres', 'CREATE INDEX t_fp ON t USING simhash (fp)');
my $search = "SELECT count(*), sum(hashtextextended(f::text, 0)) FROM simhash_find_all('t_fp', 6) f";
my $settings = "SET maintenance_work_mem = '1MB'; SET max_parallel_workers_per_gather =";
my $truth = $node->safe_psql('postgres', "$settings 0; $search");
foreach my $workers (0, 2)
{
	my ($status, $stdout, $stderr) = $node->psql('postgres', qq{
		$settings $workers;
		\\! touch "$full_of_temporary"
		$search;
		\\! rm "$full_of_temporary"
		$search;
	}, on_error_stop => 0);
	my $what = "a search with $workers workers";
	like($stderr, qr/^psql:\S+ ERROR:  could not write to file.*No space left/, "$what: an error");
	is(scalar(() = $stderr =~ /ERROR/g), 1, "$what: no other one");
	is($stdout, $truth, "$what: the next search");
	is_deeply([ temporary_files() ], [], "$what: no file is left");
}

$node->stop;
done_testing();
