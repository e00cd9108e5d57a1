// The owners to whose devices one's own tenant's models may go; another tenant's do not show.
import { api, body } from '../api/client';
import { useLoaded } from '../ui/loading';
import { Card, ErrorNote, Loading } from '../ui/parts';
import { OwnersForm } from './owners_form';

export function TrustCard({ tenant }: { tenant: string }) {
  const path = { tenant };
  const { value, error, reload } = useLoaded(() => body(api.GET('/v1/tenants/{tenant}/trust', { params: { path } })), [tenant]);
  return (
    <Card title="Trusted devices" hint="A device that measures a model sees the model with its weights. Your own devices need no trust.">
      <ErrorNote text={error} />
      {value === null && error === null && <Loading of="the trusted owners" />}
      {value !== null && (
        <OwnersForm
          key={value.owners.join(' ')}
          id="trusted"
          label="Owners"
          hint="Your models may run on devices that these owners share with you. Jobs on devices of other owners end at once."
          owners={value.owners}
          said="The trusted owners are saved"
          save={(owners) => body(api.PUT('/v1/tenants/{tenant}/trust', { params: { path }, body: { owners } }))}
          onSaved={reload}
        />
      )}
    </Card>
  );
}
