"""What is handed on to others: exports, and the classes that travel with them."""
