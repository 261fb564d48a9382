"""The kernels of the lecture's server."""

from __future__ import annotations

from cloze.serving import warm
from cloze.serving.server import Kernels


class LectureKernels(Kernels):
    """Kernels that have loaded what takes long in a lecture; an optimizer needs torch._dynamo."""

    libraries = (
        *(*warm.LIBRARIES, "torch._dynamo", "cloze.prediction.causal", "cloze.training"),
        *("cloze.widgets", "cloze.teaching.figures", "cloze.lessons.the_encoder.figures"),
    )
