--
-- The README's recipe for HTML
--
CREATE FUNCTION html_text(html text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    entity text[];
BEGIN
    -- comments, scripts and styles with what is in them; then all tags
    html := regexp_replace(html, '(?:<!--.*?(?:-->|$)|<(script|style)\M.*?</\1\s*>){1,1}?', ' ', 'gi');
    html := regexp_replace(html, '<[^>]*>', ' ', 'g');
    -- a letter and its accent are one character to simhash_compute
    FOREACH entity SLICE 1 IN ARRAY ARRAY[
        ['([a-z])grave', U&'\\1\0300'], ['([a-z])acute', U&'\\1\0301'], ['([a-z])circ', U&'\\1\0302'],
        ['([a-z])tilde', U&'\\1\0303'],
        ['([a-z])uml', U&'\\1\0308'], ['([a-z])ring', U&'\\1\030A'], ['([a-z])cedil', U&'\\1\0327'],
        ['szlig', 'ß'], ['aelig', 'æ'], ['oelig', 'œ'], ['oslash', 'ø']]
    LOOP
        html := regexp_replace(html, '&' || entity[1] || ';', entity[2], 'gi');
    END LOOP;
    FOR entity IN SELECT DISTINCT regexp_matches(html, '(&#(?:(\d{1,7})|x([0-9a-f]{1,6}));)', 'gi') LOOP
        DECLARE
            code int := coalesce(entity[2]::int, ('x' || lpad(entity[3], 8, '0'))::bit(32)::int);
        BEGIN
            CONTINUE WHEN code = 0 OR code BETWEEN 55296 AND 57343 OR code > 1114111;
            html := replace(html, entity[1], chr(code));
        END;
    END LOOP;
    RETURN regexp_replace(html, '&#?\w+;', ' ', 'g');
END $$;
SELECT what, html_text(html), simhash_shingles(html_text(html), 1) IS NOT DISTINCT
FROM simhash_shingles(text, 1) AS same
FROM (VALUES ('tags', '<p class="x">One <b>two</b></p>', 'one two'), ('comment', 'a<!-- b -->c', 'ac'),
	('comment with a tag', 'a<!-- b > c -->d', 'ad'), ('two comments', 'a<!-- b -->c<!-- d -->e', 'ace'),
	('comment without an end', 'a<!-- b > c', 'a'), ('script', 'a<script>if (b < c) d();</script>e', 'ae'),
	('two scripts', 'a<SCRIPT type="x">b</script >c<script>d</script>e', 'ace'),
	('style', 'a<style>b > c {}</style>d', 'ad'),
	('comment in a script', 'a<script><!-- b //--></script>c', 'ac'),
	('script in a comment', 'a<!-- <script> -->b<script>c</script>d', 'abd'),
	('not a script', 'a<scripted>b</scripted>c', 'abc'), ('lines', E'a<!-- b\n> c\n-->d', 'ad'),
	('accents', 'caf&eacute; &Agrave; la carte, gar&ccedil;on', 'café À la carte, garçon'),
	('umlauts', '&Uuml;bergr&ouml;&szlig;e', 'Übergröße'),
	('others', 'se&ntilde;or, b&aring;t, c&oelig;ur, &OSlash;', 'señor, båt, cœur, Ø'),
	('numbers', '&#233;&#xE9;&#X4e2d;&#1114111;', 'éé中'),
	('what is no character', 'a&#0;&#xD800;&#x110000;&#99999999;b', 'ab'),
	('punctuation', 'a&nbsp;&amp;&lt;b&gt;', 'ab'),
	('once only', '&amp;eacute;', 'eacute'), ('nothing', '<br>', NULL), ('null', NULL, NULL)) AS t (what, html, text);
DROP FUNCTION html_text;
