# Two commands are enough: `make run` and `make test`.

CARGO ?= cargo
TOOLS := target/tools

.PHONY: build run demo test test-tools bench lint

build:
	$(CARGO) build --release --workspace --exclude harness-bench --bins

# Starts the harness for the current directory on the built-in defaults, and prints what to paste into an MCP client.
run: build
	@examples/run.sh

# The whole story in a throw-away directory, step by step.
demo: build
	@examples/demo.sh

# Installs what the tests need (as root on Debian; else says what is missing), then runs every test.
test: test-tools
	@tests/run.sh

test-tools:
	@tests/tools/install.sh

# Each figure as a ratio to a limit or a peer that is measured in the same run. ARGS="--quick --only run" for less.
bench: build
	@bench/peers/install.sh
	@$(CARGO) build --release --package harness-bench
	@target/release/harness-bench $(ARGS)

lint:
	@.ci/lint
