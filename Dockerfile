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
# Fails where the base image has no libseccomp: no image is built whose cells could not be sealed.
RUN /opt/worker/bin/python -c "import pyseccomp"
# Hypothesis' tables of characters take a second to make; the worker finds them here.
RUN mkdir /warm && cd /opt/worker/lib/site-packages \
    && HYPOTHESIS_STORAGE_DIRECTORY=/opt/worker/tables /opt/worker/bin/python -B -c \
    "from pathlib import Path; from grader_worker.warmup import warm_up; warm_up(Path('/warm'))" \
    > /dev/null

FROM ${BASE_IMAGE} AS tree
COPY --from=packages /opt/worker /opt/worker
# Nothing that raises privileges, and no installer, is left for a test to find.
RUN find / -xdev -perm /6000 -type f -exec chmod ug-s {} + \
    && find / -xdev \( -name pip -o -name 'pip3*' -o -name ensurepip \) -prune -exec rm -rf {} +
# A cell takes /jail for the root, and finds no /proc and no /sys there. The worker stays outside
# and sees the same files under the same paths.
RUN mkdir -p /image/jail/dev /image/jail/tmp /image/dev /image/proc /image/sys \
    && cp -a /etc /image/etc \
    && for folder in /bin /etc /lib* /opt /sbin /usr; do cp -a $folder /image/jail/; done \
    && mkdir -m 0711 /image/jail/cells \
    && for folder in bin cells lib opt sbin tmp usr $(cd / && ls -d lib?*); do \
        ln -s /jail/$folder /image/$folder; done

FROM scratch
COPY --from=tree /image /
RUN ["/bin/sh", "-c", "mknod -m 0666 /jail/dev/null c 1 3"]
CMD ["/opt/worker/bin/python", "--version"]
