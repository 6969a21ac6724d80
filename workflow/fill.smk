"""Compute missing runs: `make fill` writes their list and starts this; see workflow/fill.py.

The outputs are stamps: runs themselves are no files of Snakemake, which removes the outputs of a job before it.
"""
import json
from pathlib import Path

FOLDER = "_runs/fill"
JOBS = json.loads(Path(f"{FOLDER}/jobs.json").read_text(encoding="utf-8"))


rule all:
    input:
        [f"{FOLDER}/{job}.done" for job in JOBS],


rule compute:
    input:
        lambda w: [f"{FOLDER}/{job}.done" for job in JOBS[w.job]["after"]],
    output:
        touch(FOLDER + "/{job}.done"),
    log:
        FOLDER + "/{job}.log",
    params:
        words=lambda w: JOBS[w.job]["words"],
    message:
        "{wildcards.job}"
    priority:
        lambda w: JOBS[w.job]["priority"]
    threads: 1
    resources:
        mem_mb=lambda w: JOBS[w.job]["mem_mb"],
        gpu=lambda w: JOBS[w.job]["gpu"],
        runtime=lambda w: JOBS[w.job]["minutes"],
    shell:
        "OMP_NUM_THREADS={threads} OMP_WAIT_POLICY=PASSIVE "
        "python -m workflow.compute {params.words:q} > {log:q} 2>&1"
