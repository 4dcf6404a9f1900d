# The official image of PostgreSQL with the extension in it.
#
#	docker build --build-arg PG_MAJOR=17 -t postgres-simhash .
#	docker run --rm -e POSTGRES_PASSWORD=secret -p 5432:5432 postgres-simhash
#
# and then, in each database that is to use it, CREATE EXTENSION simhash.
#
# From PostgreSQL 18 on, the extension alone, for Kubernetes with CloudNativePG:
#
#	docker build --target extension --build-arg PG_MAJOR=18 -t simhash-extension .
#
# The cluster mounts it and finds it by extension_control_path and dynamic_library_path.

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
	make install DESTDIR=/usr/src/installed; \
	mkdir -p /usr/src/extension/lib /usr/src/extension/share /usr/src/extension/licenses; \
	cp -a "/usr/src/installed$(pg_config --pkglibdir)/simhash.so" /usr/src/extension/lib; \
	cp -a "/usr/src/installed$(pg_config --sharedir)/extension" /usr/src/extension/share; \
	cp LICENSE src/text/LICENSE.unicode src/type/LICENSE.xxhash /usr/src/extension/licenses

FROM scratch AS extension

COPY --from=build /usr/src/extension/ /

FROM postgres:${PG_MAJOR}-${DEBIAN_CODENAME}

COPY --from=build /usr/src/installed/ /
