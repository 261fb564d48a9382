"""What is handed on to others, with the classes that travel along, and their models read here."""
