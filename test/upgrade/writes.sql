-- Changes of what objects.sql and many.sql made, after which checks.sql and many_checks.sql
-- have other answers.  The variable round is 1 or 2.
SET search_path = public, ext;

INSERT INTO docs (id, body, h, given)
SELECT 10000 * :round + i, md5(i::text) || ' is written again, as document ' || i, h, h
FROM generate_series(1, 2000) i,
	LATERAL (SELECT ('x' || left(md5((i / 4)::text), 16))::bit(64)::bigint # (:round::bigint << (i % 60)) AS h) s;
INSERT INTO parted SELECT id, given FROM docs WHERE id > 10000 * :round;
INSERT INTO hosts SELECT '10.0.0.2', given FROM docs WHERE id > 10000 * :round;
INSERT INTO tenants SELECT id, 4, 'de', given FROM docs WHERE id > 10000 * :round ON CONFLICT DO NOTHING;
INSERT INTO hashed SELECT simhash_ball(given, id % 5), b, simhash_bits_ball(b, id % 7)
FROM docs, LATERAL (SELECT (given::bytea || given::bytea)::simhash_bits AS b) s WHERE id > 10000 * :round;
INSERT INTO minhashes SELECT id, body FROM docs WHERE id > 10000 * :round;
INSERT INTO wides SELECT id, body, (given::bytea || given::bytea || decode(md5(body), 'hex'))::simhash_bits
FROM docs WHERE id > 10000 * :round;
INSERT INTO library (id, body, data) SELECT i, t, convert_to(lower(t), 'UTF8')
FROM generate_series(100 * :round + 300, 100 * :round + 399) i,
	LATERAL (SELECT format('The %s. book, written again, is about %s and %s', i, md5(i::text), md5('b' || i)) AS t) s;
INSERT INTO many SELECT 100000 * :round + row_number() OVER (), h FROM make_fingerprints(5000, 0.4) h;

UPDATE docs SET given = (-id)::simhash WHERE id % 9 = :round;
UPDATE parted SET fp = (-id)::simhash WHERE id % 9 = :round;
UPDATE wides SET fp = (fp::bit varying # (1::bit(256) << id % 256))::simhash_bits WHERE id % 9 = :round;
UPDATE library SET body = body || ' and more' WHERE id % 9 = :round;
DELETE FROM docs WHERE id % 7 = :round;
DELETE FROM minhashes WHERE id % 7 = :round;
DELETE FROM wides WHERE id % 7 = :round;
DELETE FROM library WHERE id % 7 = :round;
DELETE FROM many WHERE id % 11 = :round;
VACUUM;
INSERT INTO many SELECT 100000 * :round + 50000 + row_number() OVER (), h FROM make_fingerprints(5000, 0.5) h;
