"""What JupyterLab and Voilà are started with: a prompt connection, and kernels that are warm."""
