# The image holds the command, its program for keyless signatures and nothing else: no shell, no libraries, no root user.
#
#   make build && docker build -t shadowcourt .
#   docker run --rm -v "$PWD:/work" -w /work shadowcourt try report.xml
FROM scratch
COPY bin/shadowcourt bin/shadowcourt-keyless /
# The folder for compiled modules. Mount a volume here to keep it.
ENV XDG_CACHE_HOME=/tmp
USER 65534:65534
ENTRYPOINT ["/shadowcourt"]
