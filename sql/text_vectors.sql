--
-- The test vectors of test/vectors/vectors.jsonl; made by make_sql.py there.
-- These results are frozen.
--
CREATE TEMPORARY TABLE vectors (form text, name text, expected text, result text);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('one letter', '16629034431890738719', 'a'),
	('one digit', '499566431179015674', '7'),
	('three letters', '8696274497037089104', 'abc'),
	('four letters', '7248448420886124688', 'abcd'),
	('five letters', '7243055160648828944', 'abcde'),
	('seven letters', '289546691831498768', 'abcdabc'),
	('even votes', '289546691831498768', 'abcd abcd abc'),
	('even votes, longer', '289546691831498768', 'abcdabcdabcdabcdabc'),
	('English', '1378496306392536612', 'The quick brown fox jumps over the lazy dog.'),
	('upper case', '1378496306392536612', 'THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG'),
	('other white space and punctuation', '1378496306392536612', U&'The\0009quick\00A0brown — “fox”…\000Ajumps;over,the\3000lazy\2028dog!'),
	('no white space', '1378496306392536612', 'thequickbrownfoxjumpsoverthelazydog'),
	('two sentences', '17525333764300582142', 'Near-duplicates differ in few bits. Everything else differs in about thirty-two.'),
	('empty', NULL, ''),
	('white space', NULL, U&' \0009\000A'),
	('punctuation', NULL, '.,;:!?'),
	('full-width punctuation', NULL, '，。！？'),
	('emoji only', NULL, '🙂👍🎉'),
	('symbols', NULL, '€+™©°'),
	('variation selector only', NULL, U&'\FE0F'),
	('zero width only', NULL, U&'\200B\200C\200D\2060\FEFF'),
	('Hangul fillers only', NULL, U&'\115F\1160\3164\FFA0'),
	('private use only', NULL, U&'\E000\+10FFFD'),
	('noncharacters only', NULL, U&'\FFFE\FFFF\+10FFFF'),
	('French', '18324625237255759776', 'Dès Noël, où un zéphyr haï me vêt de glaçons würmiens'),
	('French, NFD', '18324625237255759776', U&'De\0300s Noe\0308l, ou\0300 un ze\0301phyr hai\0308 me ve\0302t de glac\0327ons wu\0308rmiens'),
	('French, upper case', '18324625237255759776', 'DÈS NOËL, OÙ UN ZÉPHYR HAÏ ME VÊT DE GLAÇONS WÜRMIENS'),
	('Vietnamese', '3130322761642600386', 'Tôi có thể ăn thủy tinh mà không hại gì'),
	('Vietnamese, NFD', '3130322761642600386', U&'To\0302i co\0301 the\0302\0309 a\0306n thu\0309y tinh ma\0300 kho\0302ng ha\0323i gi\0300'),
	('Vietnamese, upper case, NFD', '3130322761642600386', U&'TO\0302I CO\0301 THE\0302\0309 A\0306N THU\0309Y TINH MA\0300 KHO\0302NG HA\0323I GI\0300'),
	('marks above and below', '12232940409625633833', U&'a\0323\0302 o\0323\0302 s\0323\0307'),
	('marks below and above', '12232940409625633833', U&'a\0302\0323 o\0302\0323 s\0307\0323'),
	('marks composed', '12232940409625633833', 'ậộṩ'),
	('marks of one class', '15725736201813183799', U&'o\0308\0304 xyz'),
	('marks of one class, the other order', '4617316892390727680', U&'o\0304\0308 xyz'),
	('German', '14887830698876279727', 'Straße und Fußweg: Äpfel, Öl, Übermut'),
	('German, upper case', '14887830698876279727', 'STRASSE UND FUSSWEG: ÄPFEL, ÖL, ÜBERMUT'),
	('German, capital sharp s', '14887830698876279727', 'STRAẞE UND FUẞWEG: ÄPFEL, ÖL, ÜBERMUT'),
	('ligatures', '10527996605378479949', 'ﬁnal eﬀort, aﬄuent'),
	('ligatures spelt out', '10527996605378479949', 'final effort, affluent'),
	('Turkish', '1513816437391051739', 'İstanbul ılık ISPARTA'),
	('Turkish, lower case dotted', '1513816437391051739', U&'i\0307stanbul ılık isparta'),
	('Turkish, no dot', '1514805989243702233', 'istanbul ılık isparta'),
	('long s and Kelvin', '9256115652935135744', U&'ſteam at 300 \212A'),
	('n with apostrophe', '2623491071511633938', 'ŉgqoba'),
	('n with apostrophe, folded', '2623491071511633938', 'ʼngqoba'),
	('accents count', '16121243997734940018', 'resume'),
	('accents count, accented', '13746396103387312314', 'résumé'),
	('Greek', '8990464025874876716', 'Ὀδυσσεὺς δ᾽ ἐς Ἰθάκην ἦλθεν'),
	('Greek, NFD', '8990464025874876716', U&'Ο\0313δυσσευ\0300ς δ᾽ ε\0313ς Ι\0313θα\0301κην η\0313\0342λθεν'),
	('Greek, upper case', '8990464025874876716', 'ὈΔΥΣΣΕῪΣ Δ᾽ ἘΣ ἸΘΆΚΗΝ ἮΛΘΕΝ'),
	('Greek final sigma', '9388598672818979352', 'σοφός'),
	('Greek capital sigma', '9388598672818979352', 'ΣΟΦΌΣ'),
	('iota subscript, composed', '45669744506544234', 'ᾠδῇ ᾷ'),
	('iota subscript, NFD', '45669744506544234', U&'ω\0313\0345δη\0342\0345 α\0342\0345'),
	('iota subscript before the accent', '45669744506544234', U&'ω\0345\0313δη\0345\0342 α\0345\0342'),
	('iota subscript, capital', '45669744506544234', U&'ᾨδΗ\0342\0345 Α\0342\0345'),
	('iota beside', '45669744506544234', 'ὠιδῆι ᾶι'),
	('Russian', '12005465223287569782', 'Съешь же ещё этих мягких французских булок'),
	('Russian, NFD', '12005465223287569782', U&'Съешь же еще\0308 этих мягких французских булок'),
	('Russian, upper case', '12005465223287569782', 'СЪЕШЬ ЖЕ ЕЩЁ ЭТИХ МЯГКИХ ФРАНЦУЗСКИХ БУЛОК'),
	('Ukrainian', '10070685257740067598', 'Їжак і ґава'),
	('Ukrainian, NFD', '10070685257740067598', U&'І\0308жак і ґава'),
	('Armenian', '17564387439672479137', 'Երևան'),
	('Armenian, ligature spelt out', '17564387439672479137', 'Երեւան'),
	('Armenian, upper case', '17564387439672479137', 'ԵՐԵՒԱՆ'),
	('Georgian', '903903976909866269', 'საქართველო და თბილისი'),
	('Georgian, Mtavruli', '3209769801994393117', 'ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ'),
	('Georgian, Mkhedruli', '3209769801994393117', 'საქართველო'),
	('Cherokee', '5859268926609039966', 'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ'),
	('Cherokee, small letters', '5859268926609039966', 'ꮳꮃꭹ ꭶꮼꮒꭿꮝꮧ'),
	('Deseret', '2206943609718378626', '𐐔𐐇𐐝𐐀𐐡𐐇𐐓'),
	('Deseret, small letters', '2206943609718378626', '𐐼𐐯𐑅𐐨𐑉𐐯𐐻'),
	('Arabic', '17489205757048516172', U&'ن\064Eص\064C\0651 ح\064Eك\0650يم\064C ل\064Eه\064F س\0650ر\064C\0651 ق\064Eاط\0650ع\064C'),
	('Arabic, marks in the other order', '17489205757048516172', U&'ن\064Eص\0651\064C ح\064Eك\0650يم\064C ل\064Eه\064F س\0650ر\0651\064C ق\064Eاط\0650ع\064C'),
	('Arabic without marks', '1670136933219964131', 'نص حكيم له سر قاطع'),
	('Arabic, hamza composed', '9259550368879280148', 'آأؤإئ'),
	('Arabic, hamza decomposed', '9259550368879280148', U&'ا\0653ا\0654و\0654ا\0655ي\0654'),
	('Persian with a zero width non-joiner', '1137129004940427881', U&'می\200Cخواهم نان'),
	('Urdu', '10016556590889977189', 'یہ ایک مثال ہے'),
	('Hebrew with points', '5282887307888096072', U&'ב\05B0\05BCר\05B5אש\05B4\05C1ית ב\05B8\05BCר\05B8א'),
	('Hebrew with points, NFD and composed', '5282887307888096072', U&'ב\05B0\05BCר\05B5אש\05C1\05B4ית ב\05B8\05BCר\05B8א'),
	('Hebrew without points', '2376909257775054928', 'בראשית ברא'),
	('Syriac', '13436985260329212597', 'ܐܒܘܢ ܕܒܫܡܝܐ'),
	('Hindi', '6767130518647546602', U&'ऋष\093Fय\094B\0902 क\094B सत\093Eन\0947 व\093Eल\0947 द\0941ष\094Dट र\093Eक\094Dषस\094B\0902'),
	('Hindi, joiners', '6767130518647546602', U&'ऋष\093Fय\094B\0902 क\094B सत\093Eन\0947 व\093Eल\0947 द\0941ष\094D\200Dट र\093Eक\094Dष\200Cस\094B\0902'),
	('Devanagari nukta', '2974268214338155999', U&'\0958\0959\095C'),
	('Devanagari nukta, decomposed', '2974268214338155999', U&'क\093Cख\093Cड\093C'),
	('Bengali', '5144553481088407567', U&'ক\09CBন ব\09BE\0982ল\09BE প\09BEঠ'),
	('Bengali, NFD', '5144553481088407567', U&'ক\09C7\09BEন ব\09BE\0982ল\09BE প\09BEঠ'),
	('Tamil', '1286295252651617420', U&'தம\0BBFழ\0BCD ம\0BCAழ\0BBF அழக\0BBEனத\0BC1'),
	('Telugu', '577359834987660458', U&'త\0C46ల\0C41గ\0C41 భ\0C3Eష'),
	('Sinhala', '15118949495776838843', U&'ස\0DD2\0D82හල භ\0DCFෂ\0DCFව'),
	('Thai', '13502421146059113537', U&'เป\0E47นมน\0E38ษย\0E4Cส\0E38ดประเสร\0E34ฐเล\0E34ศค\0E38ณค\0E48า'),
	('Lao', '16903139734103269440', 'ພາສາລາວ'),
	('Khmer', '1155187239447259184', U&'ភ\17B6ស\17B6ខ\17D2ម\17C2រ'),
	('Burmese', '12011802465546457161', U&'မ\103Cန\103Aမ\102Cဘ\102Cသ\102C'),
	('Tibetan', '16882845506237829186', U&'བ\0F7Cད་ས\0F90ད་ཡ\0F72ག ག\0F71\0F72'),
	('Tibetan, vowels in the other order', '16882845506237829186', U&'བ\0F7Cད་ས\0F90ད་ཡ\0F72ག ག\0F72\0F71'),
	('Tibetan, vowel sign ii', '16882845506237829186', U&'བ\0F7Cད་ས\0F90ད་ཡ\0F72ག ག\0F73'),
	('Mongolian with variation selectors', '9930722820835781031', U&'ᠮᠣᠩᠭᠣᠯ\180B ᠪᠢᠴᠢᠭ\180E'),
	('Ethiopic', '4613108794065502406', 'ሰላም ለኢትዮጵያ'),
	('Balinese', '6248470011989857226', U&'ᬅ\1B35ᬆᬑ'),
	('Chinese', '8279446059630205714', '天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。'),
	('Chinese, simplified', '2594734237417484442', '我能吞下玻璃而不伤身体。'),
	('compatibility ideographs', '11537462910430851304', U&'\F900\F9FF\+02F800'),
	('compatibility ideographs, unified', '11537462910430851304', '豈刺丽'),
	('rare ideographs', '153263528814379778', '𠀀𠀁𪜀𫝀𰀀'),
	('ideographic numbers', '15000860847987499738', '二〇二三年〡〢〣'),
	('Japanese', '8315874111557609179', 'いろはにほへと ちりぬるを 色は匂へど散りぬるを'),
	('Japanese, voiced', '15811625814452888671', 'ガギグゲゴ パピプ'),
	('Japanese, voiced, NFD', '15811625814452888671', U&'カ\3099キ\3099ク\3099ケ\3099コ\3099 ハ\309Aヒ\309Aフ\309A'),
	('Japanese, half-width', '10696697883445189969', 'ｶﾞｷﾞｸﾞｹﾞｺﾞ'),
	('Japanese, full-width', '6503203915797954624', 'ガギグゲゴ'),
	('Korean', '2415920642525831420', '키스의 고유조건은 입술끼리 만나야 한다'),
	('Korean, jamo', '2415920642525831420', U&'\110F\1175\1109\1173\110B\1174 \1100\1169\110B\1172\110C\1169\1100\1165\11AB\110B\1173\11AB \110B\1175\11B8\1109\116E\11AF\1101\1175\1105\1175 \1106\1161\11AB\1102\1161\110B\1163 \1112\1161\11AB\1103\1161'),
	('Korean, compatibility jamo', '3220790821391532472', 'ㅋㅋㅋㅋㅋ ㅎㅎ'),
	('Korean, old jamo', '2186935521305473890', U&'\1112\119E\11AB\1100\1173\11AF'),
	('full-width Latin', '2705073161621183820', 'Ｆｕｌｌ ｗｉｄｔｈ １２３'),
	('emoji between words', '8591134293067027982', U&'I ❤\FE0F SQL 👩\200D💻 very 🇪🇺 much'),
	('emoji left out', '8591134293067027982', 'I SQL very much'),
	('keycap', '220324744246593610', U&'5\FE0F\20E3 stars!'),
	('keycap without selector', '220324744246593610', U&'5\20E3 stars'),
	('soft hyphens', '9656849110279560768', U&'co\00ADop\00ADer\00ADa\00ADtion'),
	('no soft hyphens', '9656849110279560768', 'cooperation'),
	('grapheme joiner blocks composition', '13962089627546310959', U&'e\034F\0301tude'),
	('ZWJ blocks composition', '13962089627546310959', U&'e\200D\0301tude'),
	('grapheme joiner blocks composition too', '13962089627546310959', U&'e\034F\0301tude'),
	('composition', '722029572865927208', U&'e\0301tude'),
	('digits of several scripts', '13743085516723145104', '0123 ٠١٢٣ ०१२३ ๐๑๒๓ 𝟎𝟏𝟐𝟑'),
	('numbers that are not digits', '7891504221308193331', '½ ² Ⅻ ① ㊿ ৴'),
	('Roman numerals', '1818225784374339113', 'ⅫⅣ'),
	('Roman numerals, small', '1818225784374339113', 'ⅻⅳ'),
	('mixed scripts', '13961161243422115773', 'PostgreSQL は 데이터베이스 및 база данных, 数据库 σε ελληνικά'),
	('angstrom and ohm', '864691272345031761', U&'5 \212B and 3 \2126'),
	('four bytes each', '9264095200983132168', '𐀀𐀁𐐀𝟎𐐁'),
	('marks alone', '10540471290754232588', U&'\0301\0327 \0300'),
	('many marks', '5868563386606190960', U&'Z\0351\036B\0343\036A\0302\036B\033D\034F\0334\0319\0324\031E\0349\035A\032F\031E\0320\034D\0351\036B\0343\036A\0302\036B\033D\034F\0334\0319\0324\031E\0349\035A\032F\031E\0320\034D\0351\036B\0343\036A\0302\036B\033D\034F\0334\0319\0324\031E\0349\035A\032F\031E\0320\034D'),
	('unassigned and private use between letters', '7215755508111119377', U&'ab\0378cd\E000ef\FFFFgh'),
	('long, ASCII', '6511800593011712808', repeat('Lorem ipsum dolor sit amet. ', 20000)),
	('long, mixed', '453083636388499017', repeat('日本語, Text; Übung 1 – ', 20000)),
	('long, one character', '5512727850219729077', repeat('天', 100000)),
	('long, nothing', NULL, repeat('. ', 100000)),
	('the example of doc/algorithm.md', '13259484397701124793', 'Oh, ha ha ha!')
) AS v (name, expected, document),
LATERAL (VALUES
	('text', simhash_compute(document)::text),
	('features of text', simhash_compute(simhash_shingles(document))::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('long, words', '2027785608223690588', repeat('the cat sat on the mat ', 20000), 3, 'word'),
	('single characters', '17141595561001880378', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 1, 'char'),
	('windows of 2 characters', '9996082022075122990', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 2, 'char'),
	('windows of 3 characters', '14344953018671875160', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 3, 'char'),
	('windows of 5 characters', '9445179957329843233', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 5, 'char'),
	('windows of 8 characters', '14183365434556282701', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 8, 'char'),
	('windows of 16 characters', '5981523845397032042', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 16, 'char'),
	('windows of 63 characters', '13091504983605195638', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 63, 'char'),
	('windows of 64 characters', '13091504983605195638', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 64, 'char'),
	('single words', '10364369152847956305', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 1, 'word'),
	('windows of 2 words', '1478882756553362732', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 2, 'word'),
	('windows of 3 words', '10100996959589473060', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 3, 'word'),
	('windows of 4 words', '130769700092222826', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 4, 'word'),
	('windows of 8 words', '4975562905236626969', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 8, 'word'),
	('windows of 64 words', '10102573348563479008', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 64, 'word'),
	('windows of 64 characters of a longer text', '2653749301554034198', 'Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; ', 64, 'char'),
	('windows of 64 words of a longer text', '12101599507884156509', 'Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and much study is a weariness of the flesh; Of the making of many books there is no end, and m', 64, 'word'),
	('windows of 64 four-byte characters', '5548995055900688047', '𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄𐀀𐀁𐀂𐀃𐀄', 64, 'char'),
	('default unit named', '10483431589849144535', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 4, 'char'),
	('words of Chinese', '6373912979238520841', '天地玄黃，宇宙洪荒', 1, 'word'),
	('pairs of words of Chinese', '5424372899778455638', '天地玄黃，宇宙洪荒', 2, 'word'),
	('pairs of words of Chinese, other spaces', '5424372899778455638', U&'天 地玄\3000黃宇宙洪,荒', 2, 'word'),
	('words of Chinese and Latin', '9428317177597444104', '用PostgreSQL存储文档fingerprint', 2, 'word'),
	('words of Japanese', '7555976024808833578', '日本語の文章をたくさん比べる時々', 2, 'word'),
	('ideographs with marks', '9809091691481661441', U&'漢\0301字\3099か', 1, 'word'),
	('words of Korean', '1361212990073962513', '키스의 고유조건은 입술끼리', 2, 'word'),
	('words of Thai', '13662536319109784', U&'เป\0E47นมน\0E38ษย\0E4C ส\0E38ดประเสร\0E34ฐ', 1, 'word'),
	('words with invisible characters', '1527304496485909249', U&'co\00ADop\FEFFer\200Date me', 2, 'word'),
	('words without', '1527304496485909249', 'cooperate me', 2, 'word'),
	('words with apostrophe and hyphen', '6665690842203748360', 'don''t near-dup', 1, 'word'),
	('words apart', '6665690842203748360', 'don t near dup', 1, 'word'),
	('words with emoji', '723118202936723586', U&'I ❤\FE0F SQL 👩\200D💻 much', 2, 'word'),
	('ideographic numbers as words', '4739039329090316242', '二〇二三年〢々', 1, 'word'),
	('number forms as words', '1876242460544744951', 'Ⅻ ½ ①②', 1, 'word'),
	('words of nothing', NULL, '– … 🙂', 1, 'word'),
	('one word, window of three', '16415117739589131349', 'Word', 3, 'word'),
	('two words, window of three', '14314489994309630037', 'two words', 3, 'word')
) AS v (name, expected, document, shingle, unit),
LATERAL (VALUES
	('text, options', simhash_compute(document, shingle, unit)::text),
	('features of text', simhash_compute(simhash_shingles(document, shingle, unit))::text),
	('aggregate of text', (SELECT simhash_agg(simhash_hash(f)) FROM unnest(simhash_shingles(document, shingle, unit)) f)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no bytes', NULL, decode('', 'hex')),
	('one byte', '14144645293874801883', decode('00', 'hex')),
	('seven bytes', '923809989133364073', decode('00010203040506', 'hex')),
	('eight bytes', '4187271766389786872', decode('0001020304050607', 'hex')),
	('nine bytes', '1301546236614213776', decode('000102030405060708', 'hex')),
	('all bytes', '11010126191424296545', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex')),
	('invalid UTF-8', '12386613110344666317', decode('fffe8000616263c3fffe8000616263c3fffe8000616263c3', 'hex')),
	('bytes, long', '17081135130972898290', decode(repeat('000162696e617279ff', 20000), 'hex'))
) AS v (name, expected, document),
LATERAL (VALUES
	('bytea', simhash_compute(document)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('all bytes, windows of 1', '4719878874688949014', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 1),
	('all bytes, windows of 17', '16884953642294651288', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 17),
	('all bytes, windows of 64', '635211094601094693', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 64),
	('63 bytes, windows of 64', '3181756509191930963', decode('6465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2', 'hex'), 64)
) AS v (name, expected, document, shingle),
LATERAL (VALUES
	('bytea, shingle', simhash_compute(document, shingle)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('empty', NULL, ''),
	('one lexeme', '4779597430144128238', '''cat'':1'),
	('no positions', '8238929018198339812', '''cat'' ''fat'' ''rat'''),
	('one position each', '8238929018198339812', '''cat'':1 ''fat'':2 ''rat'':3'),
	('positions', '14032140432941393424', '''cat'':1,5,9 ''fat'':2,3 ''rat'':4 ''mat'':10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39'),
	('other scripts', '14132324398610595626', '''größe'':1 ''база'':2,3 ''数据库'':4,5,6 ''o''''clock'':7 ''back\\slash'':8'),
	('case counts', '4779597430144128238', '''Cat'':1 ''cat'':2,3'),
	('256 positions', '14300343723226362718', '''much'':1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,121,122,123,124,125,126,127,128,129,130,131,132,133,134,135,136,137,138,139,140,141,142,143,144,145,146,147,148,149,150,151,152,153,154,155,156,157,158,159,160,161,162,163,164,165,166,167,168,169,170,171,172,173,174,175,176,177,178,179,180,181,182,183,184,185,186,187,188,189,190,191,192,193,194,195,196,197,198,199,200,201,202,203,204,205,206,207,208,209,210,211,212,213,214,215,216,217,218,219,220,221,222,223,224,225,226,227,228,229,230,231,232,233,234,235,236,237,238,239,240,241,242,243,244,245,246,247,248,249,250,251,252,253,254,255,256 ''little'':300,301 ''some'':400,401,402,403,404,405,406,407,408,409,410,411,412,413,414,415,416,417,418,419,420,421,422,423,424,425,426,427,428,429,430,431,432,433,434,435,436,437,438,439,440,441,442,443,444,445,446,447,448,449')
) AS v (name, expected, document),
LATERAL (VALUES
	('tsvector', simhash_compute(document::tsvector)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no features', NULL, '{}'),
	('features', '2706975638873859345', '{"red","green","blue","red"}'),
	('empty feature', '3244421341483603138', '{""}'),
	('features are not normalised', '10697624823775486732', '{"Red","GREEN"," blue "}'),
	('a long feature', '13156184289656202942', '{"lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet "}')
) AS v (name, expected, features),
LATERAL (VALUES
	('text[]', simhash_compute(features::text[])::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('features with equal weights', '2706975638873859345', '{"red","green","blue","red"}', '{0.5,0.5,0.5,0.5}'),
	('repetition as weight', '2706975638873859345', '{"blue","green","red"}', '{1,1,2}'),
	('features of other scripts', '2577495130584264296', '{"größe","база","数据库","🙂"}', '{1.5,2.25,0.1,-3}'),
	('weights of zero', NULL, '{"a","b"}', '{0,-0.0}'),
	('weights that vanish', NULL, '{"a","b"}', '{1e-11,-1e-11}'),
	('weights that cancel', '0', '{"same","same"}', '{2.5,-2.5}'),
	('a negative weight', '1817709641818812896', '{"a"}', '{-1}'),
	('weights close to each other', '9529653758009067547', '{"a","b","c"}', '{0.1,0.2,0.3}')
) AS v (name, expected, features, weights),
LATERAL (VALUES
	('text[], weights', simhash_compute(features::text[], weights::float8[])::text),
	('aggregate of features', (SELECT simhash_weighted_agg(simhash_hash(f), w) FROM unnest(features::text[], weights::float8[]) u (f, w))::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no hashes', NULL, '{}'),
	('one hash', '18446744073709551615', '{-1}'),
	('one hash, zero', '0', '{0}'),
	('two hashes: ties are not set', '8', '{12,10}'),
	('three hashes', '14', '{12,10,6}'),
	('extreme hashes', '9223372036854775808', '{-9223372036854775808,9223372036854775807,-9223372036854775808}')
) AS v (name, expected, hashes),
LATERAL (VALUES
	('bigint[]', simhash_compute(hashes::bigint[])::text),
	('aggregate', (SELECT simhash_agg(h) FROM unnest(hashes::bigint[]) h)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('half a unit, rounded to even: down', '2', '{1,2}', '{1.1641532182693481e-10,2.3283064365386963e-10}'),
	('half a unit, rounded to even: up', '0', '{1,2}', '{3.4924596548080444e-10,4.656612873077393e-10}'),
	('large weights', '7', '{5,3,9}', '{9e+18,9e+18,-1e+18}'),
	('large and small weights', '0', '{1,2,4}', '{4.611686018427388e+18,4.611686018427388e+18,2.3283064365386963e-10}'),
	('sum beyond 64 bits', '1', '{7,1,1,2}', '{9.2e+18,9.2e+18,9.2e+18,9.2e+18}'),
	('weights of both signs', '18364758544493064720', '{-81985529216486896,81985529216486895,1234567890123456789}', '{1.25,-0.5,0.75}')
) AS v (name, expected, hashes, weights),
LATERAL (VALUES
	('bigint[], weights', simhash_compute(hashes::bigint[], weights::float8[])::text),
	('aggregate, weights', (SELECT simhash_weighted_agg(h, w) FROM unnest(hashes::bigint[], weights::float8[]) u (h, w))::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('empty', '3244421341483603138', ''),
	('a', '-1817709641818812897', 'a'),
	('abc', '8696274497037089104', 'abc'),
	('8 bytes', '8017998777839871107', 'abcdefgh'),
	('9 bytes', '-2243385267987312480', 'abcdefghi'),
	('16 bytes', '4412624702490859688', 'abcdefghijklmnop'),
	('17 bytes', '-3855303992812254513', 'abcdefghijklmnopq'),
	('not normalised', '238361152297059132', 'Größe!'),
	('four bytes each', '-9116242503469909919', '🙂🙃'),
	('128 bytes', '5522396673332862231', repeat('x', 128)),
	('129 bytes', '-1947397678627412004', repeat('x', 129)),
	('240 bytes', '4473985974101920616', repeat('x', 240)),
	('241 bytes', '1502687544462699037', repeat('x', 241)),
	('1024 bytes', '-263839022706387382', repeat('x', 1024)),
	('1025 bytes', '-7146402979892385951', repeat('x', 1025)),
	('5000 bytes', '-8249073017495339632', repeat('x', 5000))
) AS v (name, expected, document),
LATERAL (VALUES
	('hash', simhash_hash(document)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('nothing', NULL, '...', 4, 'char'),
	('characters', 'hell|ello|llow|lowö|owör|wörl|örld', 'Hello, Wörld', 4, 'char'),
	('fewer characters', 'ab', 'Ab', 4, 'char'),
	('single words', 'strasse|東|京|été', U&'Straße: 東京 e\0301t\200De\0301!', 1, 'word'),
	('pairs of words', 'one two|two three|three 東|東 京|京 都', 'One two, three 東京都', 2, 'word'),
	('jamo', U&'한국|국어|어글|글\1112', U&'\1112\1161\11AB\1100\116E\11A8\110B\1165 \1100\1173\11AF\1112', 2, 'char'),
	('repeated', 'aaa|aaa|aaa|aaa', 'aaaaaa', 3, 'char')
) AS v (name, expected, document, shingle, unit),
LATERAL (VALUES
	('shingles', array_to_string(simhash_shingles(document, shingle, unit), '|')::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('empty', NULL, ''),
	('twelve words', NULL, 'It was the best of times, it was the worst of times,'),
	('thirteen words', '2400614608175952596', 'It was the best of times, it was the worst of times, it'),
	('fourteen words', '2400614608175952596', 'It was the best of times, it was the worst of times, it was'),
	('a sentence', '103609747548840411 738400974575376147 1955787617674570054 2400614608175952596 2443884454034808375 2830739156713093779 3614248715486496867 8877795951300905516 8957068358608750713', 'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness'),
	('folded and decomposed', '811554048341621243', U&'Straße ÉTÉ e\0301te\0301 ΑΣ ς İstanbul x_y 10½ naïve Ǆ ﬁn 한국 \1112\1161\11AB soft\00ADhyphen'),
	('Han characters', '151212674681182496 702071098345907885 4330178128094871372', '天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。寒來暑往，秋收冬藏。'),
	('scripts without spaces', '1815363127744698718 4299131411312736298', U&'いろは にほへと ちりぬるを 日本語の文章、東京都千代田区永田町 เป\0E47นมน\0E38ษย\0E4C ส\0E38ดประเสร\0E34ฐ'),
	('one word again and again', '-6944811861784941864', repeat('word ', 1000)),
	('a text that repeats itself', '103609747548840411 738400974575376147 1955787617674570054 1997277096260329440 2009014667605665834 2400614608175952596 2443884454034808375 2830739156713093779 3614248715486496867 8877795951300905516 8957068358608750713', repeat('It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness ', 300))
) AS v (name, expected, document),
LATERAL (VALUES
	('passage_keys', nullif(array_to_string(simhash_passage_keys(document), ' '), '')::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('nothing in common', NULL, 'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness', '天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。寒來暑往，秋收冬藏。', 13),
	('a quote', '4 3 17', 'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness', 'He wrote: "BEST OF TIMES, IT WAS THE WORST OF TIMES, IT WAS THE AGE OF WISDOM, IT WAS."', 13),
	('twelve words in common', NULL, 'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness', 'best of times, it was the worst of times, it was the', 13),
	('three words, some of them again', '1 10 3|7 10 3|13 10 3|15 1 3|19 10 3|21 1 3|25 10 3|27 4 3|31 10 3|33 4 3|37 10 3|39 7 3|43 10 3|45 7 3', 'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness', 'the age of the epoch of the season of it was the', 3),
	('one word, again and again', '1 1 20|9 1 20|17 1 20|25 1 20|33 1 18', 'w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w ', 'w w w w w w w w w w w w w w w w w w w w ', 13),
	('one word in one place', '1 2 1|3 2 1|4 1 1', 'a b a c', 'c a', 1),
	('one within another', '1 6 8', 'x a b c d e f y', 'a b c d z x a b c d e f y', 3),
	('Han characters', '5 1 8', '天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。寒來暑往，秋收冬藏。', '宇宙洪荒日月盈昃', 4)
) AS v (name, expected, a, b, min_words),
LATERAL (VALUES
	('passages', (SELECT string_agg(format('%s %s %s', a_word, b_word, words), '|' ORDER BY a_word) FROM simhash_passages(a, b, min_words))::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('one letter', '14718752218862691045', 'a'),
	('one digit', '16602184368266066388', '7'),
	('seven letters', '17741793092941578544', 'abcdabc'),
	('English', '4677951692778492872', 'The quick brown fox jumps over the lazy dog.'),
	('upper case', '4677951692778492872', 'THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG'),
	('other white space and punctuation', '4677951692778492872', U&'The\0009quick\00A0brown — “fox”…\000Ajumps;over,the\3000lazy\2028dog!'),
	('two sentences', '4023199396983849468', 'Near-duplicates differ in few bits. Everything else differs in about thirty-two.'),
	('empty', NULL, ''),
	('white space', NULL, U&' \0009\000A'),
	('punctuation', NULL, '.,;:!?'),
	('emoji only', NULL, '🙂👍🎉'),
	('zero width only', NULL, U&'\200B\200C\200D\2060\FEFF'),
	('French', '2583738858651256696', 'Dès Noël, où un zéphyr haï me vêt de glaçons würmiens'),
	('French, NFD', '2583738858651256696', U&'De\0300s Noe\0308l, ou\0300 un ze\0301phyr hai\0308 me ve\0302t de glac\0327ons wu\0308rmiens'),
	('French, upper case', '2583738858651256696', 'DÈS NOËL, OÙ UN ZÉPHYR HAÏ ME VÊT DE GLAÇONS WÜRMIENS'),
	('Vietnamese', '16178677836537733014', 'Tôi có thể ăn thủy tinh mà không hại gì'),
	('Vietnamese, upper case, NFD', '16178677836537733014', U&'TO\0302I CO\0301 THE\0302\0309 A\0306N THU\0309Y TINH MA\0300 KHO\0302NG HA\0323I GI\0300'),
	('German', '18079315527242213284', 'Straße und Fußweg: Äpfel, Öl, Übermut'),
	('German, upper case', '18079315527242213284', 'STRASSE UND FUSSWEG: ÄPFEL, ÖL, ÜBERMUT'),
	('Turkish', '13759699463702523568', 'İstanbul ılık ISPARTA'),
	('Greek', '11501539926979255594', 'Ὀδυσσεὺς δ᾽ ἐς Ἰθάκην ἦλθεν'),
	('Greek, upper case', '11501539926979255594', 'ὈΔΥΣΣΕῪΣ Δ᾽ ἘΣ ἸΘΆΚΗΝ ἮΛΘΕΝ'),
	('Russian', '1295595592249802867', 'Съешь же ещё этих мягких французских булок'),
	('Russian, NFD', '1295595592249802867', U&'Съешь же еще\0308 этих мягких французских булок'),
	('Ukrainian', '17784117916787572988', 'Їжак і ґава'),
	('Armenian', '552003110567087417', 'Երևան'),
	('Georgian', '11850634175664436031', 'საქართველო და თბილისი'),
	('Cherokee', '16467074531709481213', 'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ'),
	('Deseret', '6948508218044447278', '𐐔𐐇𐐝𐐀𐐡𐐇𐐓'),
	('Arabic', '11345401693693055954', U&'ن\064Eص\064C\0651 ح\064Eك\0650يم\064C ل\064Eه\064F س\0650ر\064C\0651 ق\064Eاط\0650ع\064C'),
	('Arabic without marks', '14791773893864099591', 'نص حكيم له سر قاطع'),
	('Persian with a zero width non-joiner', '7649110767827374012', U&'می\200Cخواهم نان'),
	('Urdu', '10589207156873683715', 'یہ ایک مثال ہے'),
	('Hebrew with points', '16645376834455673956', U&'ב\05B0\05BCר\05B5אש\05B4\05C1ית ב\05B8\05BCר\05B8א'),
	('Syriac', '2051475756953392003', 'ܐܒܘܢ ܕܒܫܡܝܐ'),
	('Hindi', '9546254798592829976', U&'ऋष\093Fय\094B\0902 क\094B सत\093Eन\0947 व\093Eल\0947 द\0941ष\094Dट र\093Eक\094Dषस\094B\0902'),
	('Bengali', '8502879221398321956', U&'ক\09CBন ব\09BE\0982ল\09BE প\09BEঠ'),
	('Tamil', '14913881482579284798', U&'தம\0BBFழ\0BCD ம\0BCAழ\0BBF அழக\0BBEனத\0BC1'),
	('Telugu', '7687665749571901426', U&'త\0C46ల\0C41గ\0C41 భ\0C3Eష'),
	('Sinhala', '11011584839576266712', U&'ස\0DD2\0D82හල භ\0DCFෂ\0DCFව'),
	('Thai', '9555686793474339164', U&'เป\0E47นมน\0E38ษย\0E4Cส\0E38ดประเสร\0E34ฐเล\0E34ศค\0E38ณค\0E48า'),
	('Lao', '8615558224328336876', 'ພາສາລາວ'),
	('Khmer', '16442524181659097781', U&'ភ\17B6ស\17B6ខ\17D2ម\17C2រ'),
	('Burmese', '10532158245786804595', U&'မ\103Cန\103Aမ\102Cဘ\102Cသ\102C'),
	('Tibetan', '12643213134453120208', U&'བ\0F7Cད་ས\0F90ད་ཡ\0F72ག ག\0F71\0F72'),
	('Mongolian with variation selectors', '14171281722338565726', U&'ᠮᠣᠩᠭᠣᠯ\180B ᠪᠢᠴᠢᠭ\180E'),
	('Ethiopic', '6592887188825854750', 'ሰላም ለኢትዮጵያ'),
	('Chinese', '15477082501992107538', '天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。'),
	('Chinese, simplified', '15528108798385089095', '我能吞下玻璃而不伤身体。'),
	('rare ideographs', '1822584065684430235', '𠀀𠀁𪜀𫝀𰀀'),
	('Japanese', '10313310474518572588', 'いろはにほへと ちりぬるを 色は匂へど散りぬるを'),
	('Japanese, half-width', '150392017139069337', 'ｶﾞｷﾞｸﾞｹﾞｺﾞ'),
	('Korean', '18198956093942037365', '키스의 고유조건은 입술끼리 만나야 한다'),
	('Korean, jamo', '18198956093942037365', U&'\110F\1175\1109\1173\110B\1174 \1100\1169\110B\1172\110C\1169\1100\1165\11AB\110B\1173\11AB \110B\1175\11B8\1109\116E\11AF\1101\1175\1105\1175 \1106\1161\11AB\1102\1161\110B\1163 \1112\1161\11AB\1103\1161'),
	('full-width Latin', '3142501192219470984', 'Ｆｕｌｌ ｗｉｄｔｈ １２３'),
	('emoji between words', '9026771085611689762', U&'I ❤\FE0F SQL 👩\200D💻 very 🇪🇺 much'),
	('digits of several scripts', '13717276921213597002', '0123 ٠١٢٣ ०१२३ ๐๑๒๓ 𝟎𝟏𝟐𝟑'),
	('mixed scripts', '4545181962096861076', 'PostgreSQL は 데이터베이스 및 база данных, 数据库 σε ελληνικά'),
	('many marks', '14123864085188177535', U&'Z\0351\036B\0343\036A\0302\036B\033D\034F\0334\0319\0324\031E\0349\035A\032F\031E\0320\034D\0351\036B\0343\036A\0302\036B\033D\034F\0334\0319\0324\031E\0349\035A\032F\031E\0320\034D\0351\036B\0343\036A\0302\036B\033D\034F\0334\0319\0324\031E\0349\035A\032F\031E\0320\034D'),
	('long, ASCII', '17857962407905577368', repeat('Lorem ipsum dolor sit amet. ', 20000)),
	('long, mixed', '18341180522088954045', repeat('日本語, Text; Übung 1 – ', 20000)),
	('long, one character', '6717740029779455814', repeat('天', 100000)),
	('long, nothing', NULL, repeat('. ', 100000)),
	('the example of doc/algorithm.md', '4852288676761653360', 'To be, or not to be')
) AS v (name, expected, document),
LATERAL (VALUES
	('minhash of text', simhash_minhash(document)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('single characters', '14559614905604424898', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 1, 'char'),
	('windows of 2 characters', '1023538852709715124', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 2, 'char'),
	('windows of 8 characters', '8436557747270461091', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 8, 'char'),
	('windows of 64 characters', '6177989750684797121', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 64, 'char'),
	('single words', '6787073892847650018', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 1, 'word'),
	('windows of 2 words', '1134329912134217141', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 2, 'word'),
	('windows of 3 words', '545581802768094486', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 3, 'word'),
	('windows of 64 words', '12242524209942266031', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 64, 'word'),
	('pairs of words of Chinese', '15186949937018922651', '天地玄黃，宇宙洪荒', 2, 'word'),
	('words of Chinese and Latin', '5890445270274914661', '用PostgreSQL存储文档fingerprint', 2, 'word'),
	('words of Japanese', '11725655555621528762', '日本語の文章をたくさん比べる時々', 2, 'word'),
	('words of Korean', '18216924315599306097', '키스의 고유조건은 입술끼리', 2, 'word'),
	('words of Thai', '8239437054301756923', U&'เป\0E47นมน\0E38ษย\0E4C ส\0E38ดประเสร\0E34ฐ', 1, 'word'),
	('words with emoji', '16981115242430220419', U&'I ❤\FE0F SQL 👩\200D💻 much', 2, 'word'),
	('words of nothing', NULL, '– … 🙂', 1, 'word'),
	('one word, window of three', '4785932782400972600', 'Word', 3, 'word'),
	('two words, window of three', '2490123319767488032', 'two words', 3, 'word'),
	('long, words', '6199729416367173553', repeat('the cat sat on the mat ', 20000), 3, 'word')
) AS v (name, expected, document, shingle, unit),
LATERAL (VALUES
	('minhash of text, options', simhash_minhash(document, shingle, unit)::text),
	('minhash of features of text', simhash_minhash(simhash_shingles(document, shingle, unit))::text),
	('minhash, aggregate of text', (SELECT simhash_minhash_agg(simhash_hash(f)) FROM unnest(simhash_shingles(document, shingle, unit)) f)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no bytes', NULL, decode('', 'hex')),
	('one byte', '12274259704052486342', decode('00', 'hex')),
	('seven bytes', '10883357001801362847', decode('00010203040506', 'hex')),
	('eight bytes', '18221807699078318119', decode('0001020304050607', 'hex')),
	('nine bytes', '18298962748879048101', decode('000102030405060708', 'hex')),
	('all bytes', '14415928105413540428', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex')),
	('invalid UTF-8', '16943723933658374623', decode('fffe8000616263c3fffe8000616263c3fffe8000616263c3', 'hex')),
	('bytes, long', '11830110603296039769', decode(repeat('000162696e617279ff', 20000), 'hex'))
) AS v (name, expected, document),
LATERAL (VALUES
	('minhash of bytea', simhash_minhash(document)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('all bytes, windows of 1', '11473191739210131650', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 1),
	('all bytes, windows of 17', '12517386322244860412', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 17),
	('all bytes, windows of 64', '10990397492837453872', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 64),
	('63 bytes, windows of 64', '18157173816129929024', decode('6465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2', 'hex'), 64)
) AS v (name, expected, document, shingle),
LATERAL (VALUES
	('minhash of bytea, shingle', simhash_minhash(document, shingle)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('empty', NULL, ''),
	('one lexeme', '7723198041014502433', '''cat'':1'),
	('no positions', '1866829868914803753', '''cat'' ''fat'' ''rat'''),
	('one position each', '1866829868914803753', '''cat'':1 ''fat'':2 ''rat'':3'),
	('positions', '1866821064232388393', '''cat'':1,5,9 ''fat'':2,3 ''rat'':4 ''mat'':10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39'),
	('other scripts', '17055301931762472307', '''größe'':1 ''база'':2,3 ''数据库'':4,5,6 ''o''''clock'':7 ''back\\slash'':8'),
	('case counts', '2967731056115048709', '''Cat'':1 ''cat'':2,3')
) AS v (name, expected, document),
LATERAL (VALUES
	('minhash of tsvector', simhash_minhash(document::tsvector)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no features', NULL, '{}'),
	('features', '16660887178959408587', '{"red","green","blue","red"}'),
	('empty feature', '14064318189616037565', '{""}'),
	('features are not normalised', '3743550828293054209', '{"Red","GREEN"," blue "}'),
	('a long feature', '1737332570115881440', '{"lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet lorem ipsum dolor sit amet "}'),
	('features of other scripts', '16262773928985119863', '{"größe","база","数据库","🙂"}')
) AS v (name, expected, features),
LATERAL (VALUES
	('minhash of text[]', simhash_minhash(features::text[])::text),
	('minhash, aggregate of features', (SELECT simhash_minhash_agg(simhash_hash(f)) FROM unnest(features::text[]) f)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no hashes', NULL, '{}'),
	('one hash', '6755974106381971767', '{-1}'),
	('one hash, zero', '12035550249420947055', '{0}'),
	('three hashes', '1718349007492417763', '{12,10,6}'),
	('extreme hashes', '921507052376149378', '{-9223372036854775808,9223372036854775807,-9223372036854775808}'),
	('hashes of both signs', '9517949327435388788', '{-81985529216486896,81985529216486895,1234567890123456789}'),
	('the same hash again', '1718349007492417763', '{10,12,10,6,12}'),
	('2 hashes', '8962312836312957372', ARRAY(SELECT generate_series(bigint '1', '2', '1'))::text),
	('5 hashes', '12702922853445374188', ARRAY(SELECT generate_series(bigint '1', '5', '1'))::text),
	('20 hashes', '11257123166036658209', ARRAY(SELECT generate_series(bigint '1', '20', '1'))::text),
	('64 hashes', '13547889536378708097', ARRAY(SELECT generate_series(bigint '1', '64', '1'))::text),
	('100 hashes', '11278076975766676677', ARRAY(SELECT generate_series(bigint '1', '100', '1'))::text),
	('300 hashes', '13139644738515240115', ARRAY(SELECT generate_series(bigint '1', '300', '1'))::text),
	('1000 hashes', '15094244769054201259', ARRAY(SELECT generate_series(bigint '1', '1000', '1'))::text),
	('20000 hashes', '5782490105974740652', ARRAY(SELECT generate_series(bigint '1', '20000', '1'))::text),
	('multiples of 2^32', '777338706271711442', ARRAY(SELECT generate_series(bigint '0', '257698037760', '4294967296'))::text),
	('far apart', '3197957253837598789', ARRAY(SELECT generate_series(bigint '-9223372036854775808', '9223372036854775807', '10000000000000001'))::text)
) AS v (name, expected, hashes),
LATERAL (VALUES
	('minhash of bigint[]', simhash_minhash(hashes::bigint[])::text),
	('minhash, aggregate', (SELECT simhash_minhash_agg(h) FROM unnest(hashes::bigint[]) h)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('one letter, 8 bits', 'cc', 'a', 8),
	('one letter, 256 bits', 'cc438328e64da2e58ef54ff65bbe99c10dea76b8c28e4f239fcc56590a9ae099', 'a', 256),
	('English, 64 bits', '40eb6c479c7fd3c8', 'The quick brown fox jumps over the lazy dog.', 64),
	('English, 128 bits', '40eb6c479c7fd3c8d246fc616d99f646', 'The quick brown fox jumps over the lazy dog.', 128),
	('English, 256 bits', '40eb6c479c7fd3c8d246fc616d99f6464583213df2f623bef3b95a4b65108ce8', 'The quick brown fox jumps over the lazy dog.', 256),
	('English, 4096 bits', '40eb6c479c7fd3c8d246fc616d99f6464583213df2f623bef3b95a4b65108ce82e59bb7bf0b252405c56ebfcdd332ee6d098e1541f511aa84441041c88382a7ff55c0ca6cc0e19e07486d24ce3e3c685766e858d47ba29e245fb19f75b44cba3ae823323a0eb477f53a0c5f3265f9f3d5ab962aac11e1fe33b12f34dca8a715e27ed5b5e62c5eaad70c8ff85360c37c4a20612263dcdadf9eab27076b96b6b3c544fb094d2d76910dd204321f6611954c48fc4462267bf862720b793fdf819deacbab9e68c7ce202e330622bafb8324eb9f4f5770ee21a838fd296ceb19fc27044ae6fe027e6aa121010f6b56a9b4b9ab3cf52ac1a70bae946fcece09fe08daaa21169f1769a05a97b2d9038761c93ed5958d58b609d34ff9bd76b2e837c89b3534a20f7ab9bc7f644e257c0137ea7e2172cb15ccb9ac8d221ebd86b65ee122e61f140f7251011c9beadd3ca24dc98424d17850167532170f0e0fcf0a841553b1aa37c8fcbada77ee4a0ebbf86940ebde6bc41b6807c837505918f45076da4581f37b5ace06b105afa9f3186cb44a389d66680d8b22512d850173493257d75347646a5baf4ec72bb188dbbae444f5e55bfce8ba2b9fe06e392f32ae3a1a3dbf88a959806043a876bdf6dcbc0bdd285db37ecbf3cdc731139254da4d7a81e00d89020648a8476ffc153ae82e8179e247a709d48df1d87ed218a579d0effad857f', 'The quick brown fox jumps over the lazy dog.', 4096),
	('empty, 256 bits', NULL, '', 256),
	('French, 256 bits', '23db48cd7e480778d40f9c46932ffb9fa56f42248d4a29f9c594e788a23cb212', 'Dès Noël, où un zéphyr haï me vêt de glaçons würmiens', 256),
	('Chinese, 144 bits', 'd6c9a488d2a74e122f9fbfa52be3af09cffc', '天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。', 144),
	('Japanese, 256 bits', '8f203d3bfbfeae2c4358190d40dcffa3553ed1dd8f30214c130afaac0f1cdaba', 'いろはにほへと ちりぬるを 色は匂へど散りぬるを', 256),
	('long, mixed, 576 bits', 'fe88f682546cf8bd988ba828b407f33c1f6e8bd23c807de8c6d69be50ecf0673c696e4c9af8eede10fb2a650183a108e866f7fba4857bc6d0f6f070367152275a2d28b762a1f1d26', repeat('日本語, Text; Übung 1 – ', 20000), 576),
	('the example of doc/algorithm.md, 256 bits', '4356cad7ce075070102bc2c56b170d2fe84bfc4ec798bdff040b0a47551e8421', 'To be, or not to be', 256)
) AS v (name, expected, document, bits),
LATERAL (VALUES
	('minhash_bits of text', simhash_minhash_bits(document, bits)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('windows of 8 characters, 256 bits', '7514ac92852026a3991eab8e56a28bcaab4d5c13030d0740c85e55cd00eda517', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 256, 8, 'char'),
	('single words, 72 bits', '5e3087beff8304e265', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 72, 1, 'word'),
	('windows of 3 words, 1024 bits', '07924bc24de8d516af7a99e854e90d9d4c9596b06924fa0d6504c72a0c0772d6c2c739ff245ad9d11d88f70c7979676de9226d25e1f958357a21fdda53ca8dcc55230172bab3ba7eef1240a5b9eb27326705265b3aada18353bb11d2b69fc6acc1d5f5cf23849af9d1489fee40c06d8192518ab539cfa39d734a5fca1c43170c', 'Ein Jäger aus Kurpfalz, der reitet durch den grünen Wald; 字 und Wort.', 1024, 3, 'word'),
	('words of nothing, 256 bits', NULL, '– … 🙂', 256, 1, 'word')
) AS v (name, expected, document, bits, shingle, unit),
LATERAL (VALUES
	('minhash_bits of text, options', simhash_minhash_bits(document, bits, shingle, unit)::text),
	('minhash_bits of features of text', simhash_minhash_bits(simhash_shingles(document, shingle, unit), bits)::text),
	('minhash_bits, aggregate of text', (SELECT simhash_minhash_bits_agg(simhash_hash(f), bits) FROM unnest(simhash_shingles(document, shingle, unit)) f)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no bytes, 256 bits', NULL, decode('', 'hex'), 256),
	('one byte, 256 bits', 'aa56ee2b44f090c6afb0ae99b09a27a9ad4276f40c5dd1b9c5fa47df5e6a9534', decode('00', 'hex'), 256),
	('all bytes, 256 bits', 'c80faa3ba6be7a4c99505d5658d9547096fa82ad014af1f3337f53c04ef1b66f', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 256),
	('bytes, long, 256 bits', 'a42cfeea430ae3596c2aa1139c69360916a0c08c5b97f19813b20ebd8a53609b', decode(repeat('000162696e617279ff', 20000), 'hex'), 256)
) AS v (name, expected, document, bits),
LATERAL (VALUES
	('minhash_bits of bytea', simhash_minhash_bits(document, bits)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('all bytes, windows of 17, 200 bits', 'adb6b08a45bcf9fc60f9611759e476ba7a8a21daf134495329', decode('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex'), 200, 17)
) AS v (name, expected, document, bits, shingle),
LATERAL (VALUES
	('minhash_bits of bytea, shingle', simhash_minhash_bits(document, bits, shingle)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('empty, 256 bits', NULL, '', 256),
	('positions, 256 bits', '19e847ddf8c9c729d23b8d02c73f62cc234457d0abe459c45433c70d861c7047', '''cat'':1,5,9 ''fat'':2,3 ''rat'':4 ''mat'':10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39', 256)
) AS v (name, expected, document, bits),
LATERAL (VALUES
	('minhash_bits of tsvector', simhash_minhash_bits(document::tsvector, bits)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no features, 256 bits', NULL, '{}', 256),
	('features, 256 bits', 'e7375c9db8bc4dcb66cf56e1e1d899d0b72115e98509a748d7d884b802d752cf', '{"red","green","blue","red"}', 256),
	('empty feature, 128 bits', 'c32e7ee0a420febd159c809086ef01b6', '{""}', 128)
) AS v (name, expected, features, bits),
LATERAL (VALUES
	('minhash_bits of text[]', simhash_minhash_bits(features::text[], bits)::text)
) AS r (form, result);

INSERT INTO vectors SELECT form, name, expected, result
FROM (VALUES
	('no hashes, 256 bits', NULL, '{}', 256),
	('one hash, zero, 4096 bits', 'a706dd2f4d197e6f0043648baab21b16a902dcbb34259f7836725c79d67ed975fa232ea17588bb4cfc63103dca6351d8247648f7506b142366c658cddb71addea15671967a9e3bc7552bd5a9cb683722c6b5973451050326c2c8e7d87a2e5ca3bad7006ad1969f5fff8f5093464933b85c5b29272348e66054cafe996beeb1609c2fa52d22a96201c2b6536273cab1eb7d9ca91cd40d15325064f3ffcdfbfd08dc0a5355e88020a428bf932cb19328620845a39b3aca09402a43c9822baf3f293c06bdf5ab30c6f07f331a3f943cd438d5850c056b85a49c8f6dc7be59e7caa50d76147012c138633047f8997bc3b89f8c3a95a2483ab1c9d8bef2e3518056937ffba69c431e3a95cfab4557fccb61d63b6de26202d7fc8d7d37f82e2a3a32ebc2e1ea99bf02d4184202ffee663a5ce761373c7a8de08dff4bb07ce4833f0b64bfee3ab694912b4b61c9f90e15c47e48ee0bad02fb031afdc65c3270787e6f1822bec58c1d16327eb04ff25a0a79f14f9bf345386b00109c5b45bdfdf44ebaaf1bdfeb50c0f5f99db9d69d237e614e3f8a9fa21c1f7906109cb3396aeda64b84ca21238e4801a3928c9ca3e7746e2ffe745037788ad6a4090c01d23bada2fc5796b20ca4e05b8d194db65c0914b7eb95c26e6d72fc646e1e5eedf799f1d84e7f000a1a8a5bd34a57c17e6aa915060164130cb2734f08a72040943dcf337dcc73', '{0}', 4096),
	('three hashes, 256 bits', '17d8cd516fbb08e329db481c5c60d5a152293811b1088f6e3a10c71c25924141', '{12,10,6}', 256),
	('extreme hashes, 256 bits', '0cc9d9c822e5cd82a36e0c982c719a476888a614ead3daf6babe14188b6d7fe8', '{-9223372036854775808,9223372036854775807,-9223372036854775808}', 256),
	('64 hashes, 256 bits', 'bc03c5c0e815a081ee3f0481dc3d8301f87289e2159784664874ad22bb128123', ARRAY(SELECT generate_series(bigint '1', '64', '1'))::text, 256),
	('300 hashes, 256 bits', 'b6596545da0804b39b53d9801f6e0081fd270fc326b9e2884f28d000915a0b6e', ARRAY(SELECT generate_series(bigint '1', '300', '1'))::text, 256),
	('1000 hashes, 4096 bits', 'd17987a50c4615aba10366970aa686a3fccb2fd36df8c8a23f8828aab0cbebc772d434a44b6bca0e1d3fe750098055467a44ffd3c747d145ab902383f84970ac86f5d26aace59d2636fb933623c87f2aca91e1728ba84814cf732501c58d9552850eb56410bbec77f77188757cf2294c69bb58a55b1039c93f2e0ddf409cfc6f137cf3bdfe35a8d30674b94563f0488ce8f46c859a78201f502a841fa89543e8c704b79cc7c90c11193ca0676cc885cfa872f3bcebacd136f876b311bd5bd9323cb73d69f1ddd7c40ad8d8374bb68c26abc8c4e8d88a99afc4f2230683faf35c8ec17446eea3792986d393531304844eb1a51dc765e9a0e6955cfdf798f15bab37bb1d0dfda6518a0939ee3b706a00583e62a271b9cbde62ca5960fdfb6c9651b7ddb8e313695b041ca63e053a2ea6fff79549ce989d9ad55a645d2097c7fc4ea095d4c0966b2a186e3ef3280cc19e498571fb413ff9e731eff887169a9259935677f81b27454362cd3590fac1402e3b0c9b73d137341f7790c18f88e126c69d929e3c019c741a7ac471385e3cc5c1b6c374da8c7e44b206c3971d0d50d3bdcb6e4d16f579019b98724e50746db956cfe891545954e2b50905baee3206e20586543e9fbc8ed15aa6a01c2f72a693984f8aace91111a95a492660d71203244d611d6293fe2797d308ff9909e6db41686a14049866727e110fc83f8b9aa0f8c8ba', ARRAY(SELECT generate_series(bigint '1', '1000', '1'))::text, 4096),
	('20000 hashes, 256 bits', '503f881d4bd5d6ac70c34a847075df9c67e9258755a34c27bf4330360c8fba2b', ARRAY(SELECT generate_series(bigint '1', '20000', '1'))::text, 256),
	('multiples of 2^32, 256 bits', '0ac9a96f517cb0d24be2acb94f1f6bed53aab69a17a73a9fc11e3edfd13cc40e', ARRAY(SELECT generate_series(bigint '0', '257698037760', '4294967296'))::text, 256),
	('far apart, 256 bits', '2c616d2dc9dfb045430aeed303abd627db75ed68860f1ea5397428c94c3fbc80', ARRAY(SELECT generate_series(bigint '-9223372036854775808', '9223372036854775807', '10000000000000001'))::text, 256)
) AS v (name, expected, hashes, bits),
LATERAL (VALUES
	('minhash_bits of bigint[]', simhash_minhash_bits(hashes::bigint[], bits)::text),
	('minhash_bits, aggregate', (SELECT simhash_minhash_bits_agg(h, bits) FROM unnest(hashes::bigint[]) h)::text)
) AS r (form, result);

-- what differs: nothing
SELECT * FROM vectors WHERE result IS DISTINCT FROM expected ORDER BY form, name;
SELECT form, count(*), count(expected) AS not_null FROM vectors GROUP BY form ORDER BY form COLLATE "C";
