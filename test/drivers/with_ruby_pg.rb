# ruby-pg
require 'pg'

def check(what, got, expected)
  puts got == expected ? "ok - #{what}" : "not ok - #{what}: #{got.inspect}"
end

conn = PG.connect
conn.type_map_for_queries = PG::BasicTypeMapForQueries.new(conn)
values = ->(query, args = []) { conn.exec_params(query, args).values.flatten }
error = lambda do |query, args|
  values.call(query, args)
rescue PG::Error => e
  e.result.error_field(PG::PG_DIAG_SQLSTATE)
end

fp = 17841137466214345717
conn.exec_params('INSERT INTO docs VALUES ($1, $2::simhash)', [10, fp.to_s])

near = conn.exec_params(<<~SQL, [fp.to_s, 3])
  SELECT id, fp <~> $1::simhash AS distance FROM docs
   WHERE fp <~> $1::simhash <= $2::int
   ORDER BY fp <~> $1::simhash LIMIT 10
SQL

some = conn.exec_params('SELECT id FROM docs WHERE fp % ANY ($1::simhash[])',
                        [[fp.to_s, '1']])

bytes = PG::BasicTypeMapForQueries::BinaryData.new(['00015c2780ff616263646566'].pack('H*'))
computed = conn.exec_params(<<~SQL, ['hello world', bytes, %w[alpha beta], [-1, -1, 5]])
  SELECT simhash_minhash($1::text), simhash_minhash($2::bytea),
         simhash_minhash($3::text[]), simhash_minhash($4::bigint[])
SQL

row = conn.exec('SELECT fp, fp::bigint AS signed FROM docs WHERE id = 10')[0]
unsigned = row['fp'].to_i
same = row['signed'].to_i & (2**64 - 1)

check('nearest first', near.column_values(1), %w[0 0 1])
check('any of an array', some.column_values(0).sort, %w[1 10 2 3])
check('computed', computed.values[0], %w[3568961919840134528 720769818233651409
                                         7023365908306380860 18218831152844919349])
check('read as a string', row['fp'], fp.to_s)
check('read exactly', [unsigned, same], [fp, fp])

equal = 'SELECT fp FROM docs WHERE fp = $1::simhash LIMIT 1'
[fp, fp - 2**64, '0xF79873FFC69E6BF5'].each do |value|
  check("written as #{value.inspect}", values.call(equal, [value]), [fp.to_s])
end
check('array of negative numbers',
      values.call('SELECT id FROM docs WHERE fp = ANY ($1::simhash[]) ORDER BY 1', [[fp - 2**64, 1]]), %w[1 3 10])

conn.prepare('near', 'SELECT id FROM docs WHERE fp <~> $1::simhash <= $2::int ORDER BY 1')
check('a named statement', conn.exec_prepared('near', [fp.to_s, 3]).column_values(0), %w[1 2 10])
check('an index by its name', values.call('SELECT count(*) > 0 FROM simhash_find_all($1::regclass)', ['docs_fp']), ['t'])

body = 'The Harbor Bridge is closed until Monday; and buses take the tunnel!'
alike = conn.exec_params('SELECT id FROM texts WHERE body =~= $1', [body])

pdq = ['0f' * 32].pack('H*')
conn.exec_params('INSERT INTO images VALUES ($1, $2)', [10, pdq.unpack1('H*')])
images = conn.exec_params(<<~SQL, [pdq.unpack1('H*'), 31])
  SELECT id, pdq FROM images WHERE pdq <~> $1::simhash_bits(256) <= $2::int ORDER BY id
SQL
first = [images[0]['pdq']].pack('H*')

binary = PG::BasicTypeMapForQueries::BinaryData.new(pdq)
by_bytes = conn.exec_params('SELECT id FROM images WHERE pdq % $1::bytea::simhash_bits ORDER BY id',
                            [binary])

check('a text', alike.column_values(0), %w[1])
check('any of some texts', values.call('SELECT id FROM texts WHERE body =~= ANY ($1::text[])', [[body, '...']]), %w[1])
check('hexadecimal digits', images.column_values(0), %w[1 2 10])
check('read as digits', first, pdq)
check('bytes', by_bytes.column_values(0), %w[1 2 10])
check('array of digits', values.call('SELECT id FROM images WHERE pdq % ANY ($1::simhash_bits[]) ORDER BY id',
                                     [[pdq.unpack1('H*'), 'f0' * 32]]), %w[1 2 3 10])
check('too few digits', error.call('SELECT $1::simhash_bits(256)', ['0f' * 31]), '22026')
check('read in the binary format', conn.exec_params('SELECT pdq FROM images WHERE id = 10', [], 1).getvalue(0, 0), pdq)

# what the page warns of
check('array of integers of 2^63 and more',
      error.call('SELECT id FROM docs WHERE fp = ANY ($1::simhash[])', [[fp]]), '22003')
check('an array of strings without a type',
      error.call('SELECT id FROM docs WHERE fp = ANY ($1)', [[fp.to_s]]), '42883')
plain = PG.connect
check('array without the type map', begin
  plain.exec_params('SELECT simhash_minhash($1::text[])', [%w[alpha beta]])
rescue PG::Error => e
  e.result.error_field(PG::PG_DIAG_SQLSTATE)
end, '22P02')
array = PG::TextEncoder::Array.new.encode(%w[alpha beta])
check('array taken as text', plain.exec_params('SELECT simhash_minhash($1)', [array]).getvalue(0, 0),
      plain.exec("SELECT simhash_minhash('{alpha,beta}'::text)").getvalue(0, 0))
check('array with an encoder', plain.exec_params('SELECT simhash_minhash($1::text[])', [array]).getvalue(0, 0),
      '7023365908306380860')
binary = { value: 'alphabetagaga', format: 1 }
check('bytes taken as text', plain.exec_params('SELECT simhash_minhash($1)', [binary]).getvalue(0, 0),
      '8883057560494809021')
check('bytes without the type map',
      plain.exec_params('SELECT simhash_minhash($1::bytea)', [binary]).getvalue(0, 0), '2699533031099302304')
check('a wide one in the binary format',
      plain.exec_params('SELECT id FROM images WHERE pdq % $1::simhash_bits(256) ORDER BY id',
                        [{ value: pdq, format: 1 }]).column_values(0), %w[1 2 10])
plain.close

['hello world', 'Hello, world!'].each do |body|
  conn.exec_params('INSERT INTO corpus (body) VALUES ($1) ON CONFLICT DO NOTHING', [body])
end
check('kept out', values.call('SELECT body FROM corpus'), ['hello world'])

conn.copy_data('COPY docs (id, fp) FROM STDIN') do
  conn.put_copy_data("20\t#{fp}\n")
  conn.put_copy_data("21\t-1\n")
end
check('COPY', values.call('SELECT fp FROM docs WHERE id >= 20 ORDER BY id'), [fp.to_s, '18446744073709551615'])
