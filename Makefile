# Two commands are enough to look at it: `make run` and `make test`.

CARGO ?= cargo
TOOLS := target/tools

# Where `make install` puts things; DESTDIR, before it, is for packagers.
PREFIX ?= /usr/local
PROGRAMS := harnessd harness-keeper harness-plugin-host harnessctl tools
PLUGINS := files nix systemd
# What is installed was built before: `make && sudo make install` builds nothing as root.
BUILT ?= target/release
bin := $(DESTDIR)$(PREFIX)/bin
lib := $(DESTDIR)$(PREFIX)/lib
share := $(DESTDIR)$(PREFIX)/share

.PHONY: build run demo install test test-tools test-nix bench lint

build:
	$(CARGO) build --release --workspace --exclude harness-bench --exclude harness-tests --exclude word-count --bins --lib

# Starts the harness for the current directory on the built-in defaults, and prints what to paste into an MCP client.
run: build
	@examples/run.sh

# The whole story in a throw-away directory, step by step.
demo: build
	@examples/demo.sh

# Programs, plugins, unit files that name them where they are, documentation. Nothing is enabled or started.
install:
	@test -x $(BUILT)/harnessd || { echo "$(BUILT)/harnessd is not built: run make first" >&2; exit 1; }
	install -d $(bin) $(lib)/systemd/system $(lib)/systemd/user $(lib)/sysusers.d $(lib)/tmpfiles.d \
	    $(share)/doc/harnessd $(share)/licenses/harnessd \
	    $(lib)/harnessd/plugins $(DESTDIR)$(PREFIX)/include
	install -m 755 $(PROGRAMS:%=$(BUILT)/%) $(bin)
	install -m 644 $(PLUGINS:%=$(BUILT)/libharness_%.so) $(lib)/harnessd/plugins
	install -m 644 plugins/abi/include/harness_plugin.h $(DESTDIR)$(PREFIX)/include
	install -m 644 systemd/sysusers.d/* $(lib)/sysusers.d
	install -m 644 systemd/tmpfiles.d/* $(lib)/tmpfiles.d
	for unit in $(patsubst systemd/%,%,$(wildcard systemd/system/* systemd/user/*)); do \
	    sed 's|^ExecStart=/usr/bin/|ExecStart=$(PREFIX)/bin/|' systemd/$$unit >$(lib)/systemd/$$unit && \
	    chmod 644 $(lib)/systemd/$$unit || exit 1; \
	done
	install -m 644 README.md ARCHITECTURE.md CHANGELOG.md docs/openapi.json $(share)/doc/harnessd
	install -m 644 LICENSE-* $(share)/licenses/harnessd

# Installs what the tests need (as root on Debian; else says what is missing), then runs every test.
test: test-tools
	@tests/run.sh

test-tools:
	@tests/tools/install.sh

# The Nix files alone. NIXPKGS_LIB is a copy of nixpkgs, or of its lib/; without it nothing is evaluated. With UPDATE=1 what
# is generated from the configuration (docs/config.schema.json, docs/nix-options.md) is written instead of compared.
test-nix:
	@nix/tests/install.sh "$(or $(HARNESS_TEST_TOOLS),$(TOOLS))"
	@$(CARGO) build --quiet --bin harnessd --bin harness-keeper --bin harnessctl
	@$(CARGO) test --quiet --package harness-tests --test process -- nix::

# Each figure as a ratio to a limit or a peer that is measured in the same run. ARGS="--quick --only run" for less.
bench: build
	@bench/peers/install.sh
	@$(CARGO) build --release --package harness-bench
	@target/release/harness-bench $(ARGS)

lint:
	@.ci/lint
