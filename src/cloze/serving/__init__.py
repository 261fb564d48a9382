"""What JupyterLab and Voilà are started with."""

import sys

# Jupyter checks formats with jsonschema, which would load this for one that Jupyter never uses: it
# compiles grammars for a second and keeps 16 MB (issue 1559 of jupyter_server).
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type] # "there is none"
