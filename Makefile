# snowid: a PGXS extension in C++. `make`, `make install`, `make installcheck` and PG_CONFIG= are as in
# any other; `make demo` and `make test` do their own set-up on a machine that has nothing but make.

EXTENSION = snowid
EXTVERSION = 0.1.0

# Where the sources are: here, or, in a VPATH build (make -f ../snowid/Makefile), elsewhere.
TOP := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))

# What needs no PostgreSQL to begin with, since it may install it. Goals that share a script are told to it.
BY_CHANCE = fuzz fuzz-calls test-cluster torture smith
HARD = check-hard check-memory
DEMOS = demo demo-stop demo-cluster
OTHERS = test-engines test-monitoring test-clients
PACKAGES = deb dist docs test-docs
ROOTS = matrix test-deb test-upgrade
SETUP_GOALS = test test-server bench mutants check-style $(BY_CHANCE) $(HARD) $(DEMOS) $(OTHERS) $(PACKAGES) $(ROOTS)
.PHONY: $(SETUP_GOALS) help

ifneq ($(filter $(SETUP_GOALS) help,$(MAKECMDGOALS)),)

$(SETUP_GOALS): SCRIPT = $@
$(BY_CHANCE): SCRIPT = by-chance
$(HARD): SCRIPT = check-hard
$(DEMOS): SCRIPT = demo
$(OTHERS): SCRIPT = others
$(PACKAGES): SCRIPT = package
$(ROOTS): SCRIPT = roots
$(SETUP_GOALS):
	@$(TOP)/scripts/$(SCRIPT) $@

else

# The rooms of src/pg, each of which may include those before it (docs/design.md); and the SQL that they
# offer, in the order in which the parts build on one another.
ROOMS = base server shared decode ceiling database ids rewind kinds central counters nodes moves tables stats
SQL_SOURCES = server/extension.sql base/layout.sql base/rows.sql decode/decode.sql ceiling/read.sql ids/ids.sql rewind/rewind.sql kinds/uuid.sql \
	kinds/objectid.sql kinds/base62.sql kinds/scatter.sql kinds/series.sql central/central.sql counters/counters.sql counters/statistics.sql \
	$(addprefix nodes/,number.sql membership.sql nodes.sql) moves/moves.sql \
	$(addprefix tables/,tables.sql widening.sql adopt_checks.sql adopt.sql backfill.sql \
	  partitions.sql partitions_past.sql) \
	stats/stats.sql stats/shards.sql stats/database.sql ceiling/ceiling.sql server/rights.sql

# Of the rooms that there are.
SQL = $(filter $(addsuffix /%,$(ROOMS)),$(SQL_SOURCES))

MODULE_big = $(EXTENSION)
SOURCES = src/pg/module.cpp $(foreach room,$(ROOMS),$(patsubst $(TOP)/%,%,$(sort $(wildcard $(TOP)/src/pg/$(room)/*.cpp))))
OBJS = $(SOURCES:.cpp=.o)
DATA_built = $(EXTENSION)--$(EXTVERSION).sql
DATA = $(patsubst $(TOP)/%,%,$(wildcard $(TOP)/src/upgrade/*.sql))
EXTRA_CLEAN = $(EXTENSION)--*.sql $(foreach ending,d bc bc.d,$(OBJS:.o=.$(ending))) prelude.*
PGFILEDESC = "snowid - 64-bit, time-ordered IDs that never repeat"

# In this order: setup makes what the others use.
REGRESS = setup extension untyped next session decode layouts named uuid uuid_ids objectid series text scatter segments sections node moves adopt adopt_looks backfill partitions statistics stat_counters families
ISOLATION = $(patsubst $(TOP)/test/specs/%.spec,%,$(sort $(wildcard $(TOP)/test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=$(TOP)/test --outputdir=output_iso --load-extension=snowid
# make installcheck TAP=1: the TAP tests, too, where the server's makefiles have what they need; they start
# servers of their own. PROVE_TESTS chooses among them. Not as root.
ifdef TAP
TAP_TESTS = 1
PROVE_TESTS ?= test/t/*/*.pl
export PG_CONFIG
endif

# Defined before PGXS is read, so that its rules see them. PostgreSQL's headers count as the system's:
# their warnings are not ours.
PG_CONFIG ?= pg_config
PG_CPPFLAGS = -I$(TOP)/src -isystem $(shell $(PG_CONFIG) --includedir-server) \
	-DSNOWID_VERSION='"$(EXTVERSION)"' $(SNOWID_CPPFLAGS)
PG_CXXFLAGS = -std=c++20 -MMD -MP -Wall -Wextra -Wno-register -fno-exceptions -fno-rtti \
	-fno-threadsafe-statics -fvisibility=hidden $(SNOWID_CXXFLAGS)

# PGXS finds this out where PostgreSQL was itself built in a directory of its own, only.
ifneq ($(TOP),.)
VPATH := $(TOP)
endif
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS sets it anew.
PROVE_FLAGS += -I $(TOP)/test/perl

# PGXS hands PG_CXXFLAGS not to the compiler that makes the JIT's bitcode.
COMPILE.cxx.bc += $(PG_CXXFLAGS) -MF $@.d

# What each object includes, as the compiler has last written it down.
-include $(OBJS:.o=.d) $(OBJS:.o=.bc.d) prelude.d prelude.bc.gch.d
$(OBJS) $(OBJS:.o=.bc): Makefile
ifneq ($(TOP),.)
$(shell mkdir -p $(sort $(dir $(OBJS))))
endif

$(EXTENSION)--$(EXTVERSION).sql: $(addprefix src/pg/,$(SQL)) Makefile
	(cd $(TOP)/src/pg && cat $(SQL)) >$@

# make PRECOMPILED=1 reads the headers that all files begin with once for each compiler, which takes a third
# of the time. For builds from scratch: whatever of them changes makes everything anew, with PRECOMPILED or
# without. Of an object the compiler does not write down what it has had by them; so what they include is said to
# be the objects', too: of those that there are when that is read, not when it is written.
ifdef PRECOMPILED
prelude.gch: src/pg/prelude.hpp Makefile
	$(COMPILE.cc) -w -MT '$@ $$(OBJS)' -x c++-header $< -o $@
prelude.bc.gch: src/pg/prelude.hpp Makefile
	$(COMPILE.cxx.bc) -w -MT '$@ $$(OBJS:.o=.bc)' -x c++-header $< -o $@
$(OBJS): prelude.gch
$(OBJS): private COMPILE.cc += -Winvalid-pch -include prelude
$(OBJS:.o=.bc): prelude.bc.gch
$(OBJS:.o=.bc): private COMPILE.cxx.bc += -include prelude.bc
endif

endif

# What the scripts say of the goals: of each the first sentence.
help:
	@echo 'make, make install, make installcheck: as of any extension of PostgreSQL (PG_CONFIG)'
	@perl -0777 -ne 'while (/^# (make [a-z-]+): (.*?)(?:[.;:]\s|\n#\n|\n(?!#))/smg) { my ($$goal, $$text) = ($$1, $$2); \
	  print "$$goal: ", $$text =~ s/\n# / /gr, "\n" }' $(filter-out %.sh,$(wildcard $(TOP)/scripts/*))
