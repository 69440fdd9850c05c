# snowid: a PGXS extension in C++. `make`, `make install`, `make installcheck`, and PG_CONFIG= work as in any
# other. All other targets set themselves up on a machine with nothing but make.

EXTENSION = snowid

# The source directory: this one or, in a VPATH build (make -f ../snowid/Makefile), another.
TOP := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))

# The version comes from the control file. The other files with a version must agree (scripts/metadata).
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(TOP)/snowid.control)

# Targets that need no PostgreSQL, because they may install it. A script shared by several gets the target's
# name.
TESTS = test test-all
TESTS_OF_SERVER = test-server test-server-all
BY_CHANCE = fuzz fuzz-calls test-cluster test-watermark torture smith
HARD = check-hard check-memory
DEMOS = demo demo-stop
OTHERS = test-engines test-monitoring test-clients
PACKAGES = deb dist docs test-docs
RELEASE = rpm image-root test-release
ROOTS = matrix test-deb test-image test-upgrade
SETUP_GOALS = $(TESTS) $(TESTS_OF_SERVER) demo-cluster bench model mutants check-style $(BY_CHANCE) $(HARD) $(DEMOS) $(OTHERS) $(PACKAGES) $(RELEASE) $(ROOTS)
.PHONY: $(SETUP_GOALS) help

ifneq ($(filter $(SETUP_GOALS) help,$(MAKECMDGOALS)),)

$(SETUP_GOALS): SCRIPT = $@
$(TESTS): SCRIPT = test
$(TESTS_OF_SERVER): SCRIPT = test-server
$(BY_CHANCE): SCRIPT = by-chance
$(HARD): SCRIPT = check-hard
$(DEMOS): SCRIPT = demo
$(OTHERS): SCRIPT = others
$(PACKAGES): SCRIPT = package
$(RELEASE): SCRIPT = release
$(ROOTS): SCRIPT = roots
$(SETUP_GOALS):
	@$(TOP)/scripts/$(SCRIPT) $@

else

# The modules of src/pg, each of which may include those before it (docs/design.md); and their SQL, in the
# order of installation.
MODULE_DIRS = shmem types database ceiling ids counters nodes tables
SQL = extension.sql types/layout.sql types/id_type.sql types/rows.sql types/decode.sql ids/ids.sql ceiling/skipped_times.sql types/uuid.sql \
	types/objectid.sql types/base62.sql types/series.sql counters/remote_source.sql counters/counters.sql counters/counter_stats.sql \
	$(addprefix nodes/,node_number.sql registry.sql membership.sql) nodes/shard_moves.sql \
	$(addprefix tables/,tables.sql columns.sql widening.sql adopt_checks.sql adopt.sql backfill.sql \
	  partitions.sql partitions_past.sql) \
	ids/id_stats.sql ceiling/ceiling.sql rights.sql

MODULE_big = $(EXTENSION)
SOURCES = $(patsubst $(TOP)/%,%,$(sort $(wildcard $(TOP)/src/pg/*.cpp))) $(foreach module,$(MODULE_DIRS),$(patsubst $(TOP)/%,%,$(sort $(wildcard $(TOP)/src/pg/$(module)/*.cpp))))
OBJS = $(SOURCES:.cpp=.o)
DATA_built = $(EXTENSION)--$(EXTVERSION).sql
DATA = $(patsubst $(TOP)/%,%,$(wildcard $(TOP)/src/upgrade/*.sql))
EXTRA_CLEAN = $(EXTENSION)--*.sql src/pg/compat.hpp.gch $(foreach ending,d bc bc.d,$(OBJS:.o=.$(ending)))
PGFILEDESC = "snowid - 64-bit, time-ordered IDs that never repeat"

PG_CONFIG ?= pg_config

# In this order: setup makes what the others use.
REGRESS = setup extension untyped next session decode ranges layouts named uuid uuid_ids objectid series text scatter segments sections node moves columns adopt adopt_looks backfill partitions partitions_uuid statistics stat_counters families id_type
# Independent of the user's encoding and locale.
REGRESS_OPTS = --encoding=UTF8 --no-locale
ISOLATION = $(patsubst $(TOP)/test/specs/%.spec,%,$(sort $(wildcard $(TOP)/test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=$(TOP)/test --outputdir=output_iso --load-extension=snowid
# make installcheck TAP=1 also runs the TAP tests, if the server's makefiles support them. They start servers
# and need another user than root. PROVE_TESTS selects some.
ifdef TAP
TAP_TESTS = 1
PROVE_TESTS ?= test/t/*/*.pl
export PG_CONFIG
endif

# Defined before PGXS is included, whose rules use them. -isystem suppresses warnings of PostgreSQL's headers.
PG_CPPFLAGS = -I$(TOP)/src -isystem $(shell $(PG_CONFIG) --includedir-server) \
	-DSNOWID_VERSION='"$(EXTVERSION)"' $(SNOWID_CPPFLAGS)
PG_CXXFLAGS = -std=c++20 -MMD -MP -Wall -Wextra -Wno-register -fno-exceptions -fno-rtti \
	-fno-threadsafe-statics -fvisibility=hidden $(SNOWID_CXXFLAGS)

# PGXS sets it only if PostgreSQL itself was built out of tree.
ifneq ($(TOP),.)
VPATH := $(TOP)
endif
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifeq ($(wildcard $(PGXS)),)
$(error PostgreSQL's server headers are not installed: $(if $(PGXS),$(PGXS) does not exist,$(PG_CONFIG) cannot be run). \
On Debian or Ubuntu run `apt-get install g++ postgresql-server-dev-all`, on Red Hat install gcc-c++ and postgresqlNN-devel, \
or set PG_CONFIG to the pg_config of a server that has its headers. `make test` and `make demo` install what they need)
endif
include $(PGXS)

# On macOS the linker wants every symbol, and templates of the C++ library are instances in it.
ifeq ($(PORTNAME),darwin)
SHLIB_LINK += -lc++
endif

# pg_regress would report only a failed connection. Its options may name another server.
ifeq ($(filter --host% --port% --user% --temp-instance%,$(REGRESS_OPTS) $(EXTRA_REGRESS_OPTS)),)
installcheck: superuser
endif
.PHONY: superuser
superuser:
ifdef TAP
	@[ "$$(id -u)" != 0 ] || { echo 'The TAP tests start servers, which PostgreSQL does not allow root to do.' \
	  'Run `make test`, or `make installcheck TAP=1` as another user.' >&2; exit 1; }
endif
	@[ "$$($(bindir)/psql -XAtq -d postgres -c 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')" = t ] || \
	  { echo '`make installcheck` connects to a running server as a superuser. Set PGHOST, PGPORT, and PGUSER,' \
	  "or create a role for this user: sudo -u postgres createuser --superuser $$(id -un)." \
	  '`make test` starts servers of its own.' >&2; exit 1; }

# PGXS resets it.
PROVE_FLAGS += -I $(TOP)/test/perl

# PGXS does not pass PG_CXXFLAGS to the compiler of the JIT's bitcode.
COMPILE.cxx.bc += $(PG_CXXFLAGS) -MF $@.d

# With PRECOMPILED, the headers that most sources include are compiled once, into what GCC uses in their place: half the time.
ifdef PRECOMPILED
PRECOMPILED_HEADER = src/pg/compat.hpp.gch
$(OBJS): $(PRECOMPILED_HEADER)
$(OBJS): private CPPFLAGS += -include pg/compat.hpp
$(PRECOMPILED_HEADER): $(TOP)/src/pg/compat.hpp
	$(COMPILE.cc) -w -x c++-header -o $@ $<
endif

# The headers included by each object, as written by the compiler.
-include $(OBJS:.o=.d) $(OBJS:.o=.bc.d)
$(OBJS) $(OBJS:.o=.bc): Makefile
ifneq ($(TOP),.)
$(shell mkdir -p $(sort $(dir $(OBJS))))
endif

$(EXTENSION)--$(EXTVERSION).sql: $(addprefix src/pg/,$(SQL)) Makefile
	(cd $(TOP)/src/pg && cat $(SQL)) >$@

endif

define HELP
Build and install. PG_CONFIG selects the PostgreSQL installation.
  make                  builds the extension
  make install          installs the extension
  make installcheck     runs the regression and isolation tests on a running server
  make clean            removes what make has built

All other targets install missing packages and leave the PostgreSQL installation unchanged.

Try
  make demo             starts a private server with the extension and shows a short tour
  make demo-stop        stops and removes that server
  make demo-cluster     runs three writing servers, one that collects their rows, and moves a shard under load

Test
  make test             runs the tests of each promise in minutes; ONLY="NAME..." selects some
  make test-server      runs the tests that depend on the PostgreSQL version
  make test-all         runs all tests, including long ones, other compilers, sanitizers, and JIT
  make test-server-all  runs all tests that depend on the PostgreSQL version
  make check-style      checks formatting and includes, and lints the scripts

Measure
  make bench            compares the cost of snowid with the alternatives

Test longer. SECONDS sets the duration of randomized tests, SEED their choices.
  make fuzz             fuzzes each text parser for one minute
  make fuzz-calls       calls all functions with random arguments from eight sessions
  make test-cluster     runs a registry and four nodes under random faults
  make test-watermark   reads tables in order by watermarks under random faults
  make torture          generates all kinds of IDs and numbers under crashes, full disks, and clock steps
  make smith            runs random queries generated by SQLsmith
  make model            checks models of the ceiling, the registry, and moving shards exhaustively
  make mutants          injects known bugs, each of which a test must detect
  make check-hard       runs the tests on a PostgreSQL built with assertions
  make check-memory     runs tests under ASan, UBSan, TSan, and valgrind

Test with other software
  make test-engines     job schedulers, proxies, failover managers, and monitoring
  make test-monitoring  Prometheus and its exporter
  make test-clients     client drivers, ORMs, and connection poolers

Package
  make deb              builds Debian packages for the PostgreSQL version of this release
  make rpm              builds RPM packages for PGDG's PostgreSQL; PG_MAJOR selects its version
  make image-root       builds the tree of an extension image, for PostgreSQL 18 and later
  make dist             builds the source archives and the bill of materials from the committed files
  make test-release     runs a release without publishing it
  make docs             builds the documentation site
  make test-docs        builds the documentation site and opens it in a browser

Test on bare machines. These targets need root; MATRIX selects the releases.
  make matrix           runs make demo and make test-server-all on each supported release
  make test-deb         builds, installs, upgrades, and purges the packages on each supported release
  make test-image       starts PostgreSQL 18 and 19 with the tree of an extension image
  make test-upgrade     runs pg_upgrade from PostgreSQL 15 to 17, 18, and 19
endef
help:
	@: $(info $(HELP))
