# What a newcomer types: `make run` serves a small world, `make test` runs everything that is checked. Both install what is missing.

# Extra options for the server: make run ARGS="--listen 127.0.0.1:5000".
ARGS ?=
# Root needs no sudo; everybody else is asked once.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
NEXTEST := $(shell command -v cargo-nextest 2>/dev/null)
DIST := playground/dist/index.html
PLAYGROUND_SOURCES := $(shell find playground/src playground/operations -type f 2>/dev/null) playground/index.html playground/live.html playground/ads.html playground/package-lock.json playground/vite.config.js

.PHONY: all run build test check e2e fmt schema playground need-redis need-valgrind need-chromium clean
all: build

## Serve a small world with a playground, on http://127.0.0.1:4000.
run: need-redis build
	./target/release/waxwing serve --demo $(ARGS)

## The server, with the playground inside where Node.js is.
build: playground
	cargo build --release --locked

## The server as it is released: slow to build, and a fifth faster than that of `make build`.
.PHONY: dist
dist: playground
	cargo build --profile dist --locked

## Everything that is checked: format, lints, docs, the suite, instructions a request, the playground in a browser.
test: check
	@$(MAKE) --no-print-directory suite test-cluster guard e2e recipes

# Formatting, clippy with warnings as errors, docs without warnings. The schema check is a test.
check: playground
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items

# Three tests for each two cores: tests wait a third of their time.
TEST_THREADS := $(shell cores=$$(nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2); echo $$((cores + cores / 2)))

## The suite. Its servers log in to Redis as a user with no more rights than they need.
.PHONY: suite
suite: need-redis playground
ifdef NEXTEST
	cargo nextest run --locked --test-threads $(TEST_THREADS)
else
	cargo test --locked
endif

## The tests whose result may differ on a Redis Cluster: every test has one of three nodes.
.PHONY: test-cluster
test-cluster: need-redis playground
ifdef NEXTEST
	WAXWING_TEST_CLUSTER=1 cargo nextest run --locked --profile cluster --test-threads $(TEST_THREADS)
else
	WAXWING_TEST_CLUSTER=1 cargo test --locked
endif

## What a server still does that is asked for more than it can. For a quiet machine with two cores.
.PHONY: bench-overload
bench-overload: need-redis dist
	node tests/bench/overload.mjs target/dist/waxwing

## What documents cost in CPU of both processes for each token that they are charged, against a first screen. For a quiet machine.
.PHONY: bench-work
bench-work: need-redis dist
	node tests/bench/work.mjs target/dist/waxwing

## What a flood of log-ins does to those who only read. For a quiet machine.
.PHONY: bench-logins
bench-logins: need-redis dist
	node tests/bench/logins.mjs target/dist/waxwing

## What one address can do to everybody else: each attack beside clients who read, post and listen. For a quiet machine; three minutes
## beside the build. Half an hour of all of them in turn: make bench-fairness ARGS="--soak 30".
.PHONY: bench-fairness
bench-fairness: need-redis dist
	node tests/bench/fairness/main.mjs target/dist/waxwing $(ARGS)

## The playground in headless Chromium, against a server of its own.
e2e: need-redis need-chromium playground
	cargo build --locked
	node tests/it/validation/expect.mjs --check
	CHROMIUM="$${CHROMIUM:-$$(command -v chromium)}" node playground/test/run.mjs target/debug/waxwing

## The recipes of docs/frontend.md, built and run against servers of their own.
.PHONY: recipes
recipes: need-redis need-chromium playground playground/recipes/node_modules/.package-lock.json
	cargo build --locked
	CHROMIUM="$${CHROMIUM:-$$(command -v chromium)}" node --test-reporter=spec playground/recipes/run.mjs target/debug/waxwing

playground/recipes/node_modules/.package-lock.json: playground/recipes/package-lock.json
	npm --prefix playground/recipes ci
	@touch $@

## What hostile documents cost, in CPU; what posting and fan-out cost, against plain Redis; what a decision costs. For a quiet machine.
.PHONY: bench
bench: need-redis
	cargo bench --locked --profile dist --bench documents
	cargo bench --locked --profile dist --bench fanout
	cargo bench --locked --profile dist --bench ads

## What each thing costs, and how that grows: written into docs/performance.md and drawn. For a quiet machine; some ten minutes beside the build.
.PHONY: bench-report
bench-report: need-redis
	cargo bench --locked --profile dist --bench pages -- report

## Instructions a request, against those in tests/bench/instructions.json: fails where one has become 5 % worse. Any machine will do.
.PHONY: guard
guard: need-redis need-valgrind
	cargo bench --locked --profile dev --bench pages -- guard

## Takes what is counted now for what is meant. Say why in the commit.
.PHONY: guard-accept
guard-accept: need-redis need-valgrind
	cargo bench --locked --profile dev --bench pages -- guard accept

# What strangers send, mutated for so many seconds each: make fuzz SECONDS=600. The compiler's own fuzzing is not stable yet, which is no
# matter for a program that is never shipped.
SECONDS ?= 60
FUZZ ?= document cursor token
FUZZ_FLAGS = -timeout=10 -rss_limit_mb=2048 -max_len=20000

## Fuzzes what strangers send; new inputs go to target/fuzz/corpus, what was found is told.
.PHONY: fuzz
fuzz:
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
	@for target in $(FUZZ); do \
	  mkdir -p target/fuzz/corpus/$$target && \
	  RUSTC_BOOTSTRAP=1 nice -n 19 cargo fuzz run --fuzz-dir tests/fuzz --target-dir target/fuzz $$target \
	    target/fuzz/corpus/$$target tests/fuzz/corpus/$$target -- -max_total_time=$(SECONDS) $(FUZZ_FLAGS) || exit 1; \
	done

## What is built in: licences and sources, on every platform. (The suite holds the same for this platform, without a download.)
.PHONY: licences
licences:
	@command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny --locked --config .deny.toml check bans licenses sources

## Known holes in what is built in. Fetches the list of them.
.PHONY: advisories
advisories:
	@command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny --locked --config .deny.toml check advisories

## A bill of materials of the server, as CycloneDX: target/package/waxwing.cdx.json.
.PHONY: sbom
sbom:
	@command -v cargo-cyclonedx >/dev/null || cargo install cargo-cyclonedx --locked
	@mkdir -p target/package
	SOURCE_DATE_EPOCH=$(SOURCE_DATE) cargo cyclonedx --format json --spec-version 1.5 --override-filename waxwing.cdx
	sed 's|file://$(CURDIR)|file:///waxwing|g' waxwing.cdx.json > target/package/waxwing.cdx.json && rm waxwing.cdx.json

# The same sources give the same binary, wherever they are built: no path and no date of this machine is in it.
SOURCE_DATE = $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
RELEASE_TARGET ?= $(CURDIR)/target/reproducible
CARGO_DIR = $(or $(CARGO_HOME),$(HOME)/.cargo)
# Of several that fit, the last one counts.
RELEASE_FLAGS = --remap-path-prefix=$(CARGO_DIR)=cargo --remap-path-prefix=$(CURDIR)=waxwing --remap-path-prefix=$(RELEASE_TARGET)=target
RELEASE_CFLAGS = -ffile-prefix-map=$(CARGO_DIR)=cargo -ffile-prefix-map=$(CURDIR)=waxwing -ffile-prefix-map=$(RELEASE_TARGET)=target

.PHONY: release-build
release-build:
	SOURCE_DATE_EPOCH=$(SOURCE_DATE) RUSTFLAGS="$(RELEASE_FLAGS)" CFLAGS="$(RELEASE_CFLAGS)" \
	  cargo build --profile dist --locked --target-dir $(RELEASE_TARGET)

## The files of a release, in target/package: the binary, its bill of materials, and their checksums.
.PHONY: release
release: playground release-build sbom
	install -m 0755 $(RELEASE_TARGET)/dist/waxwing target/package/waxwing
	cd target/package && sha256sum waxwing waxwing.cdx.json > SHA256SUMS && cat SHA256SUMS

## Builds it twice, from two folders, and compares. Takes as long as that.
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

## Write schema.graphql anew, after the schema was changed on purpose.
schema:
	cargo run --locked --quiet -- schema > schema.graphql.new && mv schema.graphql.new schema.graphql

## What graphql-js makes of the cases that validation is compared by, written anew after they or the schema were changed.
.PHONY: validation-cases
validation-cases: playground/node_modules/.package-lock.json
	node tests/it/validation/expect.mjs

# Vite asks for this Node.js. Without it the server is built all the same.
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
