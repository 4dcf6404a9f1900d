-- Made-up fingerprints of 256 bits for the benchmarks, in the server's own type: the same
-- ones on every machine.  Needs no extension.

-- b with n bits inverted, drawn with replacement, so that two may cancel out
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
