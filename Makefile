# Makefile of the simhash extension
#
#	make && make install	build, and install into the server of PG_CONFIG
#	make check				all tests, with a private copy of that server
#	make check-deep			what takes longer: as root on Debian, up to an hour
#	make demo				a look at it, with a private copy, too
#	make indent				lay out the sources by PostgreSQL's pgindent
#
# Needs make, a C compiler, the server's development files and xxhash.h; on
# Debian, check and demo install what is missing if they run as root.

EXTENSION = simhash
MODULE_big = simhash
DATA = sql/simhash--1.0.sql
PGFILEDESC = "simhash - near-duplicate detection"

OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c)))

PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

# The tests; all lists come from here.  The first one creates the extension.
REGRESS = init $(filter-out init simhash--%,$(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql))))
ISOLATION = $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test --load-extension=simhash
TAP_TESTS = 1
PROVE_TESTS = $(sort $(wildcard test/t/*.pl))

# PGXS has a target check, too, which only says that it is not supported; and
# these goals must work before there is a PGXS.  So they do without it.
own_goals = check check-deep demo indent list-tests
ifneq ($(filter $(own_goals),$(MAKECMDGOALS)),)

check:
	@PG_CONFIG='$(PG_CONFIG)' test/run $(STAGES)

check-deep:
	@PG_CONFIG='$(PG_CONFIG)' test/deep/run $(STAGES)

indent:
	@test/deep/indent

demo:
	@PG_CONFIG='$(PG_CONFIG)' test/demo/run

# a line for each kind: its name, then its tests
list-tests:
	@echo 'regress $(REGRESS)'
	@echo 'collisions init $(filter %_columns %_columns_plan batch_partitions,$(REGRESS))'
	@echo 'isolation $(ISOLATION)'
	@echo 'tap $(PROVE_TESTS)'

# others that are named along with them
other_goals = $(filter-out $(own_goals),$(MAKECMDGOALS))
ifneq ($(other_goals),)
$(other_goals):
	$(MAKE) $@
endif

.PHONY: $(MAKECMDGOALS)

else

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PostgreSQL does not track headers unless it was configured so
$(OBJS) $(OBJS:.o=.bc): $(wildcard src/*.h src/*/*.h)

endif
