# The worker's image. It holds Python, the pinned packages and the worker, and no course:
# everything that is graded enters over standard input. `grade image build` makes the context.
ARG BASE_IMAGE=python:3.11-slim-bookworm

FROM ${BASE_IMAGE} AS packages
COPY wheels /wheels
RUN python3 -m venv /opt/worker \
    && /opt/worker/bin/pip install --quiet --no-index --find-links=/wheels /wheels/*.whl \
    && /opt/worker/bin/pip uninstall --quiet --yes pip setuptools
# A `site-packages`, since Hypothesis would take constants from the worker's own files.
COPY grader_worker /opt/worker/lib/site-packages/grader_worker
RUN /opt/worker/bin/python -m compileall -q /opt/worker/lib
# Hypothesis' tables of characters take a second to make; the worker finds them here.
RUN mkdir /warm && cd /opt/worker/lib/site-packages \
    && HYPOTHESIS_STORAGE_DIRECTORY=/opt/worker/tables /opt/worker/bin/python -B -c \
    "from pathlib import Path; from grader_worker.warmup import warm_up; warm_up(Path('/warm'))" \
    > /dev/null

FROM ${BASE_IMAGE}
COPY --from=packages /opt/worker /opt/worker
# Nothing that raises privileges, and no installer, is left for a test to find.
RUN find / -xdev -perm /6000 -type f -exec chmod ug-s {} + \
    && find / -xdev \( -name pip -o -name 'pip3*' -o -name ensurepip \) -prune -exec rm -rf {} + \
    && mkdir -p /cells && chmod 0711 /cells
ENTRYPOINT []
CMD ["/opt/worker/bin/python", "--version"]
