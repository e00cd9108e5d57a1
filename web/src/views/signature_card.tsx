// The keys by which the tenant's artifacts are signed, for machines that run nothing else.
import { api, body } from '../api/client';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading } from '../ui/parts';

export function SignatureCard() {
  const { value, error } = useLoaded(() => body(api.GET('/v1/signing-keys')), []);
  return (
    <Card
      title="Signature"
      hint={
        <>
          <code>attune run net.atn --trust server.pub</code> runs only artifacts that the key in <code>server.pub</code> has signed.
        </>
      }
    >
      <ErrorNote text={error} />
      {value === null && error === null && <Loading of="keys" />}
      {value?.keys.length === 0 && <Empty title="No key yet">The first artifact of a job creates it.</Empty>}
      <div class="stack">
        {(value?.keys ?? []).map((key) => (
          <div key={key.id}>
            <p>
              Key <code>{key.id}</code> <Badge state={key.state} />
            </p>
            <code class="secret pem">{key.pem.trim()}</code>
          </div>
        ))}
      </div>
    </Card>
  );
}
