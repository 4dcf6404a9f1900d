--
-- The pages of an index, read by pageinspect and the table of offsets in src/README.md
-- (section 2), so that the format is compared with what the page says, not with the
-- code that writes it.  Pages have 8192 bytes.
--
CREATE EXTENSION pageinspect;

-- the number in n bytes from a place on: in the order of the machine, which the number of
-- the layout in the header tells, or the least significant byte first
CREATE FUNCTION page_number(page bytea, place int, n int, native boolean DEFAULT true) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	reversed boolean := native AND get_byte(page, 18) <> 4;
	result bigint := 0;
BEGIN
	FOR i IN REVERSE n - 1 .. 0 LOOP
		result := result << 8 | get_byte(page, place + CASE WHEN reversed THEN n - 1 - i ELSE i END);
	END LOOP;
	RETURN result;
END $$;

CREATE FUNCTION page_tid(page bytea, place int) RETURNS tid LANGUAGE sql IMMUTABLE AS $$
	SELECT format('(%s,%s)', page_number(page, place, 2) << 16 | page_number(page, place + 2, 2),
		page_number(page, place + 4, 2))::tid
$$;

-- bytes of an entry's pointer, and where the marks of dead entries of a leaf begin
CREATE FUNCTION page_pointer_width(level int, flags int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE level WHEN 0 THEN 6 - (flags >> 6) ELSE 10 END + (flags & 4)
$$;
CREATE FUNCTION page_marks(flags int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT 24 + w * (8119 * 8 / ((w + page_pointer_width(0, flags)) * 8 + 1)) FROM (SELECT 8 - (flags >> 4 & 3)) v (w)
$$;

-- The header and the special area, or the contents of the metapage.  A page that was added
-- before a crash is "new".
CREATE FUNCTION page_info(
	index regclass, block bigint,
	OUT page_type text, OUT table_no int, OUT level int, OUT is_root boolean, OUT entries int, OUT sorted int,
	OUT dead int, OUT key_width int, OUT row_width int, OUT right_block bigint, OUT low_group bigint, OUT low_fp simhash,
	OUT low_ctid tid, OUT high_group bigint, OUT high_fp simhash, OUT high_ctid tid, OUT version int, OUT columns int,
	OUT blocks int, OUT distance int, OUT width int
) LANGUAGE plpgsql AS $$
DECLARE
	page bytea := get_raw_page(index::text, block);
	flags int := get_byte(page, 8187);
BEGIN
	IF page_number(page, 14, 2) = 0 THEN
		page_type := 'new';
	ELSIF flags & 1 > 0 THEN
		page_type := 'metapage';
		version := page_number(page, 28, 4);
		blocks := page_number(page, 32, 2);
		distance := page_number(page, 34, 2);
		entries := page_number(page, 36, 2) * page_number(page, 44, 2) + 1;
		columns := page_number(page, 38, 2);
		width := page_number(page, 40, 2);
	ELSE
		level := get_byte(page, 8186);
		page_type := CASE level WHEN 0 THEN 'leaf' ELSE 'inner' END;
		is_root := flags & 2 > 0;
		-- the last tree is that of the null fingerprints
		table_no := nullif(page_number(page, 8184, 2), (SELECT page_number(m, 36, 2) * page_number(m, 44, 2) FROM get_raw_page(index::text, 0) m));
		entries := (page_number(page, 12, 2) - 24) / (8 - (flags >> 4 & 3));
		IF level = 0 THEN
			key_width := 8 - (flags >> 4 & 3);
			row_width := 6 - (flags >> 6);
			sorted := page_number(page, 8188, 2);
			dead := bit_count(substr(page, page_marks(flags) + 1, (entries + 7) / 8));
		END IF;
		low_fp := page_number(page, 8144, 8)::simhash;
		low_ctid := page_tid(page, 8160);
		low_group := page_number(page, 8176, 4);
		-- the last page of a level has no high fence
		right_block := nullif(page_number(page, 8172, 4), 4294967295);
		IF right_block IS NOT NULL THEN
			high_fp := page_number(page, 8152, 8)::simhash;
			high_ctid := page_tid(page, 8166);
			high_group := page_number(page, 8180, 4);
		END IF;
	END IF;
END $$;

-- The entries in physical order; of the metapage, the roots.
CREATE FUNCTION page_items(
	index regclass, block bigint,
	OUT item int, OUT group_hash bigint, OUT permuted simhash, OUT ctid tid, OUT fp simhash, OUT child bigint, OUT dead boolean
) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	page bytea := get_raw_page(index::text, block);
	meta bytea := get_raw_page(index::text, 0);
	m int := page_number(meta, 32, 2);
	k int := page_number(meta, 34, 2);
	tree int := page_number(page, 8184, 2);
	level int := get_byte(page, 8186);
	flags int := get_byte(page, 8187);
	w int := 8 - (flags >> 4 & 3);
	t int := 6 - (flags >> 6);
	prefix bigint := CASE WHEN w = 8 THEN 0 ELSE page_number(page, 8144, 8) >> 8 * w << 8 * w END;
	step int := page_pointer_width(level, flags);
	table_no int := CASE WHEN tree < page_number(meta, 36, 2) * page_number(meta, 44, 2) THEN tree % page_number(meta, 44, 2) END;
	marks int := page_marks(flags);
	place int;
	tid bigint;
BEGIN
	IF flags & 1 > 0 THEN
		FOR i IN 0 .. page_number(page, 36, 2) * page_number(page, 44, 2) LOOP
			item := i;
			child := page_number(page, 68 + 8 * i, 4);
			RETURN NEXT;
		END LOOP;
		RETURN;
	END IF;
	FOR i IN 0 .. (page_number(page, 12, 2) - 24) / w - 1 LOOP
		item := i;
		place := 8144 - step * (i + 1);
		group_hash := CASE WHEN flags & 4 > 0 THEN page_number(page, place + step - 4, 4) ELSE 0 END;
		permuted := (page_number(page, 24 + w * i, w, level > 0) | prefix)::simhash;
		IF level > 0 THEN
			ctid := page_tid(page, place);
			child := page_number(page, place + 6, 2) << 16 | page_number(page, place + 8, 2);
		ELSE
			tid := page_number(page, place, t, false);
			ctid := CASE t WHEN 6 THEN format('(%s,%s)', tid >> 16, tid & 65535) ELSE format('(%s,%s)', tid >> 9, tid & 511) END;
			dead := get_byte(page, marks + i / 8) >> i % 8 & 1 = 1;
		END IF;
		fp := CASE WHEN table_no IS NOT NULL THEN simhash_unpermute(permuted, m, k, table_no) END;
		RETURN NEXT;
	END LOOP;
END $$;
