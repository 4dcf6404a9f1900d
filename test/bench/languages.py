"""Texts by language, and edited copies of them, for test/bench/languages.

usage: languages.py DIRECTORY

DIRECTORY has the packages that the program unpacks.  Prints for each text, as COPY reads
them: language, length, number, the text, and the copy, in which one letter every 120
characters is another one of the text.
"""
import gettext
import glob
import html
import random
import re
import sys
import unicodedata
import zipfile

directory = sys.argv[1]
SIZES = (300, 3000, 10000)
MOST = 40                       # texts of each language and length


def of_libreoffice(code):
    for name in sorted(glob.glob('%s/usr/lib/libreoffice/program/resource/%s/LC_MESSAGES/*.mo' % (directory, code))):
        with open(name, 'rb') as file:
            catalog = gettext.GNUTranslations(file)._catalog
        for original, message in catalog.items():
            if isinstance(original, str) and original.rpartition('\x04')[2] != message:
                yield message


def of_firefox(code):
    """Messages are what follows " = ", on further lines that are indented as well."""
    for name in glob.glob('%s/usr/lib/firefox-esr/browser/extensions/langpack-%s@*.xpi' % (directory, code)):
        with zipfile.ZipFile(name) as archive:
            for member in sorted(archive.namelist()):
                if not member.endswith(('.ftl', '.properties')):
                    continue
                text = re.sub(r'^#.*|^ +[.*\[]?[\w-]+\]? *=|\{[^{}]*\}', '\n', archive.read(member).decode(), flags=re.M)
                for message in re.split(r'\n(?! +\S)', text):
                    yield message.partition('=')[2] or message


def of_installer(code):
    for name in sorted(glob.glob(directory + '/*.templates')):
        with open(name, encoding='utf-8') as file:
            for message in re.findall(r'^\w*[Dd]escription-%s\.UTF-8:(.*(?:\n .*)*)' % code, file.read(), re.M):
                yield from re.split(r'\n \.\n|\n', message)


def of_declaration(code):
    """The Universal Declaration of Human Rights."""
    for name in glob.glob('%s/package/declaration/%s.html' % (directory, code)):
        with open(name, encoding='utf-8') as file:
            for paragraph in re.findall(r'<(?:p|li)[^>]*>(.*?)</(?:p|li)>', file.read(), re.S):
                yield html.unescape(paragraph)


# sources of each language, and letters of which a message has at least one
LANGUAGES = {
    'Thai': ([of_libreoffice('th')], '\u0e00-\u0e7f'),
    'Lao': ([of_installer('lo'), of_declaration('lao')], '\u0e80-\u0eff'),
    'Khmer': ([of_libreoffice('km')], '\u1780-\u17ff'),
    'Burmese': ([of_firefox('my'), of_declaration('mya')], '\u1000-\u109f'),
    'Javanese': ([of_declaration('jav_java')], '\ua980-\ua9df'),
    'Japanese': ([of_libreoffice('ja')], '\u3040-\u30ff\u4e00-\u9fff'),
    'Chinese': ([of_libreoffice('zh_CN')], '\u4e00-\u9fff'),
    'Korean': ([of_libreoffice('ko')], '\uac00-\ud7a3'),
    'Vietnamese': ([of_libreoffice('vi')], '\u00c0-\u01b0\u1ea0-\u1ef9'),
    'Arabic': ([of_libreoffice('ar')], '\u0600-\u06ff'),
    'Hindi': ([of_libreoffice('hi')], '\u0900-\u097f'),
    'German': ([of_libreoffice('de')], 'a-z'),
}


def messages(sources, letters):
    """What is long enough and in the language, without markup, and each message once."""
    seen = set()
    for source in sources:
        for message in source:
            message = unicodedata.normalize('NFC', re.sub(r'<[^>]*>|[~$%_&{}\\\s]+', ' ', message)).strip()
            if len(message) >= 12 and message not in seen and re.search('[%s]' % letters, message):
                seen.add(message)
                yield message


def edited(text, chance):
    result = list(text)
    letters = [c for c in text[:200] if c.isalpha()]
    for place in range(60, len(result), 120):
        while not result[place].isalpha():
            place = (place + 1) % len(result)
        result[place] = chance.choice([c for c in letters if c != result[place]])
    return ''.join(result)


def texts(pool, size):
    """Texts of one message after the other; no message is in two of them."""
    pool = iter(pool)
    for number in range(MOST):
        text = ''
        while len(text) < size:
            message = next(pool, None)
            if message is None:
                return
            text += message + ' '
        yield number, text[:size]


for language, (sources, letters) in LANGUAGES.items():
    chance = random.Random(1)
    pool = list(messages(sources, letters))
    chance.shuffle(pool)
    for size in SIZES:
        for number, text in texts(pool, size):
            copy = edited(text, chance)
            forms = {'': 'NFC', ' (NFD)': 'NFD'} if language == 'Vietnamese' else {'': 'NFC'}
            for suffix, form in forms.items():
                print(language + suffix, size, number, unicodedata.normalize(form, text),
                      unicodedata.normalize(form, copy), sep='\t')
