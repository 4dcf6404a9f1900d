"""Axes and lines of the pictures that show figures."""

from math import log10


class Axis:
    """Maps values to places; log where asked for."""

    def __init__(self, low, high, start, end, log=False):
        self.log = log
        self.low, self.high = (log10(low), log10(high)) if log else (low, high)
        self.start, self.end = start, end

    def __call__(self, value):
        if self.log:
            value = log10(value)
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def grid(p, x, y, x_ticks, y_ticks, size=13):
    """Lines and their names; ticks are (value, name)."""
    for value, name in y_ticks:
        p.line(x.start, y(value), x.end, y(value), 'l-faint', 0.5)
        p.text(x.start - 8, y(value) + 4.5, name, 'f-dim', size, 'end')
    for value, name in x_ticks:
        p.line(x(value), y.start, x(value), y.start + 5, 'l-dim')
        p.text(x(value), y.start + 5 + size + 3, name, 'f-dim', size, 'middle')
    p.line(x.start, y.start, x.end, y.start, 'l-dim')


def marker(p, shape, x, y, color, size=4.5):
    """A mark that can be told from others without its color."""
    if shape == 'circle':
        p.circle(x, y, size, 'f-' + color)
    elif shape == 'square':
        p.rect(x - size + 0.5, y - size + 0.5, 2 * size - 1, 2 * size - 1, 'f-' + color)
    elif shape == 'diamond':
        p.polygon([(x, y - size - 1), (x + size + 1, y), (x, y + size + 1), (x - size - 1, y)],
                  'f-' + color)
    elif shape == 'triangle':
        p.polygon([(x, y - size - 1), (x + size + 1, y + size - 0.5),
                   (x - size - 1, y + size - 0.5)], 'f-' + color)
    elif shape == 'ring':
        p.circle(x, y, size - 0.5, 'f-card l-' + color, 2)
    else:
        raise ValueError(shape)


def curve(p, points, color, shape, width=2.5, dash=None):
    p.path(points, 'l-' + color, width, dash)
    for x, y in points:
        marker(p, shape, x, y, color)
