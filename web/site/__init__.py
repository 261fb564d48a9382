"""The series as a site: pages that anybody can read, with nothing installed and nothing running."""
