# The official image of PostgreSQL with the extension in it.
#
#	docker build --build-arg PG_MAJOR=17 -t postgres-simhash .
#	docker run --rm -e POSTGRES_PASSWORD=secret -p 5432:5432 postgres-simhash
#
# and then, in each database that is to use it, CREATE EXTENSION simhash.

ARG PG_MAJOR=18
ARG DEBIAN_CODENAME=trixie

FROM postgres:${PG_MAJOR}-${DEBIAN_CODENAME} AS build

ARG PG_MAJOR

RUN set -eux; \
	apt-get update; \
	apt-get install -y --no-install-recommends \
		gcc \
		libc6-dev \
		libxxhash-dev \
		make \
		"postgresql-server-dev-$PG_MAJOR" \
	; \
	rm -rf /var/lib/apt/lists/*

COPY . /usr/src/simhash

WORKDIR /usr/src/simhash

RUN set -eux; \
	make clean; \
	make -j "$(nproc)"; \
	make install DESTDIR=/usr/src/installed

FROM postgres:${PG_MAJOR}-${DEBIAN_CODENAME}

COPY --from=build /usr/src/installed/ /
