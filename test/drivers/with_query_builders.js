// Knex, Kysely, Drizzle and Sequelize, over node-postgres
const { Pool } = require('pg');

const is = (what, got, expected) => {
	const plain = (value) => JSON.stringify(value, (_, v) => typeof v === 'bigint' ? `${v}` : v);
	console.log(plain(got) === plain(expected) ? `ok - ${what}` : `not ok - ${what}: ${plain(got)}`);
};
const error = (promise) => promise.then(() => 'no error', (e) => (e.cause ?? e).code);

const fp = '17841137466214345717';
const body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!';
const pdq = Buffer.from('0f'.repeat(32), 'hex');
const ids = (rows) => rows.map((r) => r.id).sort((a, b) => a - b);

async function withKnex() {
	const knex = require('knex')({ client: 'pg', connection: {} });
	await knex('docs').insert({ id: 10, fp });

	const near = await knex('docs')
		.select('id', knex.raw('fp <~> ?::simhash AS distance', [fp]))
		.whereRaw('fp <~> ?::simhash <= ?::int', [fp, 3])
		.orderByRaw('fp <~> ?::simhash', [fp])
		.limit(10);

	const some = await knex('docs').select('id').whereRaw('fp % ANY (?::simhash[])', [[fp, '1']]);

	is('knex: nearest first', near.map((r) => r.distance), [0, 0, 1]);
	is('knex: any of an array', ids(some), [1, 2, 3, 10]);
	is('knex: read as a string', (await knex('docs').where({ id: 10 }).first()).fp, fp);
	is('knex: equal', ids(await knex('docs').where({ fp })), [1, 10]);

	const alike = await knex('texts').select('id').whereRaw('body =~= ?', [body]);
	const images = await knex('images').select('id', 'pdq')
		.whereRaw('pdq <~> ?::simhash_bits(256) <= ?::int', [pdq.toString('hex'), 31]);
	is('knex: a text', ids(alike), [1]);
	is('knex: hexadecimal digits', ids(images), [1, 2]);
	is('knex: read as digits', images.map((r) => r.pdq).sort().pop(), pdq.toString('hex'));
	await knex('docs').where({ id: 10 }).delete();
	await knex.destroy();
}

async function withKysely() {
	const { Kysely, PostgresDialect, sql } = require('kysely');
	const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool() }) });
	await db.insertInto('docs').values({ id: 10, fp }).execute();

	const distance = sql`fp <~> ${fp}::simhash`;
	const near = await db.selectFrom('docs')
		.select(['id', distance.as('distance')])
		.where(sql`${distance} <= ${3}::int`)
		.orderBy(distance)
		.limit(10)
		.execute();

	const some = await db.selectFrom('docs').select('id')
		.where(sql`fp % ANY (${[fp, '1']}::simhash[])`)
		.execute();

	is('kysely: nearest first', near.map((r) => r.distance), [0, 0, 1]);
	is('kysely: any of an array', ids(some), [1, 2, 3, 10]);
	is('kysely: read as a string',
		(await db.selectFrom('docs').select('fp').where('id', '=', 10).executeTakeFirst()).fp, fp);
	is('kysely: equal', ids(await db.selectFrom('docs').select('id').where('fp', '=', fp).execute()), [1, 10]);

	is('kysely: a text', ids(await db.selectFrom('texts').select('id').where(sql`body =~= ${body}`).execute()), [1]);
	is('kysely: hexadecimal digits', ids(await db.selectFrom('images').select('id')
		.where(sql`pdq <~> ${pdq.toString('hex')}::simhash_bits(256) <= ${31}::int`).execute()), [1, 2]);
	await db.deleteFrom('docs').where('id', '=', 10).execute();
	await db.destroy();
}

async function withDrizzle() {
	const { drizzle } = require('drizzle-orm/node-postgres');
	const { sql, eq } = require('drizzle-orm');
	const { pgTable, integer, customType } = require('drizzle-orm/pg-core');
	const pool = new Pool();
	const db = drizzle(pool);

	const simhash = customType({
		dataType: () => 'simhash',
		toDriver: (value) => value.toString(),
		fromDriver: (value) => BigInt(value),
	});
	const docs = pgTable('docs', { id: integer('id').primaryKey(), fp: simhash('fp') });

	await db.insert(docs).values({ id: 10, fp: 17841137466214345717n });

	const distance = sql`${docs.fp} <~> ${fp}::simhash`;
	const near = await db.select({ id: docs.id, distance }).from(docs)
		.where(sql`${distance} <= ${3}::int`)
		.orderBy(distance)
		.limit(10);

	const some = await db.select({ id: docs.id }).from(docs)
		.where(sql`${docs.fp} % ANY (${sql.param([fp, '1'])}::simhash[])`);

	is('drizzle: nearest first', near.map((r) => r.distance), [0, 0, 1]);
	is('drizzle: any of an array', ids(some), [1, 2, 3, 10]);
	is('drizzle: read as a BigInt', (await db.select().from(docs).where(eq(docs.id, 10)))[0].fp, BigInt(fp));
	is('drizzle: equal', ids(await db.select().from(docs).where(eq(docs.fp, BigInt(fp)))), [1, 10]);

	const simhashBits = customType({
		dataType: ({ bits }) => `simhash_bits(${bits})`,
		toDriver: (value) => value.toString('hex'),
		fromDriver: (value) => Buffer.from(value, 'hex'),
	});
	const images = pgTable('images', { id: integer('id').primaryKey(), pdq: simhashBits('pdq', { bits: 256 }) });

	await db.insert(images).values({ id: 10, pdq });
	const alike = await db.select({ id: images.id }).from(images)
		.where(sql`${images.pdq} <~> ${pdq.toString('hex')}::simhash_bits(256) <= ${31}::int`);

	is('drizzle: hexadecimal digits', ids(alike), [1, 2, 10]);
	is('drizzle: read as a Buffer',
		(await db.select().from(images).where(eq(images.id, 10)))[0].pdq.equals(pdq), true);
	is('drizzle: a wide one that is equal', ids(await db.select().from(images).where(eq(images.pdq, pdq))), [1, 10]);
	await db.delete(images).where(eq(images.id, 10));
	// what the page warns of
	is('drizzle: an array without sql.param',
		await error(db.select().from(docs).where(sql`fp % ANY (${[fp, '1']}::simhash[])`)), '42846');
	await db.delete(docs).where(eq(docs.id, 10));
	await pool.end();
}

async function withSequelize() {
	const { Sequelize, QueryTypes } = require('sequelize');
	const env = process.env;
	const sequelize = new Sequelize(env.PGDATABASE, env.PGUSER, env.PGPASSWORD,
		{ dialect: 'postgres', host: env.PGHOST, port: env.PGPORT, logging: false });
	const Doc = sequelize.define('Doc', { id: { type: 'int', primaryKey: true }, fp: 'simhash' },
		{ tableName: 'docs', timestamps: false });
	await Doc.create({ id: 10, fp });

	const near = await sequelize.query(
		`SELECT id, fp <~> $fp::simhash AS distance FROM docs
		  WHERE fp <~> $fp::simhash <= $radius::int
		  ORDER BY fp <~> $fp::simhash LIMIT 10`,
		{ bind: { fp, radius: 3 }, type: QueryTypes.SELECT });

	const some = await sequelize.query('SELECT id FROM docs WHERE fp % ANY ($some::simhash[])',
		{ bind: { some: [fp, '1'] }, type: QueryTypes.SELECT });

	is('sequelize: nearest first', near.map((r) => r.distance), [0, 0, 1]);
	is('sequelize: any of an array', ids(some), [1, 2, 3, 10]);
	is('sequelize: read as a string', (await Doc.findByPk(10)).fp, fp);
	is('sequelize: equal', ids(await Doc.findAll({ where: { fp } })), [1, 10]);
	is('sequelize: replacements', ids(await sequelize.query('SELECT id FROM docs WHERE fp <~> :fp::simhash <= :radius',
		{ replacements: { fp, radius: 3 }, type: QueryTypes.SELECT })), [1, 2, 10]);

	const Image = sequelize.define('Image', { id: { type: 'int', primaryKey: true }, pdq: 'simhash_bits(256)' },
		{ tableName: 'images', timestamps: false });
	await Image.create({ id: 10, pdq: pdq.toString('hex') });
	is('sequelize: a text', ids(await sequelize.query('SELECT id FROM texts WHERE body =~= $body',
		{ bind: { body }, type: QueryTypes.SELECT })), [1]);
	is('sequelize: hexadecimal digits', ids(await sequelize.query(
		'SELECT id FROM images WHERE pdq <~> $pdq::simhash_bits(256) <= $radius::int',
		{ bind: { pdq: pdq.toString('hex'), radius: 31 }, type: QueryTypes.SELECT })), [1, 2, 10]);
	is('sequelize: a wide one that is equal',
		ids(await Image.findAll({ where: { pdq: pdq.toString('hex') } })), [1, 10]);
	await Image.destroy({ where: { id: 10 } });
	await Doc.destroy({ where: { id: 10 } });
	await sequelize.close();
}

(async () => {
	for (const [name, run] of [['knex', withKnex], ['kysely', withKysely],
		['drizzle-orm', withDrizzle], ['sequelize', withSequelize]]) {
		try {
			require.resolve(name);
		} catch (e) {
			console.log(`ok - ${name} # SKIP it is not installed`);
			continue;
		}
		await run();
	}
})().catch((e) => {
	console.log(`not ok - ${e.stack}`);
	process.exit(1);
});
