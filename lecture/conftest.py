"""What strict nbval needs, for these notebooks as for the others."""

from notebooks.conftest import pytest_collection_modifyitems

__all__ = ["pytest_collection_modifyitems"]
