# make book      run the notebooks that are out of date, then render _build/html
# make test      style, imports between packages, types, tests; make test-slow: those of the rendered book and slow ones
# make bench     our kernels against peers and against their floor; KEEP=results/benchmarks.json: for the book;
#                PROFILE=smoke: whether all of it runs, in seconds
# make data      every data set: found, downloaded, or what to do
# make missing   what some hours would complete; which runs are absent, smaller than published, or out of date
# make fill      HOURS=n: compute missing runs that long, at low priority; FIRST=experiment: its runs first;
#                OPTIONS="...": Snakemake's, such as --workflow-profile workflow/profiles/slurm
# make records   every record anew, from the recorded runs alone
# make card      MODEL=package.module:factory (or folder/file.py:factory) WEIGHTS=net.safetensors (or .pt) DATA=images.npz OUT=card.html
#                CHECK="worst_accuracy>=0.3" IMAGES=n RETRAINED="..." EPS=8/255 NORM=Linf|L2 RESTARTS=n SSIM=uniform MEAN=... STD=...
#                ABOUT="licence=MIT 'training data=MNIST'": what the card says of the model
#                With make -C the files are those of the folder where you stand.
# make same      does changed code compute what it did? then its digest is entered; EXPERIMENT=he/attacks: of one;
#                FROM=commit: compared with that one, not with the last
# make readme    the README's picture and finder
# make explorer  the digits and networks of the home page's explorer, from MNIST and the kept networks
# make paper     KEY=doe: begin a paper with a small one that runs; make page: KEY=doe NAME=4_more ITEM=table-2
# make pair      write each .ipynb from its .py     make lock    renew requirements.lock
# make clean     drop what was built (not the environment, the cache, a sweep, runs of other parameters)
# make env       the environment alone, mended where it is half-made; make venv: without packages
# Knobs: PROFILE=smoke|quick|paper  JOBS=n  VENV=folder  PYTHON=python3
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := book
# A person's settings of the tools that this starts change no result.
unexport $(filter-out PYTHON PYTHONPATH,$(filter PYTHON%,$(.VARIABLES))) MPLBACKEND JPY_SESSION_NAME \
    SNAKEMAKE_PROFILE GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE PYTEST_ADDOPTS PYTEST_PLUGINS
export PYTHONUTF8 := 1
PYTHON ?= python3
VENV ?= .venv
BIN := $(abspath $(VENV))/bin
PROFILE ?= quick
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
override READY := $(VENV)/.ready
export PATH := $(BIN):$(PATH)
export PROFILE JOBS

ifeq ($(filter $(PROFILE),smoke quick paper),)
$(error unknown profile '$(PROFILE)'; allowed: smoke, quick, paper)
endif
ifneq ($(words $(VENV)),1)
$(error VENV='$(VENV)': a folder without spaces in its name is needed; one relative to this folder will do)
endif

.PHONY: book run test test-slow bench card data missing fill records same readme explorer pair lock clean env venv
# Two makes in one tree take turns: the second finds the work of the first done.
ALONE = mkdir -p _runs; exec 9>_runs/.lock; flock -n 9 || { echo "make: another one is at work here; waiting for it"; flock 9; };

book: run
	@$(ALONE) python -m workflow.render $(PROFILE)

run: $(READY)
	@$(ALONE) python -m workflow.book $(PROFILE) $(JOBS)

# Types are checked while tests run. A new environment's packages are compiled once, not by each worker.
TESTS = OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python -m pytest --dist worksteal
test: $(READY)
	@ruff check .
	@lint-imports --no-cache | tail -n 4
	@types=$$(mktemp); basedpyright > "$$types" & checker=$$!; status=0; \
	    trap 'kill $$checker 2> /dev/null || true; rm -f "$$types"' EXIT; \
	    [ $(VENV)/.compiled -nt $(READY) ] || { python -m tests.warm < /dev/null 2> /dev/null || true; touch $(VENV)/.compiled; }; \
	    $(TESTS) -n $(JOBS) -m "not slow" || status=$$?; \
	    wait $$checker && tail -n 1 "$$types" || { status=1; cat "$$types"; }; exit $$status

# Tests of the rendered book, in a browser, and others that take seconds. One worker more than cores: some wait.
test-slow: $(READY)
	@$(TESTS) -n $$(($(JOBS) + 1)) -m slow

ifeq ($(PROFILE),smoke)
bench: $(READY)
	@python -m benchmarks
else
bench:
	$(MAKE) --no-print-directory LOCK=benchmarks/requirements.lock VENV=.venv-bench .venv-bench/.ready
	PATH="$(abspath .venv-bench)/bin:$$PATH" python -m benchmarks $(KEEP)
endif

# make -C sets w, unless s or no-print-directory is there, and leaves PWD as it was. -P: a folder or file `shared` of the
# reader hides nothing.
OUT ?= card.html
LETTERS = $(firstword -$(MAKEFLAGS))
card: $(READY)
	@cd "$(if $(findstring w,$(LETTERS))$(findstring s,$(LETTERS))$(findstring no-print,$(MAKEFLAGS)),$(PWD),$(CURDIR))" && python -P -m shared.card $(MODEL) \
	    $(if $(WEIGHTS),--weights $(WEIGHTS)) $(if $(RETRAINED),--retrained $(RETRAINED)) --data "$(DATA)" --out "$(OUT)" \
	    $(if $(IMAGES),--images $(IMAGES)) --check "$(CHECK)" $(if $(EPS),--eps $(EPS)) $(if $(NORM),--norm $(NORM)) \
	    $(if $(RESTARTS),--restarts $(RESTARTS)) $(if $(SSIM),--ssim $(SSIM)) $(if $(MEAN),--mean "$(MEAN)") $(if $(STD),--std "$(STD)") \
	    $(if $(ABOUT),--about $(ABOUT))

data: $(READY)
	python -m workflow.data

missing: $(READY)
	@python -m workflow.missing

fill: $(READY)
	@python -m workflow.fill "$(HOURS)" "$(JOBS)" "$(FIRST)" $(OPTIONS)

records: $(READY)
	@python -m workflow.records

same: $(READY)
	@OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python -m workflow.versions same "$(EXPERIMENT)" $(or $(FROM),HEAD)

readme: $(READY)
	@python -m workflow.readme

explorer: $(READY)
	@python -m workflow.explorer

pair: $(READY)
	python -m workflow.pair

clean:
	rm -rf _build .snakemake .pytest_cache .hypothesis
	[ ! -d _runs ] || find _runs -mindepth 1 -maxdepth 1 ! -name runs -exec rm -rf {} +

lock: $(READY)
	for f in requirements benchmarks/requirements; do \
	    uv pip compile $$f.in -o $$f.lock --universal --python-version 3.11 --generate-hashes \
	        --no-emit-index-url --no-header --no-annotate --quiet --system-certs; done

# The environment is the lock, neither more nor less. The .pth line lets `import shared` work from any folder;
# JupyterLab's setting saves a page without outputs.
# It is sound if it lies where it was made, with a new enough Python and pip; else it is made anew. Another
# clone's stays as it is.
LOCK ?= requirements.lock
SOUND = grep -qsF "$(abspath $(VENV))" $(VENV)/bin/activate && \
    "$(BIN)/python" -I -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
OWNER = $(shell cat $(VENV)/lib/python3*/site-packages/boundary_book.pth 2>/dev/null)
ifneq ($(wildcard $(VENV)),)
ifneq ($(shell $(SOUND) && echo yes),yes)
$(shell rm -f $(READY))
else ifneq ($(OWNER),$(CURDIR))
ifneq ($(shell [ -e "$(OWNER)/workflow" ] && echo yes),)
$(error VENV=$(VENV) belongs to the clone $(OWNER); name another folder)
endif
$(shell rm -f $(READY))
endif
endif

env: $(READY)

venv:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "make: Python 3.11 or newer is needed; name one with PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || \
	    { echo "make: Python's venv module is missing; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@{ $(SOUND); } || { \
	    if [ -e $(VENV) ]; then \
	        [ -e $(VENV)/pyvenv.cfg ] || [ -z "$$(ls -A $(VENV) | grep -vxE 'bin|lib|lib64|include|\.(ready|compiled)')" ] || \
	            { echo "make: VENV=$(VENV) is a folder of other things; name another one" >&2; exit 1; }; \
	        echo "make: $(VENV) is half-made, was moved or has an older Python; making it anew" >&2; rm -rf $(VENV); \
	    fi; \
	    "$(PYTHON)" -m venv $(VENV); }

$(READY): $(LOCK) workflow/jupyter.json
	@$(MAKE) --no-print-directory venv
	"$(BIN)/python" -m pip install --no-user --quiet --disable-pip-version-check \
	    "uv==$$(sed -n 's/^uv==\([^ ;]*\).*/\1/p' requirements.lock)"
	"$(BIN)/uv" pip sync --quiet --system-certs --python "$(BIN)/python" --require-hashes $(LOCK)
	mkdir -p $(VENV)/etc/jupyter && cp workflow/jupyter.json $(VENV)/etc/jupyter/jupyter_server_config.json
	echo "$(CURDIR)" > "$$("$(BIN)/python" -c 'import site; print(site.getsitepackages()[0])')/boundary_book.pth"
	touch $@

.PHONY: paper page
paper page: $(READY)
	@python -m workflow.new "$(KEY)" $(if $(filter page,$@),"$(NAME)" "$(ITEM)")
	@python -m workflow.pair && python -m workflow.finder && python -m workflow.versions
