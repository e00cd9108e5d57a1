"""What Attune is shipped as beside the wheel: a Debian package and container images, made from build/release."""
