// postgres.js
const postgres = require('postgres');

const is = (what, got, expected) => {
	const ok = JSON.stringify(got) === JSON.stringify(expected);
	console.log(ok ? `ok - ${what}` : `not ok - ${what}: ${JSON.stringify(got)}`);
};
const error = (promise) => promise.then(() => 'no error', (e) => e.code);

async function main(prepare) {
	const sql = postgres({ prepare });
	const values = async (query) => (await query).flatMap(Object.values);

	const fp = '17841137466214345717';
	await sql`INSERT INTO docs VALUES (${10}, ${fp}::simhash)`;

	const near = await sql`
		SELECT id, fp <~> ${fp}::simhash AS distance FROM docs
		 WHERE fp <~> ${fp}::simhash <= ${3}::int
		 ORDER BY fp <~> ${fp}::simhash LIMIT 10`;

	const some = await sql`SELECT id FROM docs WHERE fp % ANY (${[fp, '1']}::simhash[])`;

	const computed = await sql`
		SELECT simhash_minhash(${'hello world'}::text) AS of_text,
		       simhash_minhash(${Buffer.from('00015c2780ff616263646566', 'hex')}::bytea) AS of_bytes,
		       simhash_minhash(${['alpha', 'beta']}::text[]) AS of_features,
		       simhash_minhash(${['-1', '-1', '5']}::bigint[]) AS of_hashes`;

	const [row] = await sql`SELECT fp, fp::bigint AS signed FROM docs WHERE id = 10`;
	const unsigned = BigInt(row.fp);
	const same = BigInt.asUintN(64, BigInt(row.signed));

	const how = prepare ? 'prepared' : 'not prepared';
	is(`${how}: nearest first`, near.map((r) => r.distance), [0, 0, 1]);
	is(`${how}: any of an array`, some.map((r) => r.id).sort((a, b) => a - b), [1, 2, 3, 10]);
	is(`${how}: computed`, Object.values(computed[0]), ['3568961919840134528',
		'720769818233651409', '7023365908306380860', '18218831152844919349']);
	is(`${how}: read as a string`, row.fp, fp);
	is(`${how}: read exactly`, [unsigned === BigInt(fp), same === BigInt(fp)], [true, true]);

	const signed = BigInt.asIntN(64, BigInt(fp));
	for (const value of [signed, `${signed}`, '0xF79873FFC69E6BF5'])
		is(`${how}: written as ${typeof value} ${value}`,
			await values(sql`SELECT fp FROM docs WHERE fp = ${value}::simhash LIMIT 1`), [fp]);
	is(`${how}: an index by its name`,
		await values(sql`SELECT count(*) > 0 FROM simhash_find_all(${'docs_fp'}::regclass)`), [true]);

	const body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!';
	is(`${how}: a text`, await values(sql`SELECT id FROM texts WHERE body =~= ${body}`), [1]);
	is(`${how}: any of some texts`,
		await values(sql`SELECT id FROM texts WHERE body =~= ANY (${[body, '...']}::text[])`), [1]);
	const pdq = Buffer.from('0f'.repeat(32), 'hex');
	is(`${how}: hexadecimal digits`, await values(sql`SELECT id FROM images
		WHERE pdq <~> ${pdq.toString('hex')}::simhash_bits(256) <= ${31}::int ORDER BY id`), [1, 2]);
	is(`${how}: bytes`,
		await values(sql`SELECT id FROM images WHERE pdq % ${pdq}::bytea::simhash_bits ORDER BY id`), [1, 2]);
	is(`${how}: read as digits`, await values(sql`SELECT pdq FROM images WHERE id = 1`), [pdq.toString('hex')]);

	// what the page warns of
	is(`${how}: a BigInt of 2^63 and more`, await error(sql`SELECT ${BigInt(fp)}::simhash`), '22003');
	is(`${how}: array of BigInts`,
		await error(sql`SELECT id FROM docs WHERE fp = ANY (${[1n]}::simhash[])`), '42846');
	is(`${how}: array taken as text`, await values(sql`SELECT simhash_minhash(${['alpha', 'beta']})`),
		await values(sql`SELECT simhash_minhash('{"alpha","beta"}'::text)`));
	is(`${how}: text and shingle`,
		await values(sql`SELECT simhash_minhash(${'the quick brown fox'}::text, ${3})`),
		['5538433395977709715']);

	for (const body of ['hello world', 'Hello, world!'])
		await sql`INSERT INTO corpus (body) VALUES (${body}) ON CONFLICT DO NOTHING`;
	is(`${how}: kept out`, await values(sql`SELECT body FROM corpus`), ['hello world']);

	const { pipeline } = require('stream/promises');
	const { Readable } = require('stream');
	await pipeline(Readable.from([`20\t${fp}\n`, '21\t-1\n']),
		await sql`COPY docs (id, fp) FROM STDIN`.writable());
	is(`${how}: COPY`, await values(sql`SELECT fp FROM docs WHERE id >= 20 ORDER BY id`),
		[fp, '18446744073709551615']);

	await sql`DELETE FROM docs WHERE id >= 10`;
	await sql.end();
}

main(true).then(() => main(false)).catch((e) => {
	console.log(`not ok - ${e.stack}`);
	process.exit(1);
});
