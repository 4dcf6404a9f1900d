# Makefile of the simhash extension
#
#	make                  build it for the server of PG_CONFIG
#	make install          install it into that server, with its documentation
#	make installcheck     test what is installed, in a server that is running
#	make check            test each feature, in a private copy of a server: four minutes;
#	                      as root on Debian it installs packages that are missing, and
#	                      says which
#	make demo             find near-duplicates among real texts, in a private copy
#
# For people who change it; see CONTRIBUTING.md:
#
#	make check-all        all tests: a quarter of an hour
#	make check-deep       what takes longer still: as root on Debian, over two hours
#	make check-package    build, install and test the Debian packages in bare roots
#	make indent           lay out the sources by PostgreSQL's pgindent
#	make pictures         draw the pictures of the documentation again
#	make dist             the archive for PGXN, to try it
#	make release          write the files of a release into a directory: on Debian

# files of these patterns, by their names here, where make may run elsewhere
sources = $(sort $(patsubst $(srcdir)/%,%,$(wildcard $(addprefix $(srcdir)/,$(1)))))

EXTENSION = simhash
MODULE_big = simhash
DATA = $(call sources,sql/simhash--*.sql)
PGFILEDESC = "simhash - near-duplicate detection"

OBJS = $(patsubst %.c,%.o,$(call sources,src/*.c src/*/*.c))

EXTENSION_VERSION = $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(srcdir)/simhash.control)
PG_CPPFLAGS = -I$(srcdir)/src -DSIMHASH_VERSION='"$(EXTENSION_VERSION)"'
PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

# What test/schedule has for "make check", or with SIZE=all everything, in its order.  The
# databases of the first two kinds are the same in any server.  The tests in Perl start
# servers of their own and need the module IPC::Run and a user who is not root: they run
# with TAP_TESTS=1.
SIZE = check
scheduled = $(shell sed -n -E 's/^$(1) +($(if $(filter all,$(SIZE)),all|)check|both) +//p' $(srcdir)/test/schedule)
REGRESS = $(call scheduled,regress)
ENCODING = UTF8
NO_LOCALE = 1
ISOLATION = $(call scheduled,isolation)
ISOLATION_OPTS = --inputdir=$(srcdir)/test --load-extension=simhash
ifeq ($(SIZE),all)
export PGOPTIONS += -c test.effort=full
export SIMHASH_EFFORT = full
endif
PROVE_TESTS = $(patsubst %,test/t/%.pl,$(call scheduled,tap))

# These goals are in test/Makefile: they need no server that is installed already,
# and PGXS has another "check", which only says that it is not supported.
test_goals = check check-all check-deep check-package demo deps dist indent pictures release

ifneq ($(filter $(test_goals),$(MAKECMDGOALS)),)

$(MAKECMDGOALS):
	@$(MAKE) --no-print-directory $(if $(filter $(test_goals),$@),-C $(dir $(firstword $(MAKEFILE_LIST)))test) $@

.PHONY: $(MAKECMDGOALS)

else

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(wildcard $(PGXS)),)
$(error To build, install postgresql-server-dev-N, or postgresqlN-devel, N being the version of the server, and set PG_CONFIG to its pg_config)
endif
include $(PGXS)

# those that somebody names need what init makes
ifneq ($(strip $(REGRESS)),)
override REGRESS := init $(filter-out init,$(REGRESS))
endif
ifneq ($(strip $(ISOLATION)),)
override ISOLATION := init $(filter-out init,$(ISOLATION))
endif

# PostgreSQL does not track headers unless it was configured so
$(OBJS) $(OBJS:.o=.bc): $(call sources,src/*.h src/*/*.h)

# What processes compare before they share anything: a checksum of all sources and of the macros
# that are set for the compiler, equal wherever and whenever it is built.  See src/README.md.
has_build_id = src/index/handler.o src/index/handler.bc
built_from = $(call sources,src/*.[ch] src/*/*.[ch])
macros := $(filter -D%,$(CPPFLAGS) $(CFLAGS))
build_id = $(shell { cd '$(srcdir)' && cat $(built_from) && echo '$(subst ',,$(macros))'; } | cksum | tr ' ' -)
$(has_build_id): $(built_from)
$(has_build_id): override CPPFLAGS += -DSIMHASH_BUILD_ID='"$(build_id)"'

# outside the source tree; as prerequisites the folders would be found in it
$(shell mkdir -p $(sort $(dir $(OBJS))))

# The pages and what they have links to.  They keep their folders, which DOCS would not.
doc_target = $(DESTDIR)$(docdir)/$(docmoduledir)/$(EXTENSION)
documents = README.md LICENSE src/text/LICENSE.unicode src/type/LICENSE.xxhash CHANGELOG.md \
	src/README.md test/bench/README.md \
	$(call sources,doc/*.md doc/pictures/*.md doc/pictures/*.svg examples/shards/*.sql test/drivers/*ith*)

install: install-documentation
install-documentation:
	$(MKDIR_P) $(patsubst %,'$(doc_target)/%',$(sort $(dir $(documents))))
	set -e; for file in $(documents); do \
		$(INSTALL_DATA) $(srcdir)/$$file '$(doc_target)'/$$file; \
	done

uninstall: uninstall-documentation
uninstall-documentation:
	rm -rf '$(doc_target)'

.PHONY: install-documentation list-tests uninstall-documentation

# a line for each kind: its name, then its tests
list-tests:
	@echo 'regress $(REGRESS)'
	@echo 'isolation $(ISOLATION)'
	@echo 'tap $(PROVE_TESTS)'

endif
