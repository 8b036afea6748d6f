# Everything that is done to this repository has a target here; `make` lists them.

GO            ?= go
FUZZTIME      ?= 30s
GOLANGCI_LINT ?= v2.15.0
GOVULNCHECK   ?= v1.9.0
AXE           ?= 4.14.1
OPENAPI_TOOLS ?= openapi-python-client==0.29.1 openapi-spec-validator==0.9.0
MCP_SDK       ?= mcp==2.3.0

# Pinned tools are built once a user and version, outside of the checkout.
TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/shadowcourt/tools
# A linter that collects less garbage needs a quarter less processor time, and up to 5 GiB.
LAZY_GC := GOGC=250 GOMEMLIMIT=5GiB
LINT  := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT)/golangci-lint
VULNCHECK := $(TOOLS)/govulncheck-$(GOVULNCHECK)/govulncheck

BIN      := bin/shadowcourt
DEMO     := examples/dockets/demo
# The commit whose results cmd/shadowcourt/testdata/before keeps.
BEFORE   ?= 370f0b16
HELD_OUT := examples/dockets/go-test-1.jsonl
REPORT   := out/report.html

# Pairs of dockets, to fit on and to test on.
ABLATION ?= examples/dockets/go-fit-1.jsonl:examples/dockets/go-test-1.jsonl \
            examples/dockets/sentiment-fit.jsonl:examples/dockets/sentiment-test.jsonl

# The halves of the large docket, and each to fit on while the other is tested.
GO_DOCKETS  := examples/dockets/go-fit-1.jsonl examples/dockets/go-test-1.jsonl
LIGHT_STUDY ?= $(firstword $(GO_DOCKETS)):$(lastword $(GO_DOCKETS)) $(lastword $(GO_DOCKETS)):$(firstword $(GO_DOCKETS))

# Dockets that took no part in choosing how to fit.
INTENTS := $(foreach n,banking domains,examples/dockets/$(n)-1.jsonl:examples/dockets/$(n)-2.jsonl examples/dockets/$(n)-2.jsonl:examples/dockets/$(n)-1.jsonl)
QUALITY     ?= $(LIGHT_STUDY) examples/dockets/sentiment-fit.jsonl:examples/dockets/sentiment-test.jsonl \
               examples/dockets/sentiment-test.jsonl:examples/dockets/sentiment-fit.jsonl $(INTENTS)

# A program of the laboratory, which is run in this folder.
lab = $(GO) -C lab build -o $(CURDIR)/out/lab/ ./$(1) && out/lab/$(1)

# Tools built as bin/shadowcourt is, without cgo and without paths of this checkout, share compiled packages with it: a fifth of `make demo`.
RUN := CGO_ENABLED=0 $(GO) run -trimpath
# A compiler that collects its garbage less often takes a fifth less time, and 1.1 GB at most in place of 0.9.
COMPILE := GOGC=400 CGO_ENABLED=0

# Test binaries without debug information are linked in half the time. The vet of go test is left out: make lint runs all of it.
# Some tests sleep; a third package keeps both cores busy.
TEST := $(GO) test -trimpath -vet=off -ldflags='-s -w' -p 3

# The parts of the long tier. What a build tag or a variable leaves out of `go test` has a target of its own.
LONG ?= long-tests compare-results conformance mutants faults attacks kills sdk-tests runner-tests browser-tests client-tests service-tests service-faults service-soak \
        proxy-tests cosign-tests webhook-tests llm-tests
# Measurements are no tests.
MEASURED := bombs fuel-zoo

# Packages that have goroutines of their own or guard what others share; of those that try many cases, the tests that are about it.
RACE        = ./host/execlight ./host/model ./internal/quotes ./internal/disk $(addprefix ./host/internal/,court court/registry court/traverse sandbox/internal/pages)
RACE_SOME  := ./host ./host/casebook ./host/experiment/isolate ./host/record ./host/internal/sandbox
# The command starts few goroutines of its own, and needs a third of the time that compiling with the race detector takes. .ci/run leaves it out.
RACE_COMMAND ?= ./cmd/shadowcourt ./cmd/shadowcourt/internal/try
RACE_TESTS := Hammer|PL1_|PR2_Nothing|PL11_ACandidateDecides|PL5|Cancelled|Signal|Progress|Interrupt|RE1_Workers|TwoStarts|CloseWaits|EngineClose|PruningDisturbs|ASpinningGuest|EnginesShare|CallersContext
# The packages that have files for guests alone. Plugins have none, and make plugins compiles them for guests.
GUEST  := ./abi/guest/... ./abi/codec
GOLDEN  = $(sort $(dir $(shell grep -rl --include='*_test.go' 'flag.Bool("update"' .)))

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: command ## build the command, plant six failures in the history of a real module, and compare the answers of alibi with them
	$(RUN) ./tools/demo -program $(BIN) -out out/demo

.PHONY: demo-docket
demo-docket: command ## try twelve cases of modules that the profile was not fitted on, and the whole held-out half
	@mkdir -p $(dir $(REPORT))
	$(BIN) try $(DEMO).jsonl --profile $(DEMO).yaml --report $(REPORT)
	@echo
	@echo "The profile was fitted on go-fit-1.jsonl, whose Go modules are others. All of the held-out half, go-test-1.jsonl:"
	@$(BIN) try $(HELD_OUT) --profile $(DEMO).yaml | sed -n '/^Truth/,/^Verdicts/{/^Verdicts/!p;}'

.PHONY: demo-files
demo-files: command ## rewrite the profile of demo-docket
	{ echo "# Fitted on examples/dockets/go-fit-1.jsonl by 'make demo-files'. No Go module there is in go-test-1.jsonl or demo.jsonl."; \
	  echo "#"; $(BIN) fit examples/dockets/go-fit-1.jsonl --name demo --output -; } > $(DEMO).yaml.new
	mv $(DEMO).yaml.new $(DEMO).yaml

.PHONY: command
command: plugins ## build bin/shadowcourt, the modules in it
	$(COMPILE) $(GO) build -trimpath -ldflags='-s -w' -o $(BIN) ./cmd/shadowcourt

.PHONY: build
build: command ## build bin/shadowcourt, and the program beside it that verifies keyless signatures
	cd cmd/shadowcourt-keyless && $(COMPILE) $(GO) build -trimpath -ldflags='-s -w' -o $(CURDIR)/$(BIN)-keyless .

.PHONY: install
install: plugins ## put shadowcourt on the PATH, in Go's bin folder
	$(COMPILE) $(GO) install -trimpath -ldflags='-s -w' ./cmd/shadowcourt
	cd cmd/shadowcourt-keyless && $(COMPILE) $(GO) install -trimpath -ldflags='-s -w' .

.PHONY: release
release: ## make the commit, the tags and the module proxy of a version: VERSION=v0.1.0 OUT=out/release
	$(GO) run ./tools/release -version "$(VERSION)" -out "$(OUT)"

.PHONY: share
share: command ## write the page of all commands and shell completions into out/share
	$(TEST) -count=1 -run TestAccept_WR1_TheManual ./cmd/shadowcourt -update
	@mkdir -p out/share/completions
	for shell in bash zsh fish powershell; do $(BIN) completion $$shell > out/share/completions/shadowcourt.$$shell || exit 1; done

.PHONY: snapshot
snapshot: plugins ## build the files of a release for six platforms into dist, without publishing; needs goreleaser
	goreleaser check
	goreleaser release --snapshot --clean

.PHONY: vet-platforms
vet-platforms: plugins ## compile and vet the code and all tests for the other systems of a release; needs minutes
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

.PHONY: plugins
plugins: ## build the modules that the command embeds
	GOGC=400 $(RUN) ./tools/buildmodules

.PHONY: test
test: plugins ## run the quick tier of the tests: all but what internal/testkit/tier names long
	$(TEST) -timeout 25m ./...
	cd cmd/shadowcourt-keyless && $(TEST) ./...

.PHONY: test-long
test-long: ## run all other tests, or the parts LONG="long-tests kills"; needs hours, and what the parts need
	@for part in $(LONG); do echo "== make $$part"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; done; \
	test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

.PHONY: long-tests
long-tests: plugins ## run the tests of the long tier, those of FOLDERS="host cmd", or those that the changes SINCE=REVISION touch
	@tests=$$($(RUN) ./tools/longtests $(SINCE:%=-since %) $(FOLDERS)) && echo "long tests: $${tests:-none}" && \
	test -z "$$tests" || SHADOWCOURT_LONG=1 $(TEST) -count=1 -timeout 60m $$tests

.PHONY: compare-results
compare-results: plugins ## compare all results, answers, golden files and records with those of commit BEFORE, which it builds, and show what differs
	rm -rf out/before && mkdir -p out/before && git archive $(BEFORE) | tar -x -C out/before
	$(MAKE) -C out/before build
	SHADOWCOURT_LONG=1 SHADOWCOURT_BEFORE=$(CURDIR)/out/before/bin/shadowcourt $(GO) test -vet=off -count=1 -timeout 60m -run HX3_ ./cmd/shadowcourt
	cd lab && SHADOWCOURT_LONG=1 $(GO) test -vet=off -count=1 -timeout 60m -run HX3_ ./histories

.PHONY: test-hardship
test-hardship: plugins ## run all tests on one core, beside four busy loops and within 4 GB; needs Linux, root and an hour
	.ci/hardship

.PHONY: race
race: plugins ## run the tests with goroutines under the race detector; seven times as long where the modules are not compiled yet
	$(TEST) -race -short -timeout 30m $(RACE)
	$(TEST) -race -short -timeout 30m -run '$(RACE_TESTS)' $(RACE_SOME) $(RACE_COMMAND)

.PHONY: repeat
repeat: plugins ## run the tests with goroutines twenty times in a row
	$(TEST) -short -count=20 -timeout 120m $(RACE)
	$(TEST) -short -count=20 -timeout 120m -run '$(RACE_TESTS)' $(RACE_SOME) $(RACE_COMMAND)

.PHONY: conformance
conformance: plugins ## run the test vectors over both codecs, and the conformance kit over our modules and its zoo
	SHADOWCOURT_LONG=1 SHADOWCOURT_CASES=1000 $(GO) test -count=1 -timeout 60m ./abi/testkit/vectors ./abi/abitest ./abi/codec ./host/conformance

.PHONY: sdk-tests
sdk-tests: plugins ## build and test modules in every language that has its tools here; SDK_ONLY="c", SDK_REQUIRE="rust c ..." or all
	$(GO) test -count=1 -tags sdk -v -timeout 60m ./host/internal/testkit/polyglot

.PHONY: runner-tests
runner-tests: plugins ## run experiments on projects of other languages; installs their test runners (Gradle with apt-get), needs the network and an hour
	@command -v gradle >/dev/null || { apt-get update -q && apt-get install -yq --no-install-recommends gradle; } || echo "gradle can't be installed: its tests are skipped" >&2
	SHADOWCOURT_RUNNERS=1 SHADOWCOURT_LONG=1 $(GO) test -vet=off -count=1 -v -timeout 90m -run 'TestAccept_(EX9|AL6|AK[12]|IG3)|TestAccept_AL[23]_(Pytest|Jest|Vitest|Surefire|Gradle)' ./cmd/shadowcourt ./internal/testcmd ./internal/quarantine ./host/experiment

.PHONY: browser-tests
browser-tests: plugins ## test the pages of the service and the report of alibi in a real Chromium, and make their pictures in docs/images; needs chromium and npm
	@mkdir -p docs/images
	npm install --silent --no-save --no-audit --no-fund --prefix out/axe axe-core@$(AXE)
	SHADOWCOURT_AXE=$(CURDIR)/out/axe/node_modules/axe-core/axe.min.js $(GO) test -count=1 -tags browser -timeout 30m \
	  -run '^TestAccept_UI' ./internal/service/web -pictures $(CURDIR)/docs/images
	SHADOWCOURT_AXE=$(CURDIR)/out/axe/node_modules/axe-core/axe.min.js $(GO) test -count=1 -tags browser -run InABrowser ./internal/render

.PHONY: client-tests
client-tests: plugins ## clients in Python of the service, generated from its OpenAPI document, and of MCP; needs Python and PyPI
	python3 -m venv out/openapi
	out/openapi/bin/pip install -q $(OPENAPI_TOOLS) $(MCP_SDK)
	SHADOWCOURT_LONG=1 SHADOWCOURT_PYTHON=$(CURDIR)/out/openapi/bin SHADOWCOURT_MCP_PYTHON=$(CURDIR)/out/openapi/bin/python \
	  $(GO) test -vet=off -count=1 -tags client -run '^TestAccept_(SV6_AGenerated|AL9_AClientInPython)' ./cmd/shadowcourt

.PHONY: llm-tests
llm-tests: plugins ## try real cases with a real small model on loopback; installs and builds it once, needs PyPI, a C++ compiler and an hour
	SHADOWCOURT_LLM_CASES=$(or $(LLM_CASES),50) $(GO) test -vet=off -count=1 -tags llm -v -timeout 180m -run '^TestAccept_LL7' ./cmd/shadowcourt

.PHONY: mutants
mutants: ## remove each check of the decoder in turn; a test vector must notice
	$(GO) test -count=1 -v ./abi/internal/testkit/mutants

.PHONY: kills
kills: plugins ## kill runs at random moments, lose their power, and fill their disks; nothing that was written may be lost; needs strace
	SHADOWCOURT_LONG=1 SHADOWCOURT_KILLS=200 $(GO) test -count=1 -timeout 60m -run TestAccept_RE3 ./cmd/shadowcourt
	SHADOWCOURT_LONG=1 SHADOWCOURT_KILLS=100 $(GO) test -count=1 -timeout 120m -run TestAccept_FX2 ./cmd/shadowcourt
	SHADOWCOURT_LONG=1 SHADOWCOURT_KILLS=100 $(GO) test -count=1 -timeout 120m -v -run TestAccept_FZ10 ./cmd/shadowcourt

.PHONY: service-tests
service-tests: plugins ## the service's store, workers and processes on a PostgreSQL server that the tests start
	$(GO) test -count=1 -tags postgres -run Postgres ./internal/service/...

.PHONY: cosign-tests
cosign-tests: ## keyless signatures that are made now, and those of cosign itself if it is in PATH (go install github.com/sigstore/cosign/v3/cmd/cosign@latest)
	$(TEST) -count=1 -tags cosign -v -run CosignItself ./internal/trust
	cd cmd/shadowcourt-keyless && $(TEST) -count=1 -tags cosign -v -run MadeNow ./...

.PHONY: webhook-tests
webhook-tests: ## messages of webhooks, verified by the library of the Standard Webhooks specification for Python, from PyPI
	$(TEST) -count=1 -tags client -run AuthorsLibrary ./internal/service/work

.PHONY: proxy-tests
proxy-tests: plugins ## strangers who come to the service through a real nginx may do nothing; needs nginx (Debian: nginx-light)
	$(TEST) -count=1 -tags nginx -run Nginx ./internal/service

.PHONY: service-faults
service-faults: plugins ## kill workers of the service and their database, and have their clocks jump, while they try 20,000 cases; each has one verdict
	SHADOWCOURT_SERVICE_CASES=20000 $(GO) test -count=1 -timeout 180m -tags postgres -v -run 'TestAccept_SV2_(Kills|Faults)|TestAccept_FZ10' ./internal/service/work

.PHONY: service-soak
service-soak: plugins ## a worker of the service goes on for SOAK (30m) with dockets, swaps and retention; its memory must not grow
	SHADOWCOURT_SOAK=$(or $(SOAK),30m) $(GO) test -count=1 -timeout 24h -v -run TestAccept_SV2_Soak ./internal/service/work

.PHONY: faults
faults: ## combine faults of every type 2000 times; each must be reported as it is alone
	SHADOWCOURT_FAULTS=2000 $(GO) test -count=1 -run TestAccept_FX3 ./abi/codec

.PHONY: fuel-zoo
fuel-zoo: ## measure what a unit of fuel takes in each loop of the zoo; Linux, needs minutes
	SHADOWCOURT_FUEL_ZOO=$(or $(FUEL_ZOO),200ms) $(GO) test -count=1 -timeout 60m -v -run TestMeasure ./host/internal/sandbox/testkit/fuelzoo

.PHONY: nan-arm64
nan-arm64: ## compare the bits of NaNs on arm64; needs qemu-aarch64 (Debian: apt-get install qemu-user)
	@mkdir -p out
	GOARCH=arm64 $(GO) test -c -o out/instrument-arm64.test ./host/internal/sandbox/instrument
	cd host/internal/sandbox/instrument && qemu-aarch64 $(CURDIR)/out/instrument-arm64.test -test.run TestAccept_FX7 -test.v

.PHONY: attacks
attacks: plugins ## run the long attacks on the host's limits (tests named TestAccept_FX), with their figures; needs minutes
	SHADOWCOURT_ATTACKS=1 $(GO) test -count=1 -v -timeout 60m -run '^TestAccept_FX' ./...

.PHONY: fuzz
fuzz: plugins ## run every fuzz target for FUZZTIME (30s)
	@grep -rn --include='*_test.go' '^func Fuzz' . | sed -E 's|^(.*)/[^/]+:[0-9]+:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort | \
	{ while read -r package target; do \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$package" </dev/null || failed="$$failed $$package/$$target"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }; }

.PHONY: ablation
ablation: plugins ## take the court's mechanisms away, one at a time, and measure what is left; needs minutes
	$(call lab,courts) ablation -tables lab/tables/ablation $(ABLATION)

.PHONY: light-study
light-study: plugins ## measure what the Light path, remands and the casebook gain, for lab/tables; needs minutes
	$(call lab,courts) light -tables lab/tables/light $(LIGHT_STUDY)

.PHONY: quality-study
quality-study: plugins ## measure the fitted court beside models of scikit-learn, for lab/tables; needs Python, the network and minutes
	python3 -m venv out/quality
	out/quality/bin/pip -q install -r lab/courts/requirements.txt
	$(call lab,courts) quality -tables lab/tables/quality $(QUALITY)

.PHONY: histories
histories: ## make the trees of all cases in lab/histories again, from the snapshots in SNAPSHOTS=DIR, and compare their commits
	$(call lab,histories) rebuild -snapshots $(SNAPSHOTS)

.PHONY: histories-alone
histories-alone: ## time 50 cases of lab/histories from the snapshots in SNAPSHOTS=DIR; nothing else may run on the machine
	$(call lab,histories) alone -snapshots $(SNAPSHOTS)

.PHONY: histories-beside
histories-beside: build ## ask 100 cases of lab/histories, from the snapshots in SNAPSHOTS=DIR, of the command BEFORE and of this one, in turns; needs an hour
	$(call lab,histories) beside -snapshots $(SNAPSHOTS) -before $(BEFORE)

.PHONY: histories-study
histories-study: plugins ## judge the saved cases of lab/histories without running a test, for its page; needs minutes
	$(call lab,histories) study -cases -page lab/histories/README.md -tables lab/histories/tables

.PHONY: alibi-profile
alibi-profile: ## learn the profile of the alibi court again, pipelines/profiles/alibi.yaml, from the learning half of lab/histories
	$(call lab,histories) profile -out pipelines/profiles/alibi.yaml

.PHONY: chance-study
chance-study: ## compare rules that tell a flaky test from one that a change made fail more often, for lab/tables; needs a minute
	$(call lab,chance) -tables lab/tables/chance

.PHONY: constructed-study
constructed-study: build ## ask alibi about CASES failures of each kind whose cause is known (NODE=DIR has vitest and jest); needs hours
	$(call lab,constructed) -shadowcourt bin/shadowcourt -cases $(or $(CASES),20) -node "$(NODE)" $(CONSTRUCTED)

.PHONY: culprit-study
culprit-study: ## compare the search for culprits with git bisect, on saved outcomes, for lab/tables; needs a minute
	$(call lab,culprit) -tables lab/tables/culprit

.PHONY: culprit-lines
culprit-lines: ## make the lines of commits of culprit-study again, from the snapshots in SNAPSHOTS=DIR
	$(call lab,culprit) -tables lab/tables/culprit -snapshots $(SNAPSHOTS)

.PHONY: culprit-reverts
culprit-reverts: ## search the histories in SNAPSHOTS=DIR for commits that were reverted, for lab/tables; runs their tests in isolation
	$(call lab,culprit) -tables lab/tables/culprit -reverts -snapshots $(SNAPSHOTS)

.PHONY: docket-sentiment
docket-sentiment: ## make the docket of sentiments again; needs Python and the network
	python3 -m venv out/sentiment
	out/sentiment/bin/pip -q install -r examples/dockets/sentiment/requirements.txt
	out/sentiment/bin/python examples/dockets/sentiment/make.py examples/dockets

.PHONY: docket-intents
docket-intents: ## make the dockets of intents again; needs Python and the network (SOURCES=DIR reads checkouts of the data instead)
	python3 -m venv out/intents
	out/intents/bin/pip -q install -r examples/dockets/intents/requirements.txt
	out/intents/bin/python -B examples/dockets/intents/make.py examples/dockets $(if $(SOURCES),--sources $(SOURCES))

.PHONY: bench-peers
bench-peers: plugins ## measure beside other runtimes and frameworks; needs minutes
	cd lab/bench && $(GO) run . -out results.json && $(GO) run . -out results.json -page ../performance.md

.PHONY: lab-check
lab-check: plugins ## compile, vet and test the laboratory, which is a Go module of its own
	cd lab && $(GO) test -vet=all ./... && GOOS=wasip1 GOARCH=wasm $(GO) vet ./bench/guests/...

.PHONY: golden
golden: plugins ## rewrite the golden files; review the diff
	$(GO) test $(GOLDEN) -update

.PHONY: bombs
bombs: ## load the largest accepted module of each kind that is costly to compile; time and memory of each
	SHADOWCOURT_BOMBS=all $(GO) test -count=1 -timeout 2h -v -run TestMeasure ./host/internal/sandbox/testkit/bombs

.PHONY: generate
generate: ## generate codecs, schemas, test vectors and tables from the types of abi
	$(GO) generate ./...

.PHONY: lint
lint: $(LINT) ## run the linters, go vet among them, for the host and for the guest
	$(LAZY_GC) $(LINT) run ./...
	cd cmd/shadowcourt-keyless && $(LAZY_GC) $(LINT) run ./...
	GOOS=wasip1 GOARCH=wasm $(LAZY_GC) $(LINT) run $(GUEST)

.PHONY: vulncheck
vulncheck: build $(VULNCHECK) ## search code, tests, dependencies and the command for known vulnerabilities; DB=file:///... (https://vuln.go.dev)
	$(VULNCHECK) $(DB:%=-db %) -test -tags browser,client,llm,nginx,postgres,sdk ./...
	for os in darwin windows; do GOOS=$$os $(VULNCHECK) $(DB:%=-db %) ./... || exit 1; done
	GOOS=wasip1 GOARCH=wasm $(VULNCHECK) $(DB:%=-db %) $(GUEST)
	cd host/bundle && $(VULNCHECK) $(DB:%=-db %) -test ./...
	cd lab && $(VULNCHECK) $(DB:%=-db %) -test ./...
	cd cmd/shadowcourt-keyless && $(VULNCHECK) $(DB:%=-db %) -test ./...
	$(VULNCHECK) $(DB:%=-db %) -mode binary $(BIN)
	$(VULNCHECK) $(DB:%=-db %) -mode binary $(BIN)-keyless

.PHONY: size
size: ## print the sizes of the repository beside their limits, tools/size/limits.txt; CHECK=1 fails above one
	$(GO) run ./tools/size $(CHECK:%=-check)

.PHONY: fmt
fmt: $(LINT) ## format all Go files
	$(LINT) fmt ./...

.PHONY: cover
cover: plugins ## write coverage to out/cover.html
	@mkdir -p out
	$(GO) test -coverpkg=./... -coverprofile=out/cover.profile ./...
	$(GO) tool cover -func=out/cover.profile | tail -n 1
	$(GO) tool cover -html=out/cover.profile -o out/cover.html

.PHONY: check
check: lint test race ## what a change must pass

.PHONY: clean
clean: ## remove everything that was built
	rm -rf bin out host/bundle/dist/*.zst

$(LINT):
	GOGC=400 GOBIN=$(dir $(LINT)) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)

$(VULNCHECK):
	GOBIN=$(dir $(VULNCHECK)) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK)
