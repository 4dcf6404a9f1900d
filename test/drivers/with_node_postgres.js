// node-postgres; with pg-copy-streams, COPY as well.
const { Client } = require('pg');

const is = (what, got, expected) => {
	const ok = JSON.stringify(got) === JSON.stringify(expected);
	console.log(ok ? `ok - ${what}` : `not ok - ${what}: ${JSON.stringify(got)}`);
};
const error = (promise) => promise.then(() => 'no error', (e) => e.code);

async function main() {
	const client = new Client();
	await client.connect();
	const values = async (...query) =>
		(await client.query(...query)).rows.flatMap(Object.values);

	const fp = '17841137466214345717';      // or 17841137466214345717n
	await client.query('INSERT INTO docs VALUES ($1, $2::simhash)', [10, fp]);

	const near = await client.query(
		`SELECT id, fp <~> $1::simhash AS distance FROM docs
		  WHERE fp <~> $1::simhash <= $2::int
		  ORDER BY fp <~> $1::simhash LIMIT 10`, [fp, 3]);

	const some = await client.query(
		'SELECT id FROM docs WHERE fp % ANY ($1::simhash[])', [[fp, '1']]);

	const computed = await client.query(
		`SELECT simhash_minhash($1::text) AS of_text,
		        simhash_minhash($2::bytea) AS of_bytes,
		        simhash_minhash($3::text[]) AS of_features,
		        simhash_minhash($4::bigint[]) AS of_hashes`,
		['hello world', Buffer.from('00015c2780ff616263646566', 'hex'),
			['alpha', 'beta'], [-1n, -1n, 5n]]);

	const { rows } = await client.query('SELECT fp, fp::bigint AS signed FROM docs WHERE id = 10');
	const unsigned = BigInt(rows[0].fp);
	const same = BigInt.asUintN(64, BigInt(rows[0].signed));

	is('nearest first', near.rows.map((r) => r.distance), [0, 0, 1]);
	is('any of an array', some.rows.map((r) => r.id).sort((a, b) => a - b), [1, 2, 3, 10]);
	is('computed', Object.values(computed.rows[0]), ['3568961919840134528',
		'720769818233651409', '7023365908306380860', '18218831152844919349']);
	is('read as a string', rows[0].fp, fp);
	is('read exactly', [unsigned === BigInt(fp), same === BigInt(fp)], [true, true]);

	for (const value of [BigInt(fp), BigInt.asIntN(64, BigInt(fp)), '0xF79873FFC69E6BF5'])
		is(`written as ${typeof value} ${value}`,
			await values('SELECT fp FROM docs WHERE fp = $1::simhash LIMIT 1', [value]), [fp]);
	is('array of bigints', await values(
		'SELECT id FROM docs WHERE fp = ANY ($1::simhash[]) ORDER BY 1', [[BigInt(fp), -1n]]), [1, 10]);
	is('a named statement', await values({ name: 'near', text:
		'SELECT id FROM docs WHERE fp <~> $1::simhash <= $2::int ORDER BY 1', values: [fp, 3] }), [1, 2, 10]);
	is('an index by its name', await values('SELECT count(*) > 0 FROM simhash_find_all($1::regclass)', ['docs_fp']), [true]);

	const body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!';
	const alike = await client.query('SELECT id FROM texts WHERE body =~= $1', [body]);
	const anyAlike = await client.query('SELECT id FROM texts WHERE body =~= ANY ($1)', [[body, '...']]);

	const pdq = Buffer.from('0f'.repeat(32), 'hex');
	await client.query('INSERT INTO images VALUES ($1, $2)', [10, pdq.toString('hex')]);
	const images = await client.query(
		'SELECT id, pdq FROM images WHERE pdq <~> $1::simhash_bits(256) <= $2::int ORDER BY id',
		[pdq.toString('hex'), 31]);
	const byBytes = await client.query(
		'SELECT id FROM images WHERE pdq % $1::bytea::simhash_bits ORDER BY id', [pdq]);

	is('a text', alike.rows.map((r) => r.id), [1]);
	is('any of some texts', anyAlike.rows.map((r) => r.id), [1]);
	is('hexadecimal digits', images.rows.map((r) => r.id), [1, 2, 10]);
	is('read as digits', Buffer.from(images.rows[0].pdq, 'hex').equals(pdq), true);
	is('bytes', byBytes.rows.map((r) => r.id), [1, 2, 10]);
	is('array of digits', await values('SELECT id FROM images WHERE pdq % ANY ($1::simhash_bits[]) ORDER BY 1',
		[[pdq.toString('hex'), 'f0'.repeat(32)]]), [1, 2, 3, 10]);
	is('bytes in the binary format', await values(
		'SELECT id FROM images WHERE pdq % $1::simhash_bits(256) ORDER BY id', [pdq]), [1, 2, 10]);
	is('read as bytes', (await values('SELECT pdq::bytea FROM images WHERE id = 10'))[0].equals(pdq), true);
	is('too few digits', await error(client.query('SELECT $1::simhash_bits(256)', ['0f'.repeat(31)])), '22026');
	await client.query('INSERT INTO texts VALUES (10, $1) ON CONFLICT DO NOTHING', [body]);
	is('a text that is kept out', await values('SELECT count(*)::int FROM texts'), [3]);

	// what the page warns of
	is('array taken as text', await values('SELECT simhash_minhash($1)', [['alpha', 'beta']]),
		await values(`SELECT simhash_minhash('{"alpha","beta"}'::text)`));
	is('bytes taken as text', await values('SELECT simhash_minhash($1)', [Buffer.from('\\x4142')]),
		await values(`SELECT simhash_minhash('\\x4142'::text)`));
	is('simhash_compute, text and shingle without types',
		await error(client.query('SELECT simhash_compute($1, $2)', ['hello world', 3])), '42725');
	is('text and shingle', await values('SELECT simhash_minhash($1::text, $2)', ['the quick brown fox', 3]),
		['5538433395977709715']);
	is('a number is rounded', await values('SELECT $1::simhash', [17841137466214345717]),
		['17841137466214345000']);

	for (const body of ['hello world', 'Hello, world!'])
		await client.query('INSERT INTO corpus (body) VALUES ($1) ON CONFLICT DO NOTHING', [body]);
	is('kept out', await values('SELECT body FROM corpus'), ['hello world']);

	// the guard of doc/guards.md
	const [user, text] = [1, 'Harbor Ltd. is customer 4711, and its invoices are due in four weeks'];
	const { rows: [{ id }] } = await client.query('SELECT remember($1, $2) AS id', [user, text]);
	is('a guard that merges', [id, ...await values('SELECT seen FROM memories')], [1, 3]);

	let from;
	try {
		({ from } = require('pg-copy-streams'));
	} catch (e) {
		console.log('ok - COPY # SKIP pg-copy-streams is not installed');
	}
	if (from) {
		const { pipeline } = require('stream/promises');
		const { Readable } = require('stream');
		await pipeline(Readable.from([`20\t${fp}\n`, '21\t-1\n']),
			client.query(from('COPY docs (id, fp) FROM STDIN')));
		is('COPY', await values('SELECT fp FROM docs WHERE id >= 20 ORDER BY id'),
			[fp, '18446744073709551615']);
	}
	await client.end();
}

main().catch((e) => {
	console.log(`not ok - ${e.stack}`);
	process.exit(1);
});
