# One image for master and executor: the binary, the sandbox's pid 1, and what scripts/packages.txt
# says is needed where they run. Names of packages stand there and nowhere here.
FROM debian:12 AS build
COPY scripts/packages.txt /src/scripts/packages.txt
RUN apt-get update \
 && apt-get install -y --no-install-recommends $(awk '$1 == "build" { print $2 }' /src/scripts/packages.txt) \
 && rm -rf /var/lib/apt/lists/*
COPY . /src
WORKDIR /src
RUN cmake --preset release && cmake --build --preset release --target netwright

FROM debian:12-slim AS netwright
COPY scripts/packages.txt /tmp/packages.txt
RUN apt-get update \
 && apt-get install -y --no-install-recommends $(awk '$1 == "run" { print $2 }' /tmp/packages.txt) \
 && rm -rf /var/lib/apt/lists/* /tmp/packages.txt \
 && useradd --system --uid 990 --no-create-home --shell /usr/sbin/nologin netwright \
 && install -d -o netwright -g netwright -m 0700 /data \
 && install -d -o netwright -g netwright -m 0700 /token
COPY --from=build /src/build/release/netwright /src/build/release/netwright-sandbox-init /usr/local/bin/
USER netwright
CMD ["netwright", "--help"]
