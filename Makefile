# Makefile of the simhash extension

EXTENSION = simhash
MODULE_big = simhash
DATA = sql/simhash--1.0.sql
PGFILEDESC = "simhash - near-duplicate detection"

OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c)))

PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
