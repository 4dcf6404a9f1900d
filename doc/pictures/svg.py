"""Writing a picture as SVG, to be read on a light and on a dark page.

Colors are classes, of which the style sheet in each file has two sets.  A page
that shows the file as an image cannot reach into it, so the picture brings its
own background, a card; where the second set is ignored, the card is light on any
page.  Fonts are the viewer's, so texts need some room around them.

The same input gives the same bytes: numbers are rounded, nothing is dated.
"""

from xml.sax.saxutils import escape

# Colors that also those can tell apart who see no red or no green (after Okabe
# and Ito): name, light, dark.  The first four are those of the blocks.
STRONG = (
    ('0', '#0068a8', '#58b0ee'),        # blue
    ('1', '#a85f00', '#f0a93a'),        # orange
    ('2', '#007a58', '#38c79c'),        # green
    ('3', '#9a3f78', '#e296c2'),        # purple
    ('hot', '#c43c00', '#ff8552'),      # vermilion
    ('ink', '#1f2328', '#e6edf3'),
    ('dim', '#57606a', '#a0a9b3'),
    ('faint', '#afb8c1', '#545d68'),
    ('card', '#ffffff', '#0d1117'),
)
PALE = (
    ('0', '#d3e7f6', '#12395a'),
    ('1', '#fae6c4', '#50390f'),
    ('2', '#cdeee2', '#0e4636'),
    ('3', '#f4dcea', '#502540'),
    ('hot', '#ffdfd0', '#5c2a14'),
    ('dim', '#eaeef2', '#272e37'),
)


def number(x):
    """A number as short as it can be, to the hundredth."""
    text = '%.2f' % x
    return text.rstrip('0').rstrip('.') if text not in ('-0.00', '0.00') else '0'


def style():
    def rules(which):
        for color in STRONG:
            yield '.f-%s{fill:%s}' % (color[0], color[which])
            yield '.l-%s{stroke:%s}' % (color[0], color[which])
        for color in PALE:
            yield '.p-%s{fill:%s}' % (color[0], color[which])
    fixed = ('text{font-family:"Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif;'
             'font-size:14px}'
             '.mono{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;'
             'white-space:pre}'
             '.bold{font-weight:600}'
             '.none{fill:none}')
    return '%s\n%s\n@media (prefers-color-scheme:dark){\n%s\n}' % (
        fixed, '\n'.join(rules(1)), '\n'.join(rules(2)))


class Picture:
    """Shapes are drawn in the order in which they are added."""

    def __init__(self, width, height, title, description):
        self.width = width
        self.height = height
        self.parts = []
        self.head = (
            '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d"'
            ' role="img" aria-labelledby="title desc">\n<title id="title">%s</title>\n'
            '<desc id="desc">%s</desc>\n<style>\n%s\n</style>'
            % (width, height, width, height, escape(title), escape(description), style()))
        self.rect(0.5, 0.5, width - 1, height - 1, 'f-card l-faint', radius=8)

    def add(self, tag, classes, **attributes):
        named = ''.join(' %s="%s"' % (name.replace('_', '-'),
                                      value if isinstance(value, str) else number(value))
                        for name, value in attributes.items() if value is not None)
        self.parts.append('<%s class="%s"%s/>' % (tag, classes, named))

    def rect(self, x, y, width, height, classes, radius=None, stroke_width=None):
        self.add('rect', classes, x=x, y=y, width=width, height=height, rx=radius,
                 stroke_width=stroke_width)

    def rects(self, boxes, classes):
        """Many rectangles of one color: x, y, width, height of each."""
        self.add('path', classes, d=''.join('M%s %sh%sv%sh-%sz' % tuple(map(number, (x, y, w, h, w)))
                                            for x, y, w, h in boxes))

    def line(self, x1, y1, x2, y2, classes, width=1, dash=None):
        self.add('line', classes, x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width,
                 stroke_dasharray=dash)

    def path(self, points, classes, width=2, dash=None):
        """A line through points."""
        d = 'M' + 'L'.join('%s %s' % (number(x), number(y)) for x, y in points)
        self.add('path', 'none ' + classes, d=d, stroke_width=width, stroke_dasharray=dash,
                 stroke_linejoin='round', stroke_linecap='round')

    def curve(self, d, classes, width=1.5, dash=None):
        self.add('path', 'none ' + classes, d=d, stroke_width=width, stroke_dasharray=dash)

    def polygon(self, points, classes):
        self.add('polygon', classes,
                 points=' '.join('%s,%s' % (number(x), number(y)) for x, y in points))

    def circle(self, x, y, radius, classes, stroke_width=None):
        self.add('circle', classes, cx=x, cy=y, r=radius, stroke_width=stroke_width)

    def arrow(self, x1, y1, x2, y2, color='dim', width=1.5, dash=None):
        """A straight arrow."""
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        self.line(x1, y1, x2 - 7 * ux, y2 - 7 * uy, 'l-' + color, width, dash)
        self.head_of_arrow(x2, y2, ux, uy, color)

    def head_of_arrow(self, x, y, ux, uy, color='dim'):
        self.polygon([(x, y), (x - 9 * ux - 4.5 * uy, y - 9 * uy + 4.5 * ux),
                      (x - 9 * ux + 4.5 * uy, y - 9 * uy - 4.5 * ux)], 'f-' + color)

    def text(self, x, y, text, classes='f-ink', size=None, anchor=None, turn=None):
        """anchor is start, middle or end; turn is in degrees.

        A part between two asterisks is bold.
        """
        parts = [escape(p) for p in text.split('*')] if text.count('*') == 2 else [escape(text)]
        if len(parts) == 3:
            parts[1] = '<tspan class="bold">%s</tspan>' % parts[1]
        self.parts.append('<text class="%s" x="%s" y="%s"%s%s%s>%s</text>' % (
            classes, number(x), number(y),
            ' style="font-size:%spx"' % number(size) if size else '',
            ' text-anchor="%s"' % anchor if anchor else '',
            ' transform="rotate(%s %s %s)"' % (number(turn), number(x), number(y)) if turn else '',
            ''.join(parts)))

    def save(self, file):
        with open(file, 'w', encoding='utf-8', newline='\n') as f:
            f.write('%s\n%s\n</svg>\n' % (self.head, '\n'.join(self.parts)))
