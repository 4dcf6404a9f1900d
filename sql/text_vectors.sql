--
-- The test vectors of test/vectors/vectors.jsonl, whose results are frozen, and what else
-- must give the same, such as aggregates
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
\set vectors `cat "$PG_ABS_SRCDIR/test/vectors/vectors.jsonl"`

-- What test/vectors/README.md says of the keys; options are shingle and unit.
CREATE TEMPORARY TABLE given AS
SELECT coalesce(v ->> 'function' || ' of ', '') || (v ->> 'form')
		|| CASE WHEN v ->> 'form' = 'text' AND v ? 'shingle' THEN ', options'
				WHEN v ->> 'form' = 'bytea' AND v ? 'shingle' THEN ', shingle'
				WHEN v ? 'weights' THEN ', weights' ELSE '' END AS form,
	v ->> 'name' AS name, v ->> 'result' AS expected,
	repeat(v ->> 'document', coalesce((v ->> 'repeat')::int, 1)) AS document,
	coalesce((v ->> 'shingle')::int, 4) AS shingle, coalesce(v ->> 'unit', 'char') AS unit, (v ->> 'bits')::int AS bits,
	coalesce((v ->> 'minima')::int, 3) AS minima, coalesce((v ->> 'bands')::int, 32) AS bands,
	v ->> 'a' AS a, v ->> 'b' AS b, coalesce((v ->> 'similarity')::float8, 0.7) AS similarity, coalesce((v ->> 'min_words')::int, 13) AS min_words,
	ARRAY(SELECT jsonb_array_elements_text(v -> 'features')) AS features,
	ARRAY(SELECT jsonb_array_elements_text(v -> 'hashes')::bigint UNION ALL
		SELECT generate_series((v #>> '{series,0}')::bigint, (v #>> '{series,1}')::bigint, (v #>> '{series,2}')::bigint)
	) AS hashes,
	ARRAY(SELECT jsonb_array_elements_text(v -> 'weights')::float8) AS weights,
	(SELECT coalesce(string_agg(format('''%s''', regexp_replace(lexeme, '([\\''])', '\1\1', 'g'))
			|| CASE WHEN jsonb_array_length(at) > 0 THEN ':' || translate(at::text, '[] ', '') ELSE '' END, ' '), '')
		FROM jsonb_each(v -> 'lexemes') l (lexeme, at)) AS lexemes
FROM regexp_split_to_table(:'vectors', '\n') line, LATERAL (SELECT line::jsonb) j (v)
WHERE line <> '';

-- the calls for vectors of a form
CREATE TEMPORARY TABLE calls (form text, what text, call text);
INSERT INTO calls (form, call) VALUES
	('text', 'simhash_compute(document)'),
	('text, options', 'simhash_compute(document, shingle, unit)'),
	('bytea', 'simhash_compute(decode(document, ''hex''))'),
	('bytea, shingle', 'simhash_compute(decode(document, ''hex''), shingle)'),
	('tsvector', 'simhash_compute(lexemes::tsvector)'),
	('text[]', 'simhash_compute(features)'),
	('text[], weights', 'simhash_compute(features, weights)'),
	('bigint[]', 'simhash_compute(hashes)'),
	('bigint[], weights', 'simhash_compute(hashes, weights)'),
	('hash', 'simhash_hash(document)'),
	('shingles', 'array_to_string(simhash_shingles(document, shingle, unit), ''|'')'),
	('title_bands', 'simhash_title_bands(document)'),
	('similar_titles', 'simhash_similar_titles(a, b, similarity)'),
	('passage_keys', 'nullif(array_to_string(simhash_passage_keys(document), '' ''), '''')'),
	('passages', '(SELECT string_agg(format(''%s %s %s'', a_word, b_word, words), ''|'' ORDER BY a_word)
		FROM simhash_passages(a, b, min_words))'),
	('minhash of text', 'simhash_minhash(document)'),
	('minhash of text, options', 'simhash_minhash(document, shingle, unit)'),
	('minhash of bytea', 'simhash_minhash(decode(document, ''hex''))'),
	('minhash of bytea, shingle', 'simhash_minhash(decode(document, ''hex''), shingle)'),
	('minhash of tsvector', 'simhash_minhash(lexemes::tsvector)'),
	('minhash of text[]', 'simhash_minhash(features)'),
	('minhash of bigint[]', 'simhash_minhash(hashes)'),
	('minhash_bits of text', 'simhash_minhash_bits(document, bits)'),
	('minhash_bits of text, options', 'simhash_minhash_bits(document, bits, shingle, unit)'),
	('minhash_bits of bytea', 'simhash_minhash_bits(decode(document, ''hex''), bits)'),
	('minhash_bits of bytea, shingle', 'simhash_minhash_bits(decode(document, ''hex''), bits, shingle)'),
	('minhash_bits of tsvector', 'simhash_minhash_bits(lexemes::tsvector, bits)'),
	('minhash_bits of text[]', 'simhash_minhash_bits(features, bits)'),
	('minhash_bits of bigint[]', 'simhash_minhash_bits(hashes, bits)'),
	('bands of text', 'simhash_bands(document, minima => minima, bands => bands)'),
	('bands of text, options', 'simhash_bands(document, shingle, unit, minima, bands)'),
	('bands of bytea', 'simhash_bands(decode(document, ''hex''), minima => minima, bands => bands)'),
	('bands of bytea, shingle', 'simhash_bands(decode(document, ''hex''), shingle, minima, bands)'),
	('bands of tsvector', 'simhash_bands(lexemes::tsvector, minima, bands)'),
	('bands of text[]', 'simhash_bands(features, minima, bands)'),
	('bands of bigint[]', 'simhash_bands(hashes, minima, bands)');
INSERT INTO calls VALUES
	('text', 'features of text', 'simhash_compute(simhash_shingles(document))'),
	('text, options', 'features of text', 'simhash_compute(simhash_shingles(document, shingle, unit))'),
	('text, options', 'aggregate of text',
		'(SELECT simhash_agg(simhash_hash(f)) FROM unnest(simhash_shingles(document, shingle, unit)) f)'),
	('bigint[]', 'aggregate', '(SELECT simhash_agg(h) FROM unnest(hashes) h)'),
	('bigint[], weights', 'aggregate, weights',
		'(SELECT simhash_weighted_agg(h, w) FROM unnest(hashes, weights) u (h, w))'),
	('text[], weights', 'aggregate of features',
		'(SELECT simhash_weighted_agg(simhash_hash(f), w) FROM unnest(features, weights) u (f, w))'),
	('minhash of text, options', 'minhash of features of text',
		'simhash_minhash(simhash_shingles(document, shingle, unit))'),
	('minhash of text, options', 'minhash, aggregate of text',
		'(SELECT simhash_minhash_agg(simhash_hash(f)) FROM unnest(simhash_shingles(document, shingle, unit)) f)'),
	('minhash of text[]', 'minhash, aggregate of features',
		'(SELECT simhash_minhash_agg(simhash_hash(f)) FROM unnest(features) f)'),
	('minhash of bigint[]', 'minhash, aggregate', '(SELECT simhash_minhash_agg(h) FROM unnest(hashes) h)'),
	('minhash_bits of text, options', 'minhash_bits of features of text',
		'simhash_minhash_bits(simhash_shingles(document, shingle, unit), bits)'),
	('minhash_bits of text, options', 'minhash_bits, aggregate of text',
		'(SELECT simhash_minhash_bits_agg(simhash_hash(f), bits)
			FROM unnest(simhash_shingles(document, shingle, unit)) f)'),
	('minhash_bits of bigint[]', 'minhash_bits, aggregate',
		'(SELECT simhash_minhash_bits_agg(h, bits) FROM unnest(hashes) h)'),
	('bands of text, options', 'bands of features of text',
		'simhash_bands(simhash_shingles(document, shingle, unit), minima, bands)'),
	('bands of bigint[]', 'bands, aggregate', '(SELECT simhash_bands_agg(h, minima, bands) FROM unnest(hashes) h)');

CREATE TEMPORARY TABLE vectors (form text, name text, expected text, result text);
\set ECHO none
SELECT format('INSERT INTO vectors SELECT %L, name, expected, (%s)::text FROM given WHERE form = %L',
	coalesce(what, form), call, form) FROM calls \gexec
\set ECHO all

-- all have been called; what differs: nothing
SELECT form, count(*) FROM given WHERE form NOT IN (SELECT form FROM calls) GROUP BY form;
SELECT * FROM vectors WHERE result IS DISTINCT FROM expected ORDER BY form, name;
SELECT form, count(*), count(expected) AS not_null FROM vectors GROUP BY form ORDER BY form COLLATE "C";
