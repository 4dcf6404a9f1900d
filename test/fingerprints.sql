-- Made-up fingerprints for the tests and the benchmark: the same ones on every
-- machine and every server version.  Needs no extension.

-- 64 random bits
CREATE FUNCTION random_bits() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
	SELECT (floor(random() * 4294967296)::bigint << 32)
		| floor(random() * 4294967296)::bigint
$$;

-- h with n bits inverted, drawn with replacement, so that two may cancel out
CREATE FUNCTION flip_bits(h bigint, n integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		h := h # (1::bigint << floor(random() * 64)::integer);
	END LOOP;
	RETURN h;
END $$;

-- n fingerprints like those of a collection with near-duplicates: 85 % of the
-- draws are single; 15 % start a cluster of 2 members and, with probability
-- 0.6 each time, one more, 50 at most, each member with 0 to 4 bits inverted.
CREATE FUNCTION make_fingerprints(n integer, seed float8) RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	made integer := 0;
	members integer;
	base bigint;
BEGIN
	PERFORM setseed(seed);
	WHILE made < n LOOP
		base := (floor(random() * 4294967296)::bigint << 32)
			| floor(random() * 4294967296)::bigint;
		IF random() < 0.15 THEN
			members := 2;
			WHILE members < 50 AND random() < 0.6 LOOP
				members := members + 1;
			END LOOP;
			members := least(members, n - made);
			FOR i IN 1 .. members LOOP
				RETURN NEXT flip_bits(base, floor(random() * 5)::integer);
			END LOOP;
			made := made + members;
		ELSE
			RETURN NEXT base;
			made := made + 1;
		END IF;
	END LOOP;
END $$;

-- Fingerprints of 256 bits, in the server's own type: b with n bits inverted, drawn with replacement, so that two may cancel out
CREATE FUNCTION flip_wide(b bit(256), n integer) RETURNS bit(256) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	place integer;
BEGIN
	FOR i IN 1 .. n LOOP
		place := floor(random() * 256);
		b := set_bit(b, place, 1 - get_bit(b, place));
	END LOOP;
	RETURN b;
END $$;

-- the same for the same name
CREATE FUNCTION wide(what text) RETURNS bit(256) LANGUAGE sql IMMUTABLE
RETURN ('x' || encode(sha256(convert_to(what, 'UTF8')), 'hex'))::bit(256);
