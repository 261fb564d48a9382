"""``cloze adapt``: go on training a fill-mask model of ``transformers`` on texts of your own.

What is here is what nobody else has: documents are held out whole, a chunk never reaches into the
next document, masks follow from the text and the seed alone, and what was gained and forgotten is
measured on the same questions before and after. Everything else is done by ``transformers``: its
collators draw the masks and pad, its Trainer takes the steps, keeps the run and shares it out among
processes.

A text passes through the modules in this order: ``documents``, ``chunks``, ``recipe``, ``costs``,
``saved``, ``trainer``, ``run``, ``command``.
"""
