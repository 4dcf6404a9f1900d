// JDBC, with extended and with simple queries
import java.io.StringReader;
import java.sql.*;
import java.util.*;
import org.postgresql.PGConnection;

class WithJdbc {
	static void check(String what, Object got, Object expected) {
		System.out.println(Objects.equals(got, expected) ? "ok - " + what
			: "not ok - " + what + ": " + got);
	}

	static Connection conn;

	interface Binder {
		void bind(PreparedStatement s) throws SQLException;
	}

	// the values of all rows, as strings; or the SQLSTATE
	static List<String> values(String query, Binder binder) {
		List<String> all = new ArrayList<>();
		try (PreparedStatement s = conn.prepareStatement(query)) {
			binder.bind(s);
			ResultSet rows = s.executeQuery();
			while (rows.next())
				for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++)
					all.add(rows.getString(i));
		} catch (SQLException e) {
			all.add(e.getSQLState());
		}
		return all;
	}

	static void run(String mode, boolean simple) throws Exception {
		conn = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/"
			+ System.getenv("PGDATABASE") + "?preferQueryMode=" + mode,
			System.getenv("PGUSER"), System.getenv("PGPASSWORD"));

		String fp = "17841137466214345717";
		PreparedStatement insert = conn.prepareStatement(
			"INSERT INTO docs VALUES (?, CAST(? AS simhash))");
		insert.setInt(1, 10);
		insert.setString(2, fp);        // or setLong(2, Long.parseUnsignedLong(fp))
		insert.executeUpdate();

		PreparedStatement near = conn.prepareStatement(
			"SELECT id, fp <~> CAST(? AS simhash) AS distance FROM docs "
			+ "WHERE fp <~> CAST(? AS simhash) <= ? "
			+ "ORDER BY fp <~> CAST(? AS simhash) LIMIT 10");
		near.setString(1, fp);
		near.setString(2, fp);
		near.setInt(3, 3);
		near.setString(4, fp);
		ResultSet rows = near.executeQuery();

		PreparedStatement some = conn.prepareStatement(
			"SELECT id FROM docs WHERE fp % ANY (?::simhash[]) ORDER BY id");
		some.setArray(1, conn.createArrayOf("text", new String[] {fp, "1"}));

		PreparedStatement computed = conn.prepareStatement(
			"SELECT simhash_minhash(?::text), simhash_minhash(?::text[]), simhash_minhash(?::bigint[])");
		computed.setString(1, "hello world");
		computed.setArray(2, conn.createArrayOf("text", new String[] {"alpha", "beta"}));
		computed.setArray(3, conn.createArrayOf("bigint", new Long[] {-1L, -1L, 5L}));

		PreparedStatement ofBytes = conn.prepareStatement("SELECT simhash_minhash(?::bytea)");
		byte[] bytes = {0, 1, 92, 39, (byte) 128, (byte) 255, 97, 98, 99, 100, 101, 102};
		ofBytes.setBytes(1, bytes);

		ResultSet back = conn.createStatement().executeQuery(
			"SELECT fp, fp::bigint FROM docs WHERE id = 10");
		back.next();
		long unsigned = Long.parseUnsignedLong(back.getString(1));
		long same = back.getLong(2);    // Long.toUnsignedString(same) is fp again

		List<Integer> distances = new ArrayList<>();
		while (rows.next())
			distances.add(rows.getInt(2));
		check(mode + ": nearest first", distances, List.of(0, 0, 1));
		List<Integer> ids = new ArrayList<>();
		for (ResultSet r = some.executeQuery(); r.next(); )
			ids.add(r.getInt(1));
		check(mode + ": any of an array", ids, List.of(1, 2, 3, 10));
		ResultSet c = computed.executeQuery();
		c.next();
		check(mode + ": computed", List.of(c.getString(1), c.getString(2), c.getString(3)),
			List.of("3568961919840134528", "7023365908306380860", "18218831152844919349"));
		check(mode + ": read as a string", back.getString(1), fp);
		check(mode + ": read exactly", List.of(Long.toUnsignedString(unsigned), Long.toUnsignedString(same)),
			List.of(fp, fp));
		try {
			back.getLong(1);
			check(mode + ": getLong without a cast", "no error", null);
		} catch (SQLException e) {
			check(mode + ": getLong without a cast", e.getSQLState(), "22003");
		}

		String equal = "SELECT fp FROM docs WHERE fp = CAST(? AS simhash) LIMIT 1";
		check(mode + ": setLong", values(equal, s -> s.setLong(1, same)), List.of(fp));
		check(mode + ": setObject, Types.OTHER", values(equal, s -> s.setObject(1, fp, Types.OTHER)), List.of(fp));
		check(mode + ": setBigDecimal", values(equal,
			s -> s.setBigDecimal(1, new java.math.BigDecimal(fp))), List.of(fp));
		check(mode + ": setNull", values("SELECT CAST(? AS simhash) IS NULL",
			s -> s.setNull(1, Types.OTHER)), List.of("t"));
		check(mode + ": array of longs", values("SELECT id FROM docs WHERE fp = ANY (?::simhash[]) ORDER BY id",
			s -> s.setArray(1, conn.createArrayOf("bigint", new Long[] {same, 1L}))), List.of("1", "3", "10"));
		check(mode + ": an index by its name", values("SELECT count(*) > 0 FROM simhash_find_all(?::regclass)",
			s -> s.setString(1, "docs_fp")), List.of("t"));

		byte[] pdq = new byte[32];
		Arrays.fill(pdq, (byte) 0x0f);
		String digits = "0f".repeat(32);
		PreparedStatement image = conn.prepareStatement(
			"INSERT INTO images VALUES (?, CAST(? AS simhash_bits(256)))");
		image.setInt(1, 10);
		image.setString(2, digits);
		image.executeUpdate();

		PreparedStatement images = conn.prepareStatement(
			"SELECT id, pdq, pdq::bytea FROM images "
			+ "WHERE pdq <~> CAST(? AS simhash_bits(256)) <= ? ORDER BY id");
		images.setString(1, digits);
		images.setInt(2, 31);
		ResultSet hashes = images.executeQuery();
		hashes.next();
		String asDigits = hashes.getString(2);
		byte[] asBytes = hashes.getBytes(3);

		check(mode + ": hexadecimal digits", values("SELECT id FROM images "
			+ "WHERE pdq <~> CAST(? AS simhash_bits(256)) <= 31 ORDER BY id",
			s -> s.setString(1, digits)), List.of("1", "2", "10"));
		check(mode + ": read as digits", asDigits, digits);
		check(mode + ": read as bytes", Arrays.equals(asBytes, pdq), true);
		check(mode + ": array of digits", values("SELECT id FROM images WHERE pdq % ANY (?::simhash_bits[]) ORDER BY id",
			s -> s.setArray(1, conn.createArrayOf("text", new String[] {digits, "f0".repeat(32)}))),
			List.of("1", "2", "3", "10"));
		check(mode + ": too few digits", values("SELECT CAST(? AS simhash_bits(256))",
			s -> s.setString(1, digits.substring(2))), List.of("22026"));
		String body = "The Harbor Bridge is closed until Monday; and buses take the tunnel!";
		check(mode + ": a text", values("SELECT id FROM texts WHERE body =~= ?", s -> s.setString(1, body)), List.of("1"));
		check(mode + ": any of some texts", values("SELECT id FROM texts WHERE body =~= ANY (?::text[])",
			s -> s.setArray(1, conn.createArrayOf("text", new String[] {body, "..."}))), List.of("1"));

		// what the page warns of
		check(mode + ": a string without a type", values("SELECT fp FROM docs WHERE fp = ? LIMIT 1",
			s -> s.setString(1, fp)), List.of(simple ? fp : "42883"));
		check(mode + ": array without a type", values("SELECT simhash_minhash(?)",
			s -> s.setArray(1, conn.createArrayOf("text", new String[] {"alpha", "beta"}))),
			simple ? values("SELECT simhash_minhash('{\"alpha\",\"beta\"}'::text)", s -> { })
				: List.of("7023365908306380860"));
		boolean old = conn.getMetaData().getDriverMajorVersion() == 42
			&& conn.getMetaData().getDriverMinorVersion() < 6;
		check(mode + ": bytes", values("SELECT simhash_minhash(?::bytea)", s -> s.setBytes(1, bytes)),
			List.of(simple && old ? "42601" : "720769818233651409"));
		check(mode + ": bytes of a wide one", values(
			"SELECT id FROM images WHERE pdq % ?::bytea::simhash_bits ORDER BY id", s -> s.setBytes(1, pdq)),
			simple && old ? List.of("42601") : List.of("1", "2", "10"));
		check(mode + ": bytes in hex", values("SELECT simhash_minhash(decode(?, 'hex'))",
			s -> s.setString(1, "00015c2780ff616263646566")), List.of("720769818233651409"));

		try (PreparedStatement s = conn.prepareStatement(
				"INSERT INTO corpus (body) VALUES (?) ON CONFLICT DO NOTHING")) {
			for (String greeting : List.of("hello world", "Hello, world!")) {
				s.setString(1, greeting);
				s.executeUpdate();
			}
		}
		check(mode + ": kept out", values("SELECT body FROM corpus", s -> { }), List.of("hello world"));

		conn.unwrap(PGConnection.class).getCopyAPI().copyIn(
			"COPY docs (id, fp) FROM STDIN", new StringReader("20\t" + fp + "\n21\t-1\n"));
		check(mode + ": COPY", values("SELECT fp FROM docs WHERE id >= 20 ORDER BY id", s -> { }),
			List.of(fp, "18446744073709551615"));
		conn.createStatement().executeUpdate("DELETE FROM docs WHERE id >= 10");
		conn.createStatement().executeUpdate("DELETE FROM images WHERE id >= 10");
		conn.close();
	}

	public static void main(String[] args) throws Exception {
		run("extended", false);
		run("simple", true);
	}
}
