"""What Schemathesis must know of the service beyond its document."""
import schemathesis

# A piece of an upload is any bytes.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
