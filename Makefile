# Everything from a machine that has Python 3.11 or newer, pip and make. `make help` lists the targets.

PYTHON ?= python3
VENV ?= .venv
SCALE ?= paper
OUT ?= out
NB ?=
ARGS ?=

LOCK := requirements.lock
PY := $(VENV)/bin/python
PACKAGES := $(VENV)/.packages
READY := $(VENV)/.ready
PEERS := $(VENV)-peers

# What would put other packages into this environment, install it elsewhere, or remove all checks.
unexport PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX PYTHONOPTIMIZE

.DEFAULT_GOAL := help
.PHONY: help reproduce report test portable check lab bench peers notebooks lock clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "make %-10s %s\n", $$1, $$2}'

reproduce: $(READY)  ## run every notebook and fill out/ (SCALE=paper or quick, OUT=out)
	@$(PY) -m marab_lib reproduce --report --scale $(SCALE) --out $(OUT)

report: $(READY)  ## make out/report/, a static site of the notebooks that were run
	@$(PY) -m marab_lib report --out $(OUT)

test: check  ## all that CI runs: ruff, mypy, unit and statistical tests, doctests, notebooks
	@$(PY) -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(ARGS)

portable: $(READY)  ## check the saved notebooks, or NB="09 10", as on other processors (an hour)
	@$(PY) tests/portable.py $(ARGS) -- $(NB)

check: $(READY)  ## ruff: lint and format; mypy: types
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

lab: $(READY)  ## open JupyterLab on the notebooks
	@$(PY) -m jupyter lab --ContentsManager.pre_save_hook=marab_lib.runner.save.without_versions \
	  $(ARGS) notebooks

bench: $(READY)  ## time a step of every policy, or ARGS="grid threads": parts of it
	@$(PY) benchmarks/bench.py $(ARGS)

peers: $(READY)  ## time other bandit libraries on the same runs, in an environment of their own
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv --without-pip $(PEERS)
	@$(PY) benchmarks/peers.py --install --python $(PEERS)/bin/python $(ARGS)

notebooks: $(READY)  ## execute all notebooks, or NB=06, and save their outputs in notebooks/
	@$(PY) -m marab_lib save $(NB)

lock: $(READY)  ## renew the exact versions of requirements.lock within the ranges of pyproject.toml
	$(VENV)/bin/uv pip compile --quiet --upgrade --universal --fork-strategy fewest \
	  --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock" \
	  --extra test --extra cluster --extra report --group environment pyproject.toml --output-file $(LOCK)

clean:  ## remove the environment and caches, but not out/
	rm -rf $(VENV) $(PEERS) build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# The environment: exactly the locked packages, then this project as editable. uv only saves time:
# where it cannot be had or used, pip installs the same files. No ensurepip is needed (Debian keeps
# it in a package of its own).
PIP := $(PYTHON) -m pip --python $(PY) --disable-pip-version-check
define CHECK_PYTHON
import sys
if sys.version_info < (3, 11):
    sys.exit("marab needs Python 3.11 or newer, but $(PYTHON) is %d.%d: try make PYTHON=python3.12" % sys.version_info[:2])
try:
    import pip, venv
except ImportError as error:
    sys.exit("marab needs pip and venv, but $(PYTHON) has none: %s" % error)
endef
export CHECK_PYTHON
# pip says only that no version matches.
NO_INDEX := the package index cannot be reached, or lacks a locked version: check the network, the \
  proxy, and which index pip is set to
export NO_INDEX

$(PACKAGES): $(LOCK)
	@$(PYTHON) -c "$$CHECK_PYTHON"
	@echo "installing the locked packages into $(VENV), which may take some minutes"
	@$(PYTHON) -m venv --clear --without-pip $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' $(LOCK) > $(VENV)/uv.txt
	@{ $(PIP) install --quiet --require-hashes -r $(VENV)/uv.txt && \
	  env $${PIP_CERT:+SSL_CERT_FILE="$$PIP_CERT"} $${PIP_INDEX_URL:+UV_DEFAULT_INDEX="$$PIP_INDEX_URL"} \
	    $(VENV)/bin/uv pip install --quiet --python $(PY) --compile-bytecode --require-hashes -r $(LOCK); } 2> $(VENV)/errors || \
	  { echo "uv cannot be used here: pip installs the same files"; \
	    $(PIP) install --quiet --require-hashes -r $(LOCK) 2> $(VENV)/errors; } || \
	  { cat $(VENV)/errors >&2; \
	    ! grep -qi "connection\|from versions: none" $(VENV)/errors || echo "$$NO_INDEX" >&2; exit 1; }
	@touch $@

# Compiled here, so that a reader's first simulation starts at once.
$(READY): $(PACKAGES) pyproject.toml $(wildcard marab_lib/kernels/*.py marab_lib/policies/*.py)
	@PYTHONWARNINGS=ignore $(PY) -m pip install --quiet --no-deps --no-build-isolation --editable .
	@$(PY) -c "import matplotlib.pyplot"  # builds the font list here, not within a notebook
	@$(PY) -m marab_lib.simulation.warm
	@touch $@
