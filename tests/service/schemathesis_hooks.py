"""Facts about the service beyond its document, for Schemathesis."""
import schemathesis

# A piece of an upload is any bytes.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
