r"""Cloze: masked language modeling, from the loss formula to an encoder you trained yourself.

The core reads in the order in which data flow through it: vocabulary and corpus, masking, encoder
and heads, loss and baselines, training, prediction and evaluation. What several lessons share
beyond it is in ``tasks`` (fine-tuning, vectors), ``teaching`` (exercises, quizzes, figures) and
``widgets``; ``handover`` exports models and reads those of others, ``adapt`` goes on training them,
``serving`` starts kernels; and ``lessons`` has a folder for each notebook. Imports run one way
(``[tool.importlinter]`` in pyproject.toml).

``import cloze`` loads none of them, so it is instant; each loads what it needs when it is imported.

Importing the package gives torch **one thread**. On a busy two-core machine a second thread made
training 25 times *slower* (threads that wait for each other spin), and one thread makes results
repeat bit for bit. To choose otherwise set ``OMP_NUM_THREADS`` before Python starts, or call
``torch.set_num_threads(n)`` at any time.

It also lets a command finish where a console has no sign for what it prints, as on Windows when
the output goes to a file: ``\u2013`` is printed instead.
"""

import io
import os
import sys

__version__ = "0.1.0"

for _stream in (sys.stdout, sys.stderr):
    if isinstance(_stream, io.TextIOWrapper):
        _stream.reconfigure(errors="backslashreplace")

if "OMP_NUM_THREADS" not in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it when it is first imported …
    if "torch" in sys.modules:  # … and no more once it has been.
        sys.modules["torch"].set_num_threads(1)
