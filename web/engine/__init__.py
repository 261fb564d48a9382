"""The engine of the page, in C for WebAssembly."""
