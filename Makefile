# make up      start a console on this machine (Ctrl-C stops it)
# make test    run all tests          make lint    run all checks of the code
# make bench   measure                make clean   remove what the above made, but no data

VENV := .venv
PYTHON := $(VENV)/bin/python
SYSTEM_PYTHON := $(shell command -v python3.11 || command -v python3)
PACKAGES := tenure namespaces registry lineage console
# Enough to load the settings where no database is needed.
CHECK_ENVIRONMENT := DATABASE_URL= TENURE_HOME=$(VENV)/no-console \
	TENURE_SECRET_KEY=only-for-checks-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJ

.PHONY: up test lint bench format clean

up: $(VENV)/installed
	@exec $(PYTHON) manage.py up

test: $(VENV)/installed-dev
	$(PYTHON) -m pytest -n 2 --dist loadgroup

bench: $(VENV)/installed-dev
	$(PYTHON) -m bench

lint: $(VENV)/installed-dev
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(CHECK_ENVIRONMENT) $(PYTHON) -m mypy $(PACKAGES)
	$(VENV)/bin/lint-imports
	$(CHECK_ENVIRONMENT) TENURE_HTTPS=1 $(PYTHON) manage.py check --deploy --fail-level WARNING
	$(CHECK_ENVIRONMENT) $(PYTHON) manage.py makemigrations --check --dry-run
	$(CHECK_ENVIRONMENT) $(PYTHON) manage.py spectacular --validate --fail-on-warn --file $(VENV)/openapi.yaml
	diff -u tests/openapi.yaml $(VENV)/openapi.yaml

format: $(VENV)/installed-dev
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The stamps are newer than what was installed: nothing is installed again until a list changes.
$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo "Installing what tests and checks need (once)"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(VENV)/installed: requirements.txt | $(PYTHON)
	@echo "Installing Tenure's packages (once, some minutes)"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

# Without python3-venv Debian leaves half an environment: the next `make` must not take it for a whole one.
$(PYTHON):
	@$(if $(SYSTEM_PYTHON),,echo "Tenure needs Python 3.11 or later: apt-get install python3 python3-venv" >&2; exit 1)
	@$(SYSTEM_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Tenure needs Python 3.11 or later; $(SYSTEM_PYTHON) is $$($(SYSTEM_PYTHON) -V)." >&2; exit 1; }
	@$(SYSTEM_PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "A virtual environment cannot be made: apt-get install python3-venv" >&2; exit 1; }
