"""The packages of Attune beside the wheel: a Debian package and container images, made from build/release."""
