# `make run` serves demo data, `make test` runs all checks. Both install what is missing.

# Extra options for the server: make run ARGS="--listen 127.0.0.1:5000".
ARGS ?=
# Root needs no sudo.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
NEXTEST := $(shell command -v cargo-nextest 2>/dev/null)
DIST := playground/dist/index.html
# Generated types are a result of the build, not a source.
PLAYGROUND_SOURCES := $(shell find playground/src playground/operations -type f ! -name '*.generated.ts' 2>/dev/null) schema.graphql \
  $(addprefix playground/,index.html package-lock.json codegen.js tsconfig.json vite.config.js vite.plugins.js)

.PHONY: all run build test check e2e fmt schema playground need-redis need-valgrind need-chromium clean
all: build

## Serve demo data with the playground, on http://127.0.0.1:4000.
run: need-redis build
	./target/release/waxwing serve --demo $(ARGS)

## Build the server, with the playground if Node.js is installed.
build:
	@$(MAKE) --no-print-directory -j2 playground dependencies
	cargo build --release --locked

# Compiles the libraries that the server uses while npm builds the playground, which the server contains.
.PHONY: dependencies
dependencies:
	cargo build --release --locked --lib $$(cargo tree --locked --depth 1 --edges normal --prefix none | \
	  awk 'NR > 1 { sub("^v", "", $$2); print "--package", $$1 "@" $$2 }' | sort -u)

## Build the server as it is released: slower to build, and more than twice as fast as that of `make build`.
.PHONY: dist
dist: playground
	cargo build --profile dist --locked

## Run all checks: format, lints, docs, the suite, the instructions of requests, the playground and the recipes in a browser.
test: prepare
	@$(MAKE) --no-print-directory suite test-cluster need-chromium need-valgrind
# The browser tests use one core.
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target e2e guard recipes

# Build the tests while the lints run: the compiler uses one core for most of the time that it takes for this crate.
.PHONY: prepare
prepare: need-redis playground
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check tests

# Format, clippy and rustdoc, with warnings as errors. The check of schema.graphql is a test. In a folder of its own, since cargo locks the folder of a build.
check: CHECK_DIR = target/check
check: playground
	cargo fmt --check
	cargo clippy --locked --target-dir $(CHECK_DIR) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --target-dir $(CHECK_DIR) --no-deps --document-private-items

# What `make suite`, `make guard`, `make e2e` and `make recipes` run.
.PHONY: tests
tests: playground
	cargo build --locked --bin waxwing --tests --bench pages

# Three tests for each two cores: tests wait a third of their time. Of tests with a cluster four: they wait for its nodes to start and to agree.
CORES := $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
TEST_THREADS := $(shell echo $$(($(CORES) + $(CORES) / 2)))
CLUSTER_TEST_THREADS := $(shell echo $$((2 * $(CORES))))

## Run the suite. Its servers log in to Redis as a user with no more permissions than they need.
.PHONY: suite
suite: need-redis playground
ifdef NEXTEST
	cargo nextest run --locked --test-threads $(TEST_THREADS)
else
	cargo test --locked
endif

## Run the tests whose result may differ on a Redis Cluster: every test has a cluster of three nodes.
.PHONY: test-cluster
test-cluster: need-redis playground
ifdef NEXTEST
	WAXWING_TEST_CLUSTER=1 cargo nextest run --locked --profile cluster --test-threads $(CLUSTER_TEST_THREADS)
else
	WAXWING_TEST_CLUSTER=1 cargo test --locked
endif

## Measure a server under one to five times the load that it can serve. For a quiet machine with two cores.
.PHONY: bench-overload
bench-overload: need-redis dist
	node tests/bench/overload.mjs target/dist/waxwing

## Measure the CPU time of documents per token that they are charged, compared with a first screen. For a quiet machine.
.PHONY: bench-work
bench-work: need-redis dist
	node tests/bench/work.mjs target/dist/waxwing

## Measure reads during a flood of log-ins. For a quiet machine.
.PHONY: bench-logins
bench-logins: need-redis dist
	node tests/bench/logins.mjs target/dist/waxwing

## Measure whether response times reveal that an account has a mail address or a login. For a quiet machine.
.PHONY: bench-enumeration
bench-enumeration: need-redis dist
	node tests/bench/enumeration.mjs target/dist/waxwing

## Measure how attacks from one address affect other clients, who read, post and subscribe. For a quiet machine; takes three minutes.
## All attacks in turn for half an hour: make bench-fairness ARGS="--soak 30".
.PHONY: bench-fairness
bench-fairness: need-redis dist
	node tests/bench/fairness/main.mjs target/dist/waxwing $(ARGS)

# The server of the suite. Without the test, cargo would build it again, since libraries have fewer features without the dependencies of the tests.
.PHONY: test-server
test-server: playground
	cargo build --locked --bin waxwing --test it

## Test the playground in headless Chromium, with a server of its own.
e2e: need-redis need-chromium test-server
	node tests/it/validation/expect.mjs --check
	CHROMIUM="$${CHROMIUM:-$$(command -v chromium)}" node playground/test/run.mjs target/debug/waxwing

## Build the recipes of docs/frontend.md and run them against servers of their own.
.PHONY: recipes
recipes: need-redis need-chromium test-server playground/recipes/node_modules/.package-lock.json
	CHROMIUM="$${CHROMIUM:-$$(command -v chromium)}" node --test-reporter=spec playground/recipes/run.mjs target/debug/waxwing

playground/recipes/node_modules/.package-lock.json: playground/recipes/package-lock.json
	npm --prefix playground/recipes ci
	@touch $@

## Measure hostile documents, posting and fan-out compared with plain Redis, and ad decisions. For a quiet machine.
.PHONY: bench
bench: need-redis
	cargo bench --locked --profile dist --bench documents
	cargo bench --locked --profile dist --bench fanout
	cargo bench --locked --profile dist --bench ads

## Measure the cost of each kind of request and how it grows, and write docs/performance.md. For a quiet machine; takes some ten minutes.
.PHONY: bench-report
bench-report: need-redis
	cargo bench --locked --profile dist --bench pages -- report

## Count the instructions of requests: fails if one takes 5 % more than in tests/bench/instructions.json. For any machine.
.PHONY: guard
guard: need-redis need-valgrind
	cargo bench --locked --profile dev --bench pages -- guard

## Write the current counts to tests/bench/instructions.json. Give the reason in the commit.
.PHONY: guard-accept
guard-accept: need-redis need-valgrind
	cargo bench --locked --profile dev --bench pages -- guard accept

# The time for each target: make fuzz SECONDS=600. The compiler's support for fuzzing is unstable, which does not matter for a program that is not
# released.
SECONDS ?= 60
FUZZ ?= document cursor token entities
FUZZ_FLAGS = -timeout=10 -rss_limit_mb=2048 -max_len=20000

## Fuzz documents, cursors, tokens and texts. New inputs go to target/fuzz/corpus.
.PHONY: fuzz
fuzz:
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
	@for target in $(FUZZ); do \
	  mkdir -p target/fuzz/corpus/$$target && \
	  RUSTC_BOOTSTRAP=1 nice -n 19 cargo fuzz run --fuzz-dir tests/fuzz --target-dir target/fuzz $$target \
	    target/fuzz/corpus/$$target tests/fuzz/corpus/$$target -- -max_total_time=$(SECONDS) $(FUZZ_FLAGS) || exit 1; \
	done

## Add new top-level domains of the root zone to those that links in texts may have. None is removed: texts that were written keep their links.
.PHONY: tlds
tlds: TLDS = src/domains/entities/tlds.txt
tlds:
	folder=$$(mktemp -d) && npm install --silent --no-save --prefix $$folder tlds && \
	  node -p "require('$$folder/node_modules/tlds/index.json').join('\n')" | LC_ALL=C sort -u -o $(TLDS) - $(TLDS); rm -r $$folder

## Check the licences and sources of all dependencies, on every platform. (The suite checks those of this platform, without a download.)
.PHONY: licences
licences:
	@command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny --locked --config .deny.toml check bans licenses sources

## Check the dependencies for known vulnerabilities. Downloads the database of advisories.
.PHONY: advisories
advisories:
	@command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny --locked --config .deny.toml check advisories

## Write a bill of materials as CycloneDX: target/package/waxwing.cdx.json.
.PHONY: sbom
sbom:
	@command -v cargo-cyclonedx >/dev/null || cargo install cargo-cyclonedx --locked
	@mkdir -p target/package
	SOURCE_DATE_EPOCH=$(SOURCE_DATE) cargo cyclonedx --format json --spec-version 1.5 --override-filename waxwing.cdx
	sed 's|file://$(CURDIR)|file:///waxwing|g' waxwing.cdx.json > target/package/waxwing.cdx.json && rm waxwing.cdx.json

# Reproducible builds: the binary contains no path and no date of the machine.
SOURCE_DATE = $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
RELEASE_TARGET ?= $(CURDIR)/target/reproducible
CARGO_DIR = $(or $(CARGO_HOME),$(HOME)/.cargo)
# If several prefixes match, the last one counts.
RELEASE_FLAGS = --remap-path-prefix=$(CARGO_DIR)=cargo --remap-path-prefix=$(CURDIR)=waxwing --remap-path-prefix=$(RELEASE_TARGET)=target
RELEASE_CFLAGS = -ffile-prefix-map=$(CARGO_DIR)=cargo -ffile-prefix-map=$(CURDIR)=waxwing -ffile-prefix-map=$(RELEASE_TARGET)=target

.PHONY: release-build
release-build:
	SOURCE_DATE_EPOCH=$(SOURCE_DATE) RUSTFLAGS="$(RELEASE_FLAGS)" CFLAGS="$(RELEASE_CFLAGS)" \
	  cargo build --profile dist --locked --target-dir $(RELEASE_TARGET)

## Make the files of a release in target/package: the binary, its bill of materials, and their checksums.
.PHONY: release
release: playground release-build sbom
	install -m 0755 $(RELEASE_TARGET)/dist/waxwing target/package/waxwing
	cd target/package && sha256sum waxwing waxwing.cdx.json > SHA256SUMS && cat SHA256SUMS

## Build the binary twice, in two folders, and compare.
.PHONY: reproduce
reproduce: playground release-build
	@rm -rf target/twice && mkdir -p target/twice
	git ls-files -z | xargs -0 cp --parents -t target/twice
	@[ ! -d playground/dist ] || cp -r playground/dist target/twice/playground/
	cd target/twice && $(MAKE) --no-print-directory release-build RELEASE_TARGET=$(CURDIR)/target/twice/elsewhere SOURCE_DATE=$(SOURCE_DATE)
	cmp $(RELEASE_TARGET)/dist/waxwing target/twice/elsewhere/dist/waxwing
	@echo "Both are the same, byte for byte."

fmt:
	cargo fmt

## Rewrite schema.graphql after an intended change of the schema.
schema:
	cargo run --locked --quiet -- schema > schema.graphql.new && mv schema.graphql.new schema.graphql

## Rewrite the table of options in docs/operating.md after an intended change of an option or its help text.
.PHONY: docs
docs:
	UPDATE_EXPECT=1 cargo test --locked --lib --quiet the_table_of_options_is_what_clap_says

## Rewrite the expected results of the validation cases with graphql-js, after a change of the cases or the schema.
.PHONY: validation-cases
validation-cases: playground/node_modules/.package-lock.json
	node tests/it/validation/expect.mjs

# The version of Node.js that Vite needs. Without it the server is built without the playground.
NODE_FITS := $(shell node -e 'const [a, b] = process.versions.node.split(".").map(Number); if (a > 20 || (a === 20 && b >= 19)) console.log("yes")' 2>/dev/null)

playground: $(if $(NODE_FITS),$(DIST),no-node)

$(DIST): playground/node_modules/.package-lock.json $(PLAYGROUND_SOURCES)
	npm --prefix playground run build

playground/node_modules/.package-lock.json: playground/package-lock.json
	npm --prefix playground ci
	@touch $@

.PHONY: no-node
no-node:
	@echo "Node.js 20.19 or later is not installed: the server is built without the playground."

need-redis:
	@command -v redis-server >/dev/null || command -v valkey-server >/dev/null || $(MAKE) --no-print-directory install PACKAGE=redis-server BREW=redis DNF=redis

need-valgrind:
	@command -v valgrind >/dev/null || $(MAKE) --no-print-directory install PACKAGE=valgrind BREW=valgrind DNF=valgrind

need-chromium:
	@command -v chromium >/dev/null || [ -n "$$CHROMIUM" ] || $(MAKE) --no-print-directory install PACKAGE=chromium BREW=chromium DNF=chromium

.PHONY: install
install:
	@if command -v apt-get >/dev/null; then \
	  echo "Installing $(PACKAGE) ..."; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $(PACKAGE) >/dev/null; \
	elif command -v dnf >/dev/null; then $(SUDO) dnf install -y -q $(DNF); \
	elif command -v brew >/dev/null; then brew install $(BREW); \
	else echo "Please install $(PACKAGE) and try again."; exit 1; fi

clean:
	cargo clean
	rm -rf playground/dist playground/node_modules playground/recipes/node_modules
