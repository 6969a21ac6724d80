"""An image mixed step by step with others, and the label of each mixture: one piece of HTML.

Everything is inside the piece (pictures, answers, script, style): it works offline, in JupyterLab and in the
book, by mouse and keyboard. Without scripts it is a still: one mixture, and the answers to all of them.
"""
import base64
import io
import json
from html import escape
from pathlib import Path
from string import Template

import numpy as np
from PIL import Image

_PAGE = Template((Path(__file__).with_suffix(".html")).read_text())


class Mixer:
    """A slider from a picture to another one, a list of those to choose from, and a network's answers.

    name    a word, unique on its page
    title   what the figure shows
    ends    {label of the other picture: (images, chances)}: uint8 [S, 1, H, W], grey, S equal steps from 0 to
            100% of the other picture; and the network's probability of each class, [S, classes]
    Raises ValueError for arrays of other shapes, and where the first images differ.
    """

    def __init__(self, name, title, ends):
        made = {label: (np.asarray(images), np.asarray(chances)) for label, (images, chances) in ends.items()}
        shapes = {label: (images.shape, chances.shape) for label, (images, chances) in made.items()}
        (images, chances), *others = shapes.values()
        if len(images) != 4 or images[1] != 1 or len(chances) != 2 or images[0] != chances[0] or any(
                each != (images, chances) for each in others):
            raise ValueError(f"a mixer needs images [S, 1, H, W] and chances [S, classes], alike: {shapes}")
        starts = [images[0] for images, _ in made.values()]
        if any((start != starts[0]).any() for start in starts):
            raise ValueError("a mixer begins with one picture: the first images differ")
        self.name, self.title, self.ends = name, title, made
        self.answers = {label: chances.argmax(1).tolist() for label, (_, chances) in made.items()}
        self.shares = [round(100 * n / (images[0] - 1)) for n in range(images[0])]

    @property
    def start(self):
        """(label, step) that is shown at first: the first mixture of the first end with another answer."""
        label, answers = next(iter(self.answers.items()))
        return label, next((n for n, a in enumerate(answers) if a != answers[0]), len(answers) // 2)

    def says(self, label, step):
        """The label that the network gives a mixture, as a sentence."""
        answer = self.answers[label][step]
        sure = round(100 * float(self.ends[label][1][step, answer]))
        return f"With {self.shares[step]}% {label} the predicted label is {answer} (probability {sure}%)."

    def _sheet(self, label):
        """The images of an end one under the other, as the address of a PNG."""
        images = self.ends[label][0]
        buffer = io.BytesIO()
        Image.fromarray(images.reshape(-1, images.shape[-1])).save(buffer, "png", optimize=True)
        return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"

    def _rows(self):
        """The answers to all mixtures as rows of a table, another one than the first marked."""
        def cells(answers):
            return "".join(f'<td{"" if a == answers[0] else " class=other"}>{a}</td>' for a in answers)

        return "".join(f'<tr><th scope="row">{escape(label)}</th>{cells(answers)}</tr>'
                       for label, answers in self.answers.items())

    def _repr_html_(self):
        label, step = self.start
        table = {"shares": self.shares, "start": [list(self.ends).index(label), step], "ends": [
            {"sheet": self._sheet(each), "words": [self.says(each, n) for n in range(len(answers))],
             "chances": np.round(100 * self.ends[each][1].astype(float), 1).tolist(), "answers": answers}
            for each, answers in self.answers.items()]}
        chances = self.ends[label][1][step]
        bars = "".join(f'<div class="bar"><span>{n}</span><i style="width:{100 * float(p):.1f}%"></i></div>'
                       for n, p in enumerate(chances))
        heads = "".join(f'<th scope="col"{"" if s % 50 == 0 else " class=between"}><span>{s}%</span></th>'
                        for s in self.shares)
        return _PAGE.substitute(
            name=self.name, title=escape(self.title), table=json.dumps(table, separators=(",", ":")),
            sheet=self._sheet(label), words=self.says(label, step), bars=bars, heads=heads,
            rows=self._rows(),
            place=f"{100 * step / (len(self.shares) - 1):.4f}", steps=len(self.shares) - 1, step=step,
            percent=100 * len(self.shares),
            options="".join(f"<option>{escape(each)}</option>" for each in self.ends))

    def __repr__(self):
        towards = ", ".join(self.ends)
        return f"{self.title}: an interactive figure towards {towards}, shown in JupyterLab and in the book"
